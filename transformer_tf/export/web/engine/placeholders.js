/** Values as numbered placeholders, as in `transformer_tf/text/placeholders.py`. */

export const SLOTS = Array.from({ length: 8 }, (_, i) => String.fromCodePoint(0xe000 + i));
const ANY_SLOT = /[\ue000-\ue007]/g;

const MAX_VALUES = 3; // of a source; the model gets more placeholders wrong
const LONG_WORD = /\S{201,}/gu; // matching time may grow with the square of its length
const SHORTEST_NOUN = 3; // letters of a noun that ends a compound
const LONGEST_NOUN = 40;
const ENDING = /(?:e?s|n)$/; // of Drahtes, Motels and Häusern
const NEAR = 16; // characters before a word that show whether it begins a sentence

// Python's word characters; JavaScript's `\w` has fewer.
const IN_WORD = String.raw`\p{L}\p{N}_`;
const W = `[${IN_WORD}]`;
const WORD = new RegExp(String.raw`(?<!${W}|['’\-])\p{L}+(?:-\p{L}+)*`, "gu");
const RUN = new RegExp(String.raw`${W}+(?:[&@#+*=_’'\-]+${W}+)*[#+]*|[^${IN_WORD}\s!-~]+|[!-~]`, "gu");
const SENTENCE_START = /(?:^|[.!?…:;])[\s"“”„«»‘’'(–—-]*$/u;
const TITLE = new RegExp(String.raw`(?<!${W})(?:Mr|Mrs|Ms|Dr|Prof|St)\.? $`, "u");
const PLAIN = /^[ !"'()\-/,.:;?[\]A-Za-z\ue000-\uf8ff]$/u; // stay even if they are spelled in bytes
const NUMBERS = {
  ".": /^(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+\.[0-9]+)$/,
  ",": /^(?:[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)?|[0-9]+,[0-9]+)$/,
};

/**
 * A value in a text: its place, its kind and what it means.
 *
 * @typedef {{begin: number, end: number, kind: string, fields: Record<string, string>}} Found
 */

/** How a language writes values, and how they are recognized. */
class Convention {
  /** @param {object} table What `load_table` in placeholders.py returns. */
  constructor(table) {
    this.table = table;
    this.patterns = table.patterns.map(([kind, pattern]) => ({ kind, pattern: regex(pattern) }));
    this.plain = table.plain.map(([sign, ...each]) => ({ sign, each: rule(each) }));
    this.fixes = table.fixes.map(rule);
    this.nouns = table.nouns.map(regex);
    this.letters = new Set(table.letters);
    this.rare = new RegExp(table.rare, "u");
  }

  /**
   * Whether an unknown word is an inflected known word or a compound with one.
   *
   * @param {string} word In lower case.
   * @param {Set<string>} known
   */
  isNoun(word, known) {
    if (!this.nouns.length) return false;
    const letters = [...word];
    const isKnown = (form) => form.some((_, i) => {
      const length = form.length - i;
      return length >= SHORTEST_NOUN && length <= LONGEST_NOUN && length < letters.length
        && known.has(form.slice(i).join(""));
    });
    return isKnown(letters) || isKnown([...word.replace(ENDING, "")]);
  }

  /**
   * All values of a text; they may overlap. The kinds are in order of precedence.
   *
   * @param {string} text
   * @returns {Found[]}
   */
  read(text) {
    return this.patterns.flatMap(({ kind, pattern }) => Array.from(text.matchAll(pattern), (match) => (
      { begin: match.index, end: match.index + match[0].length, kind, fields: this.fields(match) })));
  }

  /** @param {RegExpMatchArray} match */
  fields(match) {
    /** @type {Record<string, string>} */
    const fields = {};
    for (const [name, text] of Object.entries(match.groups ?? {})) {
      if (text === undefined) continue;
      if (name in this.table.meanings) {
        fields[name] = this.table.meanings[name][text] ?? text.replace(/^0+/, "");
      } else if (name === "number" || name === "amount") {
        const number = text.replace(/[$€£¥₹]/g, "").replace(/[Mm]inus |−/g, "-");
        fields[name] = convertNumber(number, this.table.decimal, ".");
      } else {
        fields[name] = name === "day" ? String(Number(text)) : text;
      }
    }
    if ("cents" in fields) {
      fields.amount += `.${fields.cents}`;
      delete fields.cents;
    }
    if (fields.scale === "thousand") {
      const name = "amount" in fields ? "amount" : "number";
      fields[name] = fields[name].replace(/\d[\d,]*(?:\.\d+)?/g, thousandTimes);
      delete fields.scale;
    }
    return { ...("hour" in fields ? clock(fields) : fields), text: match[0] };
  }

  /**
   * Whether this language has a form for a value, and a word for all it means.
   *
   * @param {Found} found
   */
  canWrite({ kind, fields }) {
    const { write, written } = this.table;
    return kind in write && Object.entries(fields).every(([name, meaning]) => (
      !(name in written) || !write[kind].includes(`{${name}}`) || meaning in written[name]));
  }

  /**
   * A value as this language writes it.
   *
   * @param {string} kind
   * @param {Record<string, string>} fields
   */
  write(kind, fields) {
    return this.filled(this.table.write[kind] ?? "{text}", fields);
  }

  /**
   * @param {string} template
   * @param {Record<string, string>} fields
   * @returns {string}
   */
  filled(template, fields) {
    return template.replace(/\[([^[\]]*)\]|\{(\w+)\}/g, (_, optional, field) => {
      if (field) return this.written(field, fields);
      const needed = Array.from(optional.matchAll(/\{(\w+)\}/g), (match) => match[1]);
      return needed.every((name) => name in fields) ? this.filled(optional, fields) : "";
    });
  }

  /**
   * @param {string} field
   * @param {Record<string, string>} fields
   */
  written(field, fields) {
    const number = fields.amount ?? fields.number ?? "";
    if (field === "th") return ordinalSuffix(Number(number));
    const meaning = fields[field];
    if (field === "number" || field === "amount") {
      return convertNumber(meaning, ".", this.table.decimal);
    }
    const written = this.table.written[field]?.[meaning] ?? meaning;
    const single = /^1(?:[.,]0+)?$/.test(number) && (field === "scale" || !("scale" in fields));
    return single ? this.table.singular[written] ?? written : written;
  }
}

/** @param {string} number As in English, such as "1,200.5". */
function thousandTimes(number) {
  return Math.round(parseFloat(number.replaceAll(",", "")) * 1000).toLocaleString("en-US");
}

/** The words that `front_coded` in pack.py wrote. */
function frontDecoded(text) {
  let word = "";
  return text.split(" ").map((each) => (word = word.slice(0, parseInt(each[0], 36)) + each.slice(1)));
}

/** The placeholders of a language pair. */
export class Placeholders {
  /**
   * @param {object} settings
   * @param {object} settings.source The table of the source language.
   * @param {object} settings.target
   * @param {string} settings.target_language
   * @param {string|null} settings.known_words In lower case, as `front_coded` in pack.py writes
   *     them; null if names stay.
   * @param {boolean} settings.copies_unknown Whether to mask characters that are rare or not in the vocabulary.
   * @param {Iterable<string>} alphabet The characters of the source vocabulary.
   */
  constructor(settings, alphabet) {
    const { source, target, target_language: targetLanguage, known_words: words } = settings;
    this.source = new Convention(source);
    this.target = new Convention(target);
    this.targetLanguage = targetLanguage;
    this.known = words === null ? null : new Set(frontDecoded(words));
    this.alphabet = settings.copies_unknown ? new Set(alphabet) : null;
  }

  /**
   * A text as the model reads it, and the values of its placeholders in both languages.
   *
   * @param {string} text A normalized text.
   * @returns {{text: string, kinds: string[], values: string[], targetValues: string[]}}
   */
  mask(text) {
    text = this.plain(text);
    let [masked, last] = ["", 0];
    const values = [];
    for (const found of this.find(text)) {
      let carrier = this.carrier(found);
      if (carrier.includes("{}")) {
        if (values.length === MAX_VALUES) continue;
        carrier = carrier.replaceAll("{}", SLOTS[values.length]);
        values.push(found);
      }
      masked += text.slice(last, found.begin) + carrier;
      last = found.end;
    }
    return {
      text: masked + text.slice(last),
      kinds: values.map(({ kind }) => kind),
      values: values.map(({ fields }) => fields.text),
      targetValues: values.map(({ kind, fields }) => this.target.write(kind, fields)),
    };
  }

  /**
   * What tokens show for the placeholders: a value, or `<1>` and so on if the model also reads or
   * writes words such as the "euros" of `<1> euros`, which the value repeats or replaces.
   *
   * @param {string[]} kinds
   * @param {string[]} values
   */
  labels(kinds, values) {
    const { source, target } = this;
    const isAlone = (kind) => !(kind in source.table.carriers) && !(kind in target.table.around);
    return SLOTS.map((_, i) => (i < kinds.length && isAlone(kinds[i]) ? values[i] : `<${i + 1}>`));
  }

  /**
   * Whether a text has no more values than placeholders.
   *
   * @param {string} text
   */
  fits(text) {
    const found = this.find(this.plain(text));
    return found.filter((each) => this.carrier(each).includes("{}")).length <= MAX_VALUES;
  }

  /**
   * Replaces the spaces inside values with no-break spaces, so that no value is cut.
   *
   * @param {string} text
   */
  glue(text) {
    let [glued, last] = ["", 0];
    for (const { begin, end } of this.find(text)) {
      glued += text.slice(last, begin) + text.slice(begin, end).replaceAll(" ", "\u00a0");
      last = end;
    }
    return glued + text.slice(last);
  }

  /**
   * Puts the values into a translation; a placeholder without a value disappears.
   *
   * @param {string} text
   * @param {{kinds: string[], targetValues: string[]}} values
   */
  unmask(text, { kinds, targetValues }) {
    if (!kinds.length) return fill(text, []);
    kinds.forEach((kind, i) => {
      for (const [pattern, written] of this.target.table.around[kind] ?? []) {
        text = text.replace(regex(pattern.replaceAll("{}", SLOTS[i])),
          written.replaceAll("{}", SLOTS[i]));
      }
    });
    text = fill(text, targetValues);
    return this.target.fixes.reduce((fixed, [pattern, written]) => fixed.replace(pattern, written), text);
  }

  /**
   * The values of a text, in order.
   *
   * @param {string} text
   * @returns {Found[]}
   */
  find(text) {
    const found = this.source.read(text.replace(LONG_WORD, (word) => " ".repeat(word.length)));
    if (this.known) found.push(...this.names(text));
    if (this.alphabet) found.push(...this.unknown(text));
    const kept = [];
    for (const each of found.sort((one, other) => one.begin - other.begin)) {
      const writable = this.target.canWrite(each)
        || !(this.source.table.carriers[each.kind] ?? "{}").includes?.("{}");
      if (writable && (!kept.length || kept[kept.length - 1].end <= each.begin)) kept.push(each);
    }
    return kept;
  }

  /**
   * What the model reads for a value, with `{}` for the placeholder.
   *
   * @param {Found} found
   */
  carrier({ kind, fields }) {
    const carrier = this.source.table.carriers[kind] ?? "{}";
    const template = typeof carrier === "string" ? carrier : carrier[this.targetLanguage] ?? "{}";
    return this.source.filled(template, fields);
  }

  /**
   * Replaces brackets, dashes and quotation marks that are not in the alphabet.
   *
   * @param {string} text
   */
  plain(text) {
    return this.source.plain.filter(({ sign }) => this.alphabet && !this.alphabet.has(sign))
      .reduce((plain, { each: [pattern, written] }) => plain.replace(pattern, written), text);
  }

  /**
   * The unknown capitalized words. The first word of a sentence counts only before another one.
   *
   * @param {string} text
   * @returns {Found[]}
   */
  names(text) {
    const nouns = new Set(this.source.nouns
      .flatMap((pattern) => spansOf(text, pattern).map(([, end]) => end)));
    const unknown = spansOf(text, WORD).filter(([begin, end]) => {
      const [first, ...rest] = text.slice(begin, end);
      const word = text.slice(begin, end).toLowerCase();
      return rest.length && /\p{Uppercase}/u.test(first) && !this.known.has(word)
        && !nouns.has(end) && !this.source.isNoun(word, this.known);
    });
    const inside = unknown.filter(([begin]) => {
      const before = text.slice(Math.max(0, begin - NEAR), begin);
      return !SENTENCE_START.test(before) || TITLE.test(before);
    });
    const begins = new Set(inside.map(([begin]) => begin));
    return unknown.filter(([begin, end]) => begins.has(begin) || begins.has(end + 1))
      .map(([begin, end]) => ({ begin, end, kind: "name", fields: { text: text.slice(begin, end) } }));
  }

  /**
   * The words and symbols with a character that is rare or not in the vocabulary. The letters of
   * the source language itself never count.
   *
   * @param {string} text
   * @returns {Found[]}
   */
  unknown(text) {
    return spansOf(text, RUN)
      .map(([begin, end]) => ({ begin, end, kind: "copy", fields: { text: text.slice(begin, end) } }))
      .filter(({ fields }) => [...fields.text].some((character) =>
        (!this.alphabet.has(character) || this.source.rare.test(character))
        && !this.source.letters.has(character) && !PLAIN.test(character)));
  }
}

/**
 * A number, 1,234.5 or 1.234,5, with the marks of another language.
 *
 * @param {string} number
 * @param {string} decimal
 * @param {string} newDecimal
 */
function convertNumber(number, decimal, newDecimal) {
  if (decimal === newDecimal) return number;
  return number.replace(/[0-9.,]+/g, (part) => (NUMBERS[decimal].test(part)
    ? part.replace(/[.,]/g, (mark) => (mark === "." ? "," : ".")) : part));
}

/**
 * The fields of a time in 24 hours; `half` only if it is known.
 *
 * @param {Record<string, string>} fields
 * @returns {Record<string, string>}
 */
function clock(fields) {
  let hour = Number(fields.hour);
  let afternoon = "pm" in fields;
  if ("until" in fields && hour % 12 > Number(fields.until) % 12) afternoon = !afternoon;
  const known = "am" in fields || "pm" in fields;
  const half = known || hour < 1 || hour > 12;
  if (known && hour <= 12) hour = (hour % 12) + 12 * Number(afternoon);
  const written = { ...fields, hour: String(hour % 24), hour12: String(((hour + 11) % 12) + 1) };
  return half ? { ...written, half: hour >= 12 && hour < 24 ? "pm" : "am" } : written;
}

/**
 * The ending of 1st, 2nd, 3rd, 4th.
 *
 * @param {number} number
 */
function ordinalSuffix(number) {
  const teen = number % 100 >= 11 && number % 100 <= 13;
  return (!teen && { 1: "st", 2: "nd", 3: "rd" }[number % 10]) || "th";
}

/**
 * Replaces the placeholders of a text.
 *
 * @param {string} text
 * @param {string[]} values
 * @param {string} [missing] What to write for a placeholder without a value.
 */
export function fill(text, values, missing = "") {
  return text.replace(ANY_SLOT, (slot) => values[SLOTS.indexOf(slot)] ?? missing);
}

/**
 * Where matches begin and end.
 *
 * @param {string} text
 * @param {RegExp} pattern
 * @returns {[number, number][]}
 */
function spansOf(text, pattern) {
  return Array.from(text.matchAll(pattern), (match) =>
    [match.index, match.index + match[0].length]);
}

/** @param {string} pattern A regular expression that Python reads, too. */
function regex(pattern) {
  return new RegExp(pattern.replaceAll("\\w", IN_WORD), "gu");
}

/**
 * @param {[string, string]} rule
 * @returns {[RegExp, string]}
 */
function rule([pattern, written]) {
  return [regex(pattern), written];
}

/** Numbers, addresses and unknown names as placeholders, as in `transformer_tf/text/slots.py`. */

const SLOTS = Array.from({ length: 8 }, (_, i) => String.fromCodePoint(0xe000 + i));
const ANY_SLOT = /[\ue000-\ue007]/g;

const MAX_VALUES = 4; // of a source; the model gets more slots wrong
const MAX_ADDRESS = 200; // characters; matching time grows with the square of the length
const NEAR = 16; // characters before a word that show whether it begins a sentence

// Python's word characters; JavaScript's `\w` has fewer.
const W = String.raw`[\p{L}\p{N}_]`;
const ADDRESS = new RegExp(String.raw`(?:https?:\/\/|www\.)[^\s<>"]+(?:${W}|\/)`
  + String.raw`|(?:${W}|[.+\-])+@(?:${W}|-)+(?:\.(?:${W}|-)+)+`
  + String.raw`|(?<!${W})(?:${W}|-)+(?:\.(?:${W}|-)+)*`
  + String.raw`\.(?:com|org|net|edu|gov|de|eu|info|io|uk|at|ch|es|fr|it)(?!${W})(?:\/[^\s<>"]*${W})?`,
"gu");
const NUMBER = new RegExp(String.raw`(?<!${W}|[.,:/\-])\p{Nd}+(?:[.,:/\-]\p{Nd}+)*(?!${W}|[.,:/\-]\p{Nd})`,
  "gu");
const AM_PM = new RegExp(String.raw`^ ?[ap]\.?m(?!${W})`, "u");
const WORD = new RegExp(String.raw`(?<!${W}|['’\-])\p{L}+(?:-\p{L}+)*`, "gu");
const SENTENCE_START = /(?:^|[.!?…:;])[\s"“”„«»‘’'(–—-]*$/u;
const TITLE = new RegExp(String.raw`(?<!${W})(?:Mr|Mrs|Ms|Dr|Prof|St)\.? $`, "u");

/** The words that `front_coded` in pack.py wrote. */
function frontDecoded(text) {
  let word = "";
  return text.split(" ").map((each) => (word = word.slice(0, parseInt(each[0], 36)) + each.slice(1)));
}

/** The slots of a language pair. */
export class Slots {
  /**
   * @param {object} settings
   * @param {boolean} settings.source_point Whether the source language writes 1,234.5.
   * @param {boolean} settings.target_point
   * @param {string|null} settings.known_words In lower case, as `front_coded` in pack.py writes
   *     them; null if names are not slots.
   */
  constructor({ source_point: sourcePoint, target_point: targetPoint, known_words: words }) {
    this.sourcePoint = sourcePoint;
    this.targetPoint = targetPoint;
    this.known = words === null ? null : new Set(frontDecoded(words));
  }

  /**
   * A text with slots, and their values in the source and the target language.
   *
   * @param {string} text A normalized text.
   * @returns {{text: string, values: string[], targetValues: string[]}}
   */
  hide(text) {
    const spans = this.find(text).slice(0, MAX_VALUES);
    const values = spans.map(([begin, end]) => text.slice(begin, end));
    let [hidden, last] = ["", 0];
    for (const [i, [begin, end]] of spans.entries()) {
      hidden += text.slice(last, begin) + SLOTS[i];
      last = end;
    }
    return {
      text: hidden + text.slice(last), values,
      targetValues: values.map((value) => this.convert(value)),
    };
  }

  /**
   * A value as in the target language: 1,234.5 in English is 1.234,5 in German.
   *
   * @param {string} value
   */
  convert(value) {
    if (this.sourcePoint === this.targetPoint) return value;
    const [thousands, point] = this.sourcePoint ? [",", "\\."] : ["\\.", ","];
    const number = new RegExp(
      `^(?:\\p{Nd}{1,3}(?:${thousands}\\p{Nd}{3})+(?:${point}\\p{Nd}+)?|\\p{Nd}+${point}\\p{Nd}+)$`,
      "u");
    return number.test(value)
      ? value.replace(/[.,]/g, (mark) => (mark === "." ? "," : ".")) : value;
  }

  /**
   * Where the values of a text begin and end.
   *
   * @param {string} text
   * @returns {[number, number][]}
   */
  find(text) {
    const spans = spansOf(text, /\S+/gu)
      .filter(([begin, end]) => [...text.slice(begin, end)].length <= MAX_ADDRESS)
      .flatMap(([begin, end]) => spansOf(text.slice(begin, end), ADDRESS)
        .map(([first, last]) => /** @type {[number, number]} */ ([begin + first, begin + last])));
    spans.push(...spansOf(text, NUMBER).filter(([begin, end]) =>
      text.slice(begin, end).match(/\p{Nd}/gu).length > 1 && !AM_PM.test(text.slice(end))));
    if (this.known) spans.push(...this.names(text));
    spans.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    const kept = [];
    for (const span of spans) {
      if (!kept.length || kept[kept.length - 1][1] <= span[0]) kept.push(span);
    }
    return kept;
  }

  /**
   * The unknown capitalized words. The first word of a sentence counts only before another one.
   *
   * @param {string} text
   */
  names(text) {
    const unknown = spansOf(text, WORD).filter(([begin, end]) => {
      const [first, ...rest] = text.slice(begin, end);
      return rest.length && /\p{Uppercase}/u.test(first)
        && !this.known.has(text.slice(begin, end).toLowerCase());
    });
    const inside = unknown.filter(([begin]) => {
      const before = text.slice(Math.max(0, begin - NEAR), begin);
      return !SENTENCE_START.test(before) || TITLE.test(before);
    });
    const begins = new Set(inside.map(([begin]) => begin));
    return unknown.filter(([begin, end]) => begins.has(begin) || begins.has(end + 1));
  }
}

/**
 * Replaces the slots of a text with their values.
 *
 * @param {string} text
 * @param {string[]} values
 * @param {string} [missing] What to write for a slot without a value.
 */
export function fill(text, values, missing = "") {
  return text.replace(ANY_SLOT, (slot) => values[SLOTS.indexOf(slot)] ?? missing);
}

/**
 * Whether a translation has each of the first slots once and no other.
 *
 * @param {string} text
 * @param {number} count
 */
export function keepsSlots(text, count) {
  const found = (text.match(ANY_SLOT) ?? []).sort();
  return found.length === count && found.every((slot, i) => slot === SLOTS[i]);
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

/** Reads and writes text as the Python package does. */

// The white space of Python's `str.split`.
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
// Control, format and private-use characters and lone surrogates; the two joiners are kept.
const NO_TEXT = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;
const JOINERS = "\u200c\u200d";
const MIN_CAPITAL_WORDS = 3;

/**
 * A text without control characters, with one space for each run of spaces.
 *
 * @param {string} text
 * @returns {{clean: string, origins: number[]}} Where each character of it is in the text.
 */
export function readable(text) {
  let clean = "";
  const origins = [];
  let place = 0;
  for (const character of text) {
    const isSpace = SPACE.test(character);
    const isKept = isSpace ? clean && !clean.endsWith(" ")
      : JOINERS.includes(character) || !NO_TEXT.test(character);
    if (isKept) {
      clean += isSpace ? " " : character.replace("▁", "_"); // ▁ marks words in sub-words
      for (let i = 0; i < character.length; i++) origins.push(place + i);
    }
    place += character.length;
  }
  return { clean: clean.trimEnd(), origins };
}

/**
 * Composes a text (NFC), removes control characters, and replaces each run of spaces with one.
 *
 * @param {string} text
 */
export function normalizeText(text) {
  const composed = readable(text).clean.normalize("NFC");
  return [...composed].some((character) => !` ${JOINERS}`.includes(character)) ? composed : "";
}

/**
 * Whether a text is a sentence in capitals, rather than an acronym or a short phrase.
 *
 * @param {string} text A text with single spaces.
 */
export function isAllCaps(text) {
  const letters = text.match(/\p{L}/gu) ?? [];
  const words = text.split(" ").filter((word) => /\p{L}/u.test(word));
  return letters.length > 1 && letters.every((letter) => /\p{Uppercase}/u.test(letter))
    && (words.length >= MIN_CAPITAL_WORDS || /[!?]$/.test(text));
}

/** @param {string} text */
export function capitalize(text) {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("").toLowerCase();
}

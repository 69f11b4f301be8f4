/** Texts as the Python package reads and writes them. */

// What Python's `str.split` takes for white space.
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
// Control, format and private-use characters and halves of surrogate pairs, but for the two joiners.
const NO_TEXT = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;
const JOINERS = "\u200c\u200d";
const MIN_SHOUTED_WORDS = 3;

/**
 * Composes a text (NFC), removes control characters, and makes one space of each run of spaces.
 *
 * @param {string} text
 */
export function normalizeText(text) {
  const kept = [...text].filter((character) =>
    SPACES.test(character) || JOINERS.includes(character) || !NO_TEXT.test(character));
  const words = kept.join("").normalize("NFC").split(SPACES).filter(Boolean);
  return words.some((word) => [...word].some((character) => !JOINERS.includes(character)))
    ? words.join(" ") : "";
}

/**
 * A text as the model reads it, and whether it is a sentence in capitals: that is read in lower
 * case. An acronym or a short phrase is not.
 *
 * @param {string} text A normalized text.
 * @returns {{read: string, shouted: boolean}}
 */
export function readCase(text) {
  const letters = text.match(/\p{L}/gu) ?? [];
  const words = text.split(" ").filter((word) => /\p{L}/u.test(word));
  const shouted = letters.every((letter) => /\p{Uppercase}/u.test(letter)) && words.length > 0
    && (words.length >= MIN_SHOUTED_WORDS || /[!?]$/.test(text));
  if (!shouted) return { read: text, shouted };
  const [first, ...rest] = text;
  return { read: first.toUpperCase() + rest.join("").toLowerCase(), shouted };
}

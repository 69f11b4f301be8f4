/** Reads and writes text as the Python package does. */

// The white space of Python's `str.split`.
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
// Control, format and private-use characters and lone surrogates; the two joiners are kept.
const NO_TEXT = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;
const JOINERS = "\u200c\u200d";
const MIN_SHOUTED_WORDS = 3;

/**
 * Composes a text (NFC), removes control characters, and replaces each run of spaces with one.
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
 * Converts a sentence in capitals to lower case, but not an acronym or a short phrase.
 *
 * @param {string} text A normalized text.
 * @returns {{read: string, shouted: boolean}}
 */
export function readCase(text) {
  const letters = text.match(/\p{L}/gu) ?? [];
  const words = text.split(" ").filter((word) => /\p{L}/u.test(word));
  const shouted = letters.length > 1 && letters.every((letter) => /\p{Uppercase}/u.test(letter))
    && (words.length >= MIN_SHOUTED_WORDS || /[!?]$/.test(text));
  if (!shouted) return { read: text, shouted };
  const [first, ...rest] = text;
  return { read: first.toUpperCase() + rest.join("").toLowerCase(), shouted };
}

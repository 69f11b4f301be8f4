/** Notices a text in another language, as `transformer_tf/commands/input_language.py` does. */

const MIN_WORDS = 4;

/**
 * Whether a text seems to be in the target language, or in an unknown one.
 *
 * @param {string} text
 * @param {{source: string[], target: string[]}} commonWords
 * @param {Set<string>|null} knownWords In lower case; null if they are not known.
 * @returns {"target"|"unknown"|null} Null if it may be in the source language.
 */
export function otherLanguage(text, commonWords, knownWords) {
  const words = text.match(/\p{L}+/gu) ?? [];
  if (words.length < MIN_WORDS) return null;
  const lowered = words.map((word) => word.toLowerCase());
  const own = lowered.filter((word) => commonWords.source.includes(word));
  const other = lowered.filter((word) =>
    commonWords.target.includes(word) && !commonWords.source.includes(word));
  if (new Set(other).size > 1 && other.length > 2 * own.length) return "target";
  const plain = words.filter((word, i) => word === lowered[i]); // others may be names
  const unknown = plain.filter((word) => knownWords && !knownWords.has(word));
  return plain.length >= MIN_WORDS && unknown.length > plain.length / 2 ? "unknown" : null;
}

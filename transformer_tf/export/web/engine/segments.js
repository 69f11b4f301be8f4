/** Cuts a text into segments that the model can take, as `transformer_tf/text/segments.py` does. */

import { capitalize, isAllCaps, normalizeText, readable } from "./text.js";

// A mark that may end a sentence, with the closing quotes and brackets after it, and spaces that are
// not inside a value.
const END = /(?<![.!?…])([.!?…]+)["'”’»)\]]*[^\S\u00a0]+|(?<![。！？])[。！？]+["'”’»)\]」』）]*(?!["'”’»)\]」』）。！？])\s*/g;
// A full stop does not end a sentence after these, after numbers ("14. März") and initials.
const ABBREVIATIONS = ("mr mrs ms dr prof st jr sr inc ltd vs e.g i.e cf ca approx "
  + "hr fr nr str bzw z.b d.h u.a sra srta ud mme mlle p.ex").split(" ");
const WORD_END = 40; // the end of a longer word is enough to tell that it is no abbreviation
const LAST_WORDS = ["a.m", "p.m", "etc", "usw"]; // they end a sentence before a capital
const BEFORE_NUMBERS = ["no", "nos", "fig", "vol"]; // abbreviations only before a number
const OPENING = /^["'“”‘’„«»([]+/;
const CLOSING = /["'“”‘’„«»([]+$/;
const FIRST_GUESS = 32; // words or characters of a part
const CLAUSE_MARK = /[,;:–—，、；：]$/;

/**
 * A part of a text that the model translates in one pass.
 *
 * @typedef {object} Segment
 * @property {string} text As the model reads it: in lower case if it is in capitals.
 * @property {boolean} allCaps Whether its line is in capitals; the translation is then, too.
 * @property {number} line The number of its line, from 0.
 * @property {number} begin Where it begins in the text.
 * @property {number} end
 */

/**
 * Cuts each line of a text into segments.
 *
 * @param {string} text
 * @param {object} options
 * @param {(part: string) => boolean} options.fits Whether a part, with the no-break spaces of
 *     `glue`, is short enough.
 * @param {boolean} options.split Whether to cut a line into its sentences even if it fits.
 * @param {(line: string) => string} options.glue Writes no-break spaces inside values.
 * @returns {Segment[]}
 */
export function readSegments(text, { fits, split, glue }) {
  let begin = 0;
  return text.split("\n").flatMap((typed, line) => {
    const { clean, origins } = readable(typed);
    const allCaps = isAllCaps(clean);
    const read = glue(allCaps ? capitalize(clean) : clean);
    const from = begin;
    begin += typed.length + 1;
    let place = 0;
    return splitText(read, fits, split).map((part) => {
      const first = read.indexOf(part, place);
      place = first + part.length;
      const normalized = normalizeText(part);
      return {
        text: allCaps ? normalized.charAt(0).toUpperCase() + normalized.slice(1) : normalized,
        allCaps, line, begin: from + origins[first], end: from + origins[place - 1] + 1,
      };
    });
  });
}

/**
 * @param {string} text
 * @param {(part: string) => boolean} fits
 * @param {boolean} sentences Whether to cut a text into its sentences even if it fits.
 * @returns {string[]} The parts. They lack only the spaces between them.
 */
function splitText(text, fits, sentences) {
  if (!text) return [];
  if (!sentences && fits(text)) return [text];
  return splitSentences(text).flatMap((sentence) => cut(sentence.split(" "), " ", fits))
    .flatMap((words) => (fits(words) ? [words] : cut([...words], "", fits)));
}

/** @param {string} text */
function splitSentences(text) {
  const sentences = [];
  let begin = 0;
  for (const { index, 0: { length }, 1: mark } of text.matchAll(END)) {
    const after = text.slice(index + length, index + length + 4); // perhaps a quote comes first
    const before = text.slice(Math.max(begin, index - WORD_END), index);
    if (!after || (mark === "." && isAbbreviation(before, after))) continue;
    sentences.push(text.slice(begin, index + length).trim());
    begin = index + length;
  }
  return [...sentences, text.slice(begin).trim()].filter(Boolean);
}

/**
 * Whether a full stop between two texts belongs to the word before it.
 *
 * @param {string} before
 * @param {string} after
 */
function isAbbreviation(before, after) {
  const last = before.trim().split(/\s+/).at(-1).replace(OPENING, "").replace(CLOSING, "").toLowerCase();
  const following = after.replace(OPENING, "");
  if (LAST_WORDS.includes(last) || /^[ivx]{2,}$/.test(last)) return !/^\p{Uppercase}/u.test(following);
  if (BEFORE_NUMBERS.includes(last)) return /^\p{Nd}/u.test(following);
  return [...last].length < 2 || /^\p{Nd}+$/u.test(last) || ABBREVIATIONS.includes(last);
}

/**
 * Joins units into the longest parts that fit, of at least one unit each.
 *
 * A part ends at the end of a clause, unless that makes it short.
 *
 * @param {string[]} units
 * @param {string} glue
 * @param {(part: string) => boolean} fits
 */
function cut(units, glue, fits) {
  const parts = [];
  let size = FIRST_GUESS;
  for (let begin = 0; begin < units.length;) {
    const part = (count) => units.slice(begin, begin + count).join(glue);
    size = largest((count) => fits(part(count)), size, units.length - begin);
    let count = size;
    if (begin + size < units.length) {
      const shortest = Math.floor(size / 3);
      while (count > shortest && !CLAUSE_MARK.test(units[begin + count - 1])) count--;
      if (count === shortest) count = size;
    }
    parts.push(part(count));
    begin += count;
  }
  return parts;
}

/**
 * The largest number that fits, of 1 to `most`, in steps that double from a guess.
 *
 * @param {(count: number) => boolean} fits
 * @param {number} guess
 * @param {number} most
 */
function largest(fits, guess, most) {
  let [low, high, step] = [Math.min(guess, most), most + 1, 1]; // `low` fits at last, `high` does not
  while (low > 1 && !fits(low)) [low, high, step] = [Math.max(1, low - step), low, 2 * step];
  step = 1;
  while (low + step < high && fits(low + step)) [low, step] = [low + step, 2 * step];
  high = Math.min(high, low + step);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

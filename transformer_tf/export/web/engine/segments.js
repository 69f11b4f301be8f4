/** Cuts a text into segments that the model can take, as `transformer_tf/text/segments.py` does. */

import { capitalize, isAllCaps, normalizeText, readable } from "./text.js";

// A mark that may end a sentence, with the closing quotes and brackets after it.
const END = /(?<![.!?…])([.!?…]+)["'”’»)\]]*\s+|(?<![。！？])[。！？]+["'”’»)\]」』）]*(?!["'”’»)\]」』）。！？])\s*/g;
// A full stop does not end a sentence after these, after numbers ("14. März") and initials.
const ABBREVIATIONS = ("mr mrs ms dr prof st jr sr inc ltd vs e.g i.e cf ca approx "
  + "hr fr nr str bzw z.b d.h u.a sra srta ud mme mlle p.ex").split(" ");
const WORD_END = 40; // the end of a longer word is enough to tell that it is no abbreviation
const LAST_WORDS = ["a.m", "p.m", "etc", "usw"]; // they end a sentence before a capital
const BEFORE_NUMBERS = ["no", "nos", "fig", "vol"]; // abbreviations only before a number
const OPENING = /^["'“”‘’„«»([]+/;
const CLOSING = /["'“”‘’„«»([]+$/;
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
 * @param {(part: string) => boolean} options.fits Whether a part is short enough.
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
    return splitText(read, (part) => fits(normalizeText(part)), split).map((part) => {
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
  if (fits(text) && !sentences) return [text];
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
  if (LAST_WORDS.includes(last)) return !/^\p{Uppercase}/u.test(following);
  if (BEFORE_NUMBERS.includes(last)) return /^\p{Nd}/u.test(following);
  return [...last].length < 2 || /^\p{Nd}+$/u.test(last) || ABBREVIATIONS.includes(last);
}

/**
 * Joins units into the longest parts that fit, of at least one unit each.
 *
 * @param {string[]} units
 * @param {string} glue
 * @param {(part: string) => boolean} fits
 */
function cut(units, glue, fits) {
  const parts = [];
  for (let begin = 0; begin < units.length;) {
    const count = longest(units.slice(begin), glue, fits);
    parts.push(units.slice(begin, begin + count).join(glue));
    begin += count;
  }
  return parts;
}

/** The number of units of the next part: up to a clause's end, unless that is short. */
function longest(units, glue, fits) {
  let [low, high] = [1, 2]; // `low` units fit, `high` units may not
  const fit = (count) => fits(units.slice(0, count).join(glue));
  while (high <= units.length && fit(high)) [low, high] = [high, 2 * high];
  high = Math.min(high, units.length + 1);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fit(middle)) low = middle;
    else high = middle;
  }
  if (low === units.length) return low;
  for (let end = low; end > Math.floor(low / 3); end--) {
    if (CLAUSE_MARK.test(units[end - 1])) return end;
  }
  return low;
}

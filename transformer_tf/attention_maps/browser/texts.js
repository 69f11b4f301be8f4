/** What the page says, in the language of its reader. The English texts are the keys of the others. */

let language = "en";
/** @type {Record<string, string>|null} Null for English. */
let dictionary = null;
let decimalSign = ".";
/** @type {RegExp|null} The verbs of a mouse, to be replaced where a finger points; null elsewhere. */
let ofMouse = null;
let ofFinger = "";

/**
 * @param {string} code
 * @param {Record<string, string>|null} texts By their English form; null for English.
 */
export function setTexts(code, texts) {
  [language, dictionary] = [code, texts];
  decimalSign = (0.5).toLocaleString(code).charAt(1);
  ofMouse = null;
  if (!matchMedia("(pointer: coarse)").matches) return;
  ofFinger = localize("Tap");
  ofMouse = new RegExp(localize("Point at|Click"), "g");
}

/** The code of the language of `localize`. */
export const textLanguage = () => language;

/**
 * A text in the language of the reader.
 *
 * @param {string} english Written out at each call, so that a test finds it.
 * @param {Record<string, string|number>} [values] What to put in for each `{name}`.
 */
export function localize(english, values = {}) {
  return lookUp(english).replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** @param {string} english */
export function lookUp(english) {
  const text = dictionary === null ? english : dictionary[english];
  if (text === undefined) throw new Error(`There is no text in “${language}” for “${english}”`);
  return ofMouse ? text.replace(ofMouse, ofFinger) : text;
}

/**
 * A number with a minus sign, and the decimal sign of the language.
 *
 * @param {number} number
 * @param {number} digits After the sign.
 */
export const decimal = (number, digits) => number.toFixed(digits).replace(".", decimalSign).replace("-", "−");

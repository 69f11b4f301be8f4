/** Links: the address holds the sentence (`#s=…`) and, among several, the model (`m=…`). */

/** @returns {{text: string, model: string|null}} */
export function readLink() {
  const fields = new URLSearchParams(location.hash.slice(1));
  return { text: fields.get("s") ?? "", model: fields.get("m") };
}

/**
 * @param {string} text
 * @param {string|null} model
 */
export function writeLink(text, model) {
  const prefix = model === null ? "" : `m=${encodeURIComponent(model)}&`;
  location.hash = `${prefix}s=${encodeURIComponent(text)}`;
}

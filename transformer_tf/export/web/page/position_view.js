import { byId, element, fill } from "../../../attention_maps/browser/dom.js";

/**
 * Draws the sines of the positions of a sentence; the cosines would look much the same.
 *
 * @param {import("../../../attention_maps/browser/tokens.js").Entry[]} entries
 * @param {number} depth
 * @param {number[]} positive Colour of 1.
 * @param {number[]} negative Colour of -1.
 */
export function showPositions(entries, depth, positive, negative) {
  const count = entries.length;
  fill(byId("wave-labels"), ...entries.map(({ label, special }, position) =>
    element("li", { class: special && "special" }, `${position} ${label}`)));
  const canvas = byId("waves");
  Object.assign(canvas, { width: depth / 2, height: count });
  canvas.setAttribute("aria-label",
    `${count} positions by ${depth / 2} sines, from fast to slow`);
  const context = canvas.getContext("2d");
  const picture = context.createImageData(canvas.width, count);
  for (let position = 0; position < count; position++) {
    for (let i = 0; i < depth / 2; i++) {
      const value = Math.sin(position / 10000 ** ((2 * i) / depth));
      const color = value < 0 ? negative : positive;
      picture.data.set([...color, 255 * Math.abs(value)], 4 * (position * canvas.width + i));
    }
  }
  context.putImageData(picture, 0, 0);
}

/**
 * The words of a text in random order.
 *
 * @param {string} text
 */
export function shuffleWords(text) {
  const words = text.split(/\s+/).filter(Boolean);
  for (let i = words.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [words[i], words[j]] = [words[j], words[i]];
  }
  return words.join(" ");
}

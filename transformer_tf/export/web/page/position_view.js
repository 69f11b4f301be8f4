import { byId } from "../../../attention_maps/browser/dom.js";

const SCALE = 18; // pixels of the canvas for a position
const WIDE = 7; // and for a dimension

/**
 * Draws the sines of the positions of a sentence; the cosines beside them look alike.
 *
 * @param {number} count
 * @param {number} depth
 * @param {number[]} positive Colour of 1.
 * @param {number[]} negative Colour of -1.
 */
export function showWaves(count, depth, positive, negative) {
  const canvas = byId("waves");
  Object.assign(canvas, { width: (depth / 2) * WIDE, height: count * SCALE });
  canvas.setAttribute("aria-label",
    `${count} positions by ${depth / 2} sines, from fast to slow`);
  const context = canvas.getContext("2d");
  for (let position = 0; position < count; position++) {
    for (let i = 0; i < depth / 2; i++) {
      const value = Math.sin(position / 10000 ** ((2 * i) / depth));
      const color = (value < 0 ? negative : positive).join(" ");
      context.fillStyle = `rgb(${color} / ${Math.abs(value)})`;
      context.fillRect(i * WIDE, position * SCALE, WIDE, SCALE - 1);
    }
  }
}

/**
 * The words of a text in another order.
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

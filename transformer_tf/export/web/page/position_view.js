import { byId, element, fill, themeColor } from "../../../attention_maps/browser/dom.js";
import { localize } from "../../../attention_maps/browser/texts.js";

/**
 * Shows the sines of the positions of a sentence; the cosines would look much the same.
 *
 * @param {import("../../../attention_maps/browser/tokens.js").Entry[]} entries
 * @param {number} depth
 */
export function showPositions(entries, depth) {
  fill(byId("wave-labels"), ...entries.map(({ label, special }, position) =>
    element("li", { class: special && "special" }, `${position} ${label}`)));
  const canvas = byId("waves");
  canvas.setAttribute("aria-label",
    localize("{count} positions by {sines} sines, from fast to slow",
      { count: entries.length, sines: depth / 2 }));
  drawWaves(canvas, entries.length, depth);
}

/**
 * Draws a row of sines for each position: blue above zero, orange below.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} count
 * @param {number} depth
 */
export function drawWaves(canvas, count, depth) {
  Object.assign(canvas, { width: depth / 2, height: count });
  const context = canvas.getContext("2d");
  const picture = context.createImageData(canvas.width, count);
  const [ink, accent] = [themeColor("ink"), themeColor("accent")];
  for (let position = 0; position < count; position++) {
    for (let i = 0; i < depth / 2; i++) {
      const value = Math.sin(position / 10000 ** ((2 * i) / depth));
      const color = value < 0 ? accent : ink;
      picture.data.set([...color, 255 * Math.abs(value)], 4 * (position * canvas.width + i));
    }
  }
  context.putImageData(picture, 0, 0);
}

/**
 * The words of a text in random order. The mark at its end stays, or one sentence would be two.
 *
 * @param {string} text
 */
export function shuffleWords(text) {
  const body = text.replace(/[.!?…\s]+$/u, "");
  const words = body.split(/\s+/).filter(Boolean);
  for (let i = words.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [words[i], words[j]] = [words[j], words[i]];
  }
  return words.join(" ") + text.slice(body.length);
}

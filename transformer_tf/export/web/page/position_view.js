import { byId, element, fill, themeColor } from "../../../attention_maps/browser/dom.js";
import { localize } from "../../../attention_maps/browser/texts.js";

/**
 * Shows the vectors of the positions of a sentence.
 *
 * @param {import("../../../attention_maps/browser/tokens.js").Entry[]} entries
 * @param {number} depth
 * @param {number} chosen The position to mark.
 */
export function showPositions(entries, depth, chosen) {
  fill(byId("wave-labels"), ...entries.map(({ label, special }, position) =>
    element("li", { class: special && "special", "aria-current": String(position === chosen) }, `${position} ${label}`)));
  const canvas = byId("waves");
  canvas.setAttribute("aria-label",
    localize("{count} positions by {sines} sines and as many cosines, from fast to slow",
      { count: entries.length, sines: depth / 2 }));
  drawWaves(canvas, entries.length, depth);
}

/**
 * Draws a row for each position, its sines before its cosines: blue above zero, orange below.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} count
 * @param {number} depth
 */
export function drawWaves(canvas, count, depth) {
  Object.assign(canvas, { width: depth, height: count });
  const context = canvas.getContext("2d");
  const picture = context.createImageData(canvas.width, count);
  const [ink, accent] = [themeColor("ink"), themeColor("accent")];
  for (let position = 0; position < count; position++) {
    for (let i = 0; i < depth / 2; i++) {
      const angle = position / 10000 ** ((2 * i) / depth);
      [Math.sin(angle), Math.cos(angle)].forEach((value, half) => picture.data.set(
        [...(value < 0 ? accent : ink), 255 * Math.abs(value)],
        4 * (position * depth + (half * depth) / 2 + i)));
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

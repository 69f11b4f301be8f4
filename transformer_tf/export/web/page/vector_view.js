/** Vectors as strips of color, which open to show every number. */

import { byId, element, fill, themeColor } from "../../../attention_maps/browser/dom.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";

const VECTOR_NAMES = {
  embedding: "embedding × √d",
  position: "position",
  sum: "their sum",
  norm: "last normalization",
};

/**
 * @param {{name: string, layer: number|null, numbers: Float32Array}[]} vectors
 * @param {string} token The token that is read, or chosen by the last vector.
 * @param {"source"|"target"} side
 */
export function showVectors(vectors, token, side) {
  const word = writeWord([token]);
  byId("vectors-of").textContent = side === "source"
    ? `The vectors of “${word}”. Click another word above.`
    : `The vectors that choose “${word}”, from the token read before it. Click another word above.`;
  const opened = new Set(Array.from(byId("vector-strips").querySelectorAll("[open]"), (each) =>
    each.dataset.key));
  fill(byId("vector-strips"), ...vectors.map(({ name, layer, numbers }, index) => {
    const title = layer === null ? VECTOR_NAMES[name] : `layer ${layer + 1}: after ${name}`;
    const isLast = side === "target" && index === vectors.length - 1;
    return strip(`${title}${isLast ? ", before the softmax" : ""}`, numbers, `${layer}.${name}`, opened);
  }));
}

/**
 * @param {string} title
 * @param {Float32Array} numbers
 * @param {string} key
 * @param {Set<string|undefined>} opened The keys of the strips that show their numbers.
 */
function strip(title, numbers, key, opened) {
  const largest = numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const canvas = element("canvas", { role: "img", "aria-label": `${numbers.length} numbers as colors` });
  drawVector(canvas, numbers, largest);
  const pointed = element("span", { class: "meta" }, `largest ±${largest.toFixed(2)}`);
  canvas.addEventListener("pointermove", ({ offsetX }) => {
    const i = Math.min(Math.floor((offsetX / canvas.clientWidth) * numbers.length), numbers.length - 1);
    pointed.textContent = `number ${i + 1}: ${numbers[i].toFixed(3)}`;
  });
  const all = element("div", { class: "numbers" });
  const details = element("details", {
    "data-key": key,
    open: opened.has(key),
    toggle: () => {
      if (details.open) {
        fill(all, ...Array.from(numbers, (number) => element("span", {}, number.toFixed(3))));
      }
    },
  }, element("summary", {}, element("span", {}, title), canvas, pointed), all);
  return details;
}

/**
 * Blue above zero, orange below; a pixel for each number.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} numbers
 * @param {number} largest
 */
function drawVector(canvas, numbers, largest) {
  Object.assign(canvas, { width: numbers.length, height: 1 });
  const context = canvas.getContext("2d");
  const picture = context.createImageData(numbers.length, 1);
  const [ink, accent] = [themeColor("ink"), themeColor("accent")];
  numbers.forEach((number, i) => {
    const share = Math.abs(number) / (largest || 1);
    picture.data.set([...(number < 0 ? accent : ink), 255 * share], 4 * i);
  });
  context.putImageData(picture, 0, 0);
}

/** Vectors as strips of color, which open to show every number. */

import { byId, element, fill, themeColor } from "../../../attention_maps/browser/dom.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";

/** @param {{name: string, layer: number|null}} vector */
function vectorName({ name, layer }) {
  if (layer === null) {
    return {
      embedding: localize("embedding × √d"), position: localize("position"),
      sum: localize("their sum"), norm: localize("last normalization"),
    }[name];
  }
  const values = { layer: layer + 1 };
  return {
    "self-attention": localize("layer {layer}: after self-attention", values),
    "cross-attention": localize("layer {layer}: after cross-attention", values),
    "feed-forward": localize("layer {layer}: after feed-forward", values),
  }[name];
}

/**
 * @param {{name: string, layer: number|null, numbers: Float32Array}[]} vectors
 * @param {string} token The token that is read, or chosen by the last vector.
 * @param {"source"|"target"} side
 */
export function showVectors(vectors, token, side) {
  const word = writeWord([token]);
  byId("vectors-of").textContent = side === "source"
    ? localize("The vectors of “{word}”. Click another word above.", { word })
    : localize("The vectors that choose “{word}”, from the word said before it. Click another word above.", { word });
  const opened = new Set(Array.from(byId("vector-strips").querySelectorAll("[open]"), (each) =>
    each.dataset.key));
  fill(byId("vector-strips"), ...vectors.map(({ name, layer, numbers }, index) => {
    const title = vectorName({ name, layer });
    const isLast = side === "target" && index === vectors.length - 1;
    return strip(isLast ? localize("{title}, before the softmax", { title }) : title, numbers, `${layer}.${name}`, opened);
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
  const canvas = element("canvas", { role: "img", "aria-label": localize("{count} numbers as colors", { count: numbers.length }) });
  drawVector(canvas, numbers, largest);
  const pointed = element("span", { class: "meta" }, localize("largest ±{number}", { number: decimal(largest, 2) }));
  canvas.addEventListener("pointermove", ({ offsetX }) => {
    const i = Math.min(Math.floor((offsetX / canvas.clientWidth) * numbers.length), numbers.length - 1);
    pointed.textContent = localize("number {place}: {number}",
      { place: i + 1, number: decimal(numbers[i], 3) });
  });
  const all = element("div", { class: "numbers" });
  const details = element("details", {
    "data-key": key,
    open: opened.has(key),
    toggle: () => {
      if (details.open) {
        fill(all, ...Array.from(numbers, (number) => element("span", {}, decimal(number, 3))));
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

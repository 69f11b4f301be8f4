import { chipsOf } from "../../../attention_maps/browser/chips.js";
import { byId, fill } from "../../../attention_maps/browser/dom.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";
import { bar } from "./bars.js";

/**
 * Which words of the sentence are hidden.
 *
 * @param {import("../../../attention_maps/browser/tokens.js").Entry[]} entries
 * @param {Set<number>} hidden Positions.
 * @param {(positions: number[]) => void} onToggle
 */
export function showHidden(entries, hidden, onToggle) {
  fill(byId("hide"), ...chipsOf(entries, ({ positions }) => ({
    "aria-pressed": String(hidden.has(positions[0])),
    class: hidden.has(positions[0]) && "hidden-token",
    click: () => onToggle(positions),
  })));
}

/**
 * How likely each token of a translation is, with the masks changed and without.
 *
 * @param {string[]} tokens
 * @param {number[]} before With the masks as they were in training.
 * @param {number[]} after
 */
export function showEffect(tokens, before, after) {
  fill(byId("mask-effect"), ...tokens.map((token, i) =>
    bar(writeWord([token]), after[i], { key: `mask-${i}`, before: before[i] })));
  const largest = Math.max(...after.map((share, i) => Math.abs(share - before[i])));
  byId("mask-summary").textContent = largest < 1e-6
    ? "Nothing changes: the largest difference is below 0.000001."
    : `The largest difference is ${largest.toFixed(3)}. The thin line marks what it was.`;
}

import { chipsOf } from "../../../attention_maps/browser/chips.js";
import { byId, fill } from "../../../attention_maps/browser/dom.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";
import { bar } from "./bars.js";

const VISIBLE = 0.005; // the smallest visible difference of two bars

/**
 * Shows which words of the sentence are hidden. The last one cannot be: attention needs a key.
 *
 * @param {import("../../../attention_maps/browser/tokens.js").Entry[]} entries
 * @param {Set<number>} hidden Positions.
 * @param {(positions: number[]) => void} onToggle
 */
export function showHidden(entries, hidden, onToggle) {
  const shown = entries.filter(({ positions }) => !hidden.has(positions[0]));
  fill(byId("hide"), ...chipsOf(entries, ({ positions }) => ({
    "aria-pressed": String(hidden.has(positions[0])),
    disabled: shown.length === 1 && positions === shown[0].positions,
    class: hidden.has(positions[0]) && "hidden-token",
    click: () => onToggle(positions),
  })));
}

/**
 * Shows the probability of each token of a translation, with and without changed masks.
 *
 * @param {string[]} tokens
 * @param {number[]} before The probabilities with the masks of training.
 * @param {number[]} after
 * @param {boolean} isChanged Whether any mask was changed.
 */
export function showEffect(tokens, before, after, isChanged) {
  const differences = after.map((share, i) => Math.abs(share - before[i]));
  byId("mask-effect").style.setProperty("--half", String(Math.ceil(tokens.length / 2)));
  fill(byId("mask-effect"), ...tokens.map((token, i) => bar(writeWord([token]), after[i], {
    key: `mask-${i}`, before: differences[i] < VISIBLE ? null : before[i],
  })));
  const largest = Math.max(...differences);
  byId("mask-summary").textContent = !isChanged
    ? localize("No mask is changed.")
    : largest < 1e-6 ? localize("Nothing changes: the largest difference is below {size}.", { size: decimal(1e-6, 6) })
      : localize("The largest difference is {size}. A thin line marks the old probability.",
        { size: decimal(largest, 3) });
}

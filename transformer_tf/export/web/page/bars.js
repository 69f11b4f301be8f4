import { element } from "../../../attention_maps/browser/dom.js";
import { decimal } from "../../../attention_maps/browser/texts.js";

/**
 * A labeled bar for a share from 0 to 1.
 *
 * @param {string} label
 * @param {number} share
 * @param {{key: string, chosen?: boolean, before?: number|null, click?: () => void}} options
 *   `before` marks where the share was.
 */
export function bar(label, share, { key, chosen = false, before = null, click }) {
  const track = element("span", { class: "track" }, element("span", { class: "fill" }),
    before === null ? null : element("span", { class: "before" }));
  track.style.setProperty("--share", String(share));
  track.style.setProperty("--before", String(before ?? 0));
  return element(click ? "button" : "div", {
    ...(click ? { type: "button", "aria-pressed": String(chosen), click } : {}),
    class: chosen ? "bar-row chosen" : "bar-row", "data-key": key,
  }, element("span", { class: "bar-label" }, label), track,
    element("span", { class: "bar-number" }, decimal(share, 3)));
}

/**
 * Numbers as a row of small bars above and below zero.
 *
 * @param {ArrayLike<number>} numbers
 * @param {number} largest The number that fills the height.
 */
export function numberStrip(numbers, largest) {
  const strip = element("div", { class: "strip", role: "img",
    "aria-label": Array.from(numbers, (number) => decimal(number, 2)).join(", ") });
  for (const number of Array.from(numbers)) {
    const column = element("span", { class: number < 0 ? "below" : "above",
      title: decimal(number, 3) });
    column.style.setProperty("--size", String(Math.abs(number) / (largest || 1)));
    strip.append(column);
  }
  return strip;
}

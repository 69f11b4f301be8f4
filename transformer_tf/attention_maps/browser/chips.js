import { element } from "./dom.js";

/**
 * Tokens as chips: sub-words joined by a hairline, special tokens in grey.
 *
 * @param {import("./tokens.js").Entry[]} entries
 * @param {(entry: import("./tokens.js").Entry, index: number) => Record<string, unknown>}
 *   [attributesOf] Of each chip; one with a `click` is a button.
 */
export function chipsOf(entries, attributesOf = () => ({})) {
  return entries.map((entry, index) => {
    const attributes = attributesOf(entry, index);
    const names = ["chip", entry.joined && "joined", entry.special && "special", attributes.class];
    return element(attributes.click ? "button" : "span", {
      ...(attributes.click ? { type: "button" } : {}),
      ...attributes,
      class: names.filter(Boolean).join(" "),
      "data-key": `chip-${index}`,
    }, entry.label);
  });
}

/**
 * Colours chips by how much each is looked at.
 *
 * @param {HTMLElement} strip
 * @param {Map<number, number>|null} weights Of the positions of tokens; null for none.
 * @param {import("./tokens.js").Entry[]} entries Those of the chips.
 */
export function lightChips(strip, weights, entries) {
  const chips = strip.querySelectorAll(".chip");
  entries.forEach(({ positions }, i) => {
    const sum = weights
      ? positions.reduce((all, position) => all + (weights.get(position) ?? 0), 0) : 0;
    chips[i]?.style.setProperty("--weight", Math.min(sum, 1).toFixed(3));
    chips[i]?.classList.toggle("strong", sum > 0.5);
  });
}

import { element, fill } from "./dom.js";

export const PAUSE_OF_CHIPS = 50; // milliseconds from one chip to the next

/**
 * Tokens as chips: sub-words joined by a hairline, special tokens in gray.
 *
 * @param {import("./tokens.js").Entry[]} entries
 * @param {(entry: import("./tokens.js").Entry, index: number) => Record<string, unknown>}
 *   [attributesOf] The attributes of each chip; one with a `click` is a button.
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
 * Moves the focus from chip to chip.
 *
 * @param {any} event A keyboard event.
 */
function moveAlong(event) {
  const neighbor = {
    ArrowLeft: event.target.previousElementSibling, ArrowRight: event.target.nextElementSibling,
  }[event.key];
  if (!neighbor) return;
  event.preventDefault();
  neighbor.focus();
}

/** The tokens of a sentence and of its translation, which are colored by their weights. */
export class TokenStrips {
  /** @param {Record<import("./scores.js").Side, HTMLElement>} strips */
  constructor(strips) {
    this.strips = strips;
    /** @type {Record<import("./scores.js").Side, import("./tokens.js").Entry[]>} */
    this.entries = { source: [], target: [] };
    /** @type {Record<import("./scores.js").Side, HTMLElement[]>} */
    this.chips = { source: [], target: [] };
    /** @type {Record<import("./scores.js").Side, string[]>} The weights that are shown. */
    this.shown = { source: [], target: [] };
    for (const strip of Object.values(strips)) strip.addEventListener("keydown", moveAlong);
  }

  /**
   * @param {import("./scores.js").Side} side
   * @param {import("./tokens.js").Entry[]} entries
   * @param {Parameters<typeof chipsOf>[1]} attributesOf
   */
  draw(side, entries, attributesOf) {
    this.entries[side] = entries;
    this.chips[side] = chipsOf(entries, (entry, index) => (
      { ...attributesOf(entry, index), tabindex: index ? -1 : 0 }));
    this.shown[side] = [];
    fill(this.strips[side], ...this.chips[side]);
  }

  /**
   * Marks the chip of a token.
   *
   * @param {import("./scores.js").Side} side
   * @param {number|null} position Null for none.
   */
  mark(side, position) {
    this.entries[side].forEach(({ positions }, i) =>
      this.chips[side][i].setAttribute("aria-current", String(positions.includes(position))));
  }

  /**
   * Colors chips by their weights.
   *
   * @param {import("./attention_view.js").Lit} lit
   */
  light(lit) {
    for (const side of /** @type {const} */ (["source", "target"])) {
      if (this.strips[side].hidden) continue;
      const [chips, shown] = [this.chips[side], this.shown[side]];
      this.entries[side].forEach(({ positions }, i) => {
        const sum = positions.reduce((all, each) => all + (lit[side].get(each) ?? 0), 0);
        const weight = Math.min(sum, 1).toFixed(3);
        if (weight === (shown[i] ?? "0.000")) return;
        shown[i] = weight;
        chips[i].style.setProperty("--weight", weight);
      });
    }
  }
}

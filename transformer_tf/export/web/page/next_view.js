import { byId, fill } from "../../../attention_maps/browser/dom.js";
import { writeText, writeWord } from "../../../attention_maps/browser/tokens.js";
import { bar } from "./bars.js";

/**
 * The eight likeliest tokens at a position.
 *
 * @param {import("./session.js").Result} result
 * @param {number} position
 * @param {boolean} forced Whether some token was forced.
 * @param {(id: number) => void} onForce
 */
export function showNext(result, position, forced, onForce) {
  const before = result.maps.decoder.keys.slice(1, position + 1);
  const said = before.length ? `after “… ${writeText(before.slice(-3))}”` : "at the beginning";
  byId("next-title").textContent = `Token ${position + 1}, ${said}`;
  byId("unforce").disabled = !forced;
  fill(byId("next-tokens"), ...result.next[position].map(({ id, token, probability }, rank) =>
    bar(writeWord([token]), probability, {
      key: `next-${rank}`, chosen: result.ids[position] === id, click: () => onForce(id),
    })));
}

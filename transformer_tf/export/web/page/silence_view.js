/** The buttons that silence the heads of the attention view. */

import { AttentionView } from "../../../attention_maps/browser/attention_view.js";
import { byId } from "../../../attention_maps/browser/dom.js";
import { Session } from "./session.js";

/**
 * The names of the head that is shown, and of all heads of its layer.
 *
 * @param {AttentionView} view
 * @returns {{head: string[], layer: string[]}}
 */
export function headsOf({ shown, state: { kind, layer, head } }) {
  const { heads } = shown.maps[kind];
  return {
    head: [`${kind}.${layer}.${head}`],
    layer: Array.from({ length: heads }, (_, i) => `${kind}.${layer}.${i}`),
  };
}

/**
 * What the buttons would do.
 *
 * @param {Session} session
 * @param {AttentionView} view
 */
export function showSilence({ silenced }, view) {
  const { head, layer } = headsOf(view);
  const isSilent = (names) => names.every((name) => silenced.has(name));
  byId("silence-head").textContent = isSilent(head) ? "Restore this head" : "Silence this head";
  byId("silence-layer").textContent = isSilent(layer) ? "Restore its layer" : "Silence its layer";
}

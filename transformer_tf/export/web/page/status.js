/** What the page is doing: loading a model, computing, waiting, or showing an error. */

import { byId } from "../../../attention_maps/browser/dom.js";

/** @param {"loading"|"ready"|"busy"|"error"} state */
export function showState(state) {
  document.body.dataset.state = state;
  byId("loading").hidden = state !== "loading";
}

/** @param {unknown} error */
export function showError(error) {
  showState("error");
  byId("translation").textContent = error instanceof Error ? error.message : String(error);
}

/**
 * @param {number} loaded Bytes.
 * @param {number} total Bytes; 0 if unknown.
 */
export function showProgress(loaded, total) {
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  byId("progress").value = total ? loaded / total : 0;
  byId("progress-text").textContent =
    `Loading the model: ${megabytes(loaded)}${total ? ` of ${megabytes(total)}` : ""} MB`;
}

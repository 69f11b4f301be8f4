/** What the page is doing: loading a model, computing, waiting, or showing an error. */

import { byId } from "../../../attention_maps/browser/dom.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";

/** @param {"loading"|"ready"|"busy"|"error"} state */
export function showState(state) {
  document.body.dataset.state = state;
  byId("loading").hidden = state !== "loading";
}

const PAUSE = 1000; // milliseconds without a new translation before one is announced

let announcing = 0;

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Shows why there is no translation.
 *
 * @param {unknown} error
 */
export function showError(error) {
  showState("error");
  byId("translation").textContent = messageOf(error);
  announce(messageOf(error), document.documentElement.lang);
}

/**
 * Shows why a view could not be drawn; the translation stays. Null takes the message away.
 *
 * @param {unknown} error
 */
export function showProblem(error) {
  byId("problem").hidden = error === null;
  byId("problem").textContent = error === null ? "" : messageOf(error);
}

/**
 * Tells screen readers the translation or an error, once after the last change.
 *
 * @param {string} text
 * @param {string} language Its code.
 */
export function announce(text, language) {
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    byId("announcement").lang = language;
    byId("announcement").textContent = text;
  }, PAUSE);
}

/**
 * @param {number} loaded Bytes.
 * @param {number} total Bytes; 0 if unknown.
 */
export function showProgress(loaded, total) {
  const megabytes = (bytes) => decimal(bytes / 1e6, 1);
  if (total) byId("progress").value = loaded / total;
  byId("progress-text").textContent = total
    ? localize("Loading the model: {loaded} of {total} MB",
      { loaded: megabytes(loaded), total: megabytes(total) })
    : localize("Loading the model: {loaded} MB", { loaded: megabytes(loaded) });
}

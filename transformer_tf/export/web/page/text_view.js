/** The text and its translation, sentence by sentence. */

import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { localize, textLanguage } from "../../../attention_maps/browser/texts.js";

export const LONGEST_TEXT = 10_000; // characters; the rest is not read

/**
 * Marks in the text which sentence is shown and where reading stopped.
 *
 * @param {import("./session.js").Session} session
 */
export function showText({ segments, chosen, isTyping }) {
  const text = byId("source").value;
  const [read, rest] = [text.slice(0, LONGEST_TEXT), text.slice(LONGEST_TEXT)];
  const { begin = 0, end = 0 } = segments.length > 1 ? segments[chosen] : {};
  fill(byId("marks"), read.slice(0, begin), element("mark", {}, read.slice(begin, end)),
    read.slice(end), element("s", {}, rest), "\u200b"); // which keeps an empty last line
  if (!isTyping) reveal(byId("marks").querySelector("mark"), byId("marks").parentElement);
  byId("unread").hidden = !rest;
  byId("unread").textContent = rest
    ? localize("Only the first {count} characters are read; the rest is struck out.",
      { count: LONGEST_TEXT.toLocaleString(textLanguage()) })
    : "";
  byId("sentences").hidden = segments.length < 2;
  byId("sentence-number").textContent = localize("Part {number} of {count}",
    { number: chosen + 1, count: segments.length });
  byId("previous").disabled = chosen === 0;
  byId("following").disabled = chosen >= segments.length - 1;
}

/**
 * Says that the text seems to be in another language than the model's.
 *
 * @param {"target"|"unknown"|null} other
 */
export function showLanguage(other) {
  const [source, target] = ["source-language", "target-language"].map((id) => byId(id).textContent);
  byId("other-language").hidden = !other;
  byId("swap-instead").hidden = other !== "target" || byId("swap").hidden;
  byId("other-language").firstElementChild.textContent = other === "target"
    ? localize("This looks like {target}, but the model reads {source}.", { source, target })
    : localize("This does not look like {source}: the model does not know most of the words.", { source });
}

/**
 * Shows the translation with the line breaks of the text.
 *
 * @param {import("./session.js").Session} session
 * @param {(segment: import("./session.js").Segment, index: number) => string} textOf
 */
export function showTranslation({ segments, chosen }, textOf) {
  // The arcs show a single sentence, but browsers copy it only for secure addresses.
  document.body.classList.toggle("several", segments.length > 1 || !navigator.clipboard);
  const parts = segments.flatMap((segment, index) => {
    const lines = index && segment.line - segments[index - 1].line;
    return [
      index ? "\n".repeat(lines) || " " : "",
      element("span", {
        class: segments.length > 1 && index === chosen && "current", "data-index": index,
      }, textOf(segment, index)),
    ];
  });
  fill(byId("translation"), ...parts);
  reveal(byId("translation").querySelector(".current"), byId("translation"));
  byId("copy").disabled = byId("link").disabled = !segments.length;
}

/**
 * Scrolls a box, but not the page, until a part of it is in sight.
 *
 * @param {Element|null} part
 * @param {Element} box
 */
function reveal(part, box) {
  if (!part) return;
  const [inner, outer] = [part.getBoundingClientRect(), box.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top;
}

/** The tokens of the sentence and its translation, and what was changed. */

import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { localize } from "../../../attention_maps/browser/texts.js";
import { entriesOf } from "../../../attention_maps/browser/tokens.js";
import { Session } from "./session.js";

/**
 * The tokens of the sentence and its translation, without padding.
 *
 * @param {Session} session
 */
export function entriesOfResult({ result, padding }) {
  const { keys, queries } = result.maps.cross;
  const options = { words: false, special: true };
  return {
    source: entriesOf(keys.slice(0, keys.length - padding), options),
    target: entriesOf(queries, options),
  };
}

/**
 * @param {Session} session
 * @param {import("../../../attention_maps/browser/chips.js").TokenStrips} strips
 * @param {import("../../../attention_maps/browser/attention_view.js").AttentionView} view
 * @param {"source"|"target"|null} marked The side whose chosen token is marked.
 * @param {() => void} onChoose Called after a click on a token, which is then the chosen one.
 */
export function showTokens(session, strips, view, marked, onChoose) {
  const { rows, prefix, position, sourcePosition } = session;
  const { source, target } = entriesOfResult(session);
  strips.draw("source", source, (entry) => {
    const pointing = view.pointing(entry, "source");
    return {
      ...pointing,
      "aria-pressed": String(marked === "source" && entry.positions.includes(sourcePosition)),
      click: () => {
        pointing.click();
        session.sourcePosition = entry.positions[0];
        onChoose();
      },
    };
  });
  strips.draw("target", target, (entry) => {
    const pointing = view.pointing(entry, "target");
    return {
      ...pointing,
      "aria-pressed": String(marked === "target" && entry.positions.includes(position)),
      class: [entry.positions[0] < prefix.length && "forced",
        rows !== null && entry.positions[0] >= rows && "later"].filter(Boolean).join(" "),
      click: () => {
        pointing.click();
        session.position = entry.positions[0];
        onChoose();
      },
    };
  });
}

const writeCopied = ({ label, value, written }) => `${label} = ${value} → ${written}`;

/**
 * Says which values `<1>` and so on stand for.
 *
 * @param {Session} session
 */
export function showCopied({ result: { copied } }) {
  byId("copied").textContent = copied.length
    ? localize("The model copies these values and sees only a placeholder for each: {list}",
      { list: copied.map(writeCopied).join(", ") })
    : "";
}

/**
 * A tooltip for a chip or a header that shows a placeholder; null for others.
 *
 * @param {string} label
 * @param {Session} session
 */
export function titleOfCopied(label, { result }) {
  const shown = result?.copied.filter((each) => label.includes(each.label)) ?? [];
  return shown.length ? localize("A placeholder for a copied value: {list}", { list: shown.map(writeCopied).join(", ") })
    : null;
}

/**
 * Shows the changes to the model, and the translation without them.
 *
 * @param {Session} session
 */
export function showNotice(session) {
  const { silenced, hidden, padding, positions, future, prefix, result, unchanged } = session;
  const parts = [];
  const tell = (count, one, several) => count && parts.push(count === 1 ? one : several);
  tell(silenced.size, localize("one head silenced"),
    localize("{count} heads silenced", { count: silenced.size }));
  tell(hidden.size, localize("one piece hidden"),
    localize("{count} pieces hidden", { count: hidden.size }));
  tell(padding, localize("one empty place added"),
    localize("{count} empty places added", { count: padding }));
  if (!positions) parts.push(localize("no positions"));
  if (prefix.length) parts.push(localize("piece {number} chosen by hand", { number: prefix.length }));
  if (future) {
    parts.push(localize("no causal mask (for the bars below “Masks”; a search has no future to see)"));
  }
  const before = !unchanged ? [] : unchanged.text === result.text
    ? [` ${localize("The translation stays the same.")}`]
    : [` ${localize("Now:")} `, ...markNew(result.text, unchanged.text),
      ` ${localize("Without the changes: “{text}”", { text: unchanged.text })}`];
  const notice = byId("notice");
  notice.hidden = !parts.length;
  const told = parts.join(", ");
  fill(byId("notice-text"), `${told.charAt(0).toUpperCase()}${told.slice(1)}.`, ...before);
  // Not over the control that was used, which may be used again; nor over the top of the page.
  const { top, bottom } = document.activeElement.getBoundingClientRect();
  notice.classList.toggle("above", top < innerHeight && bottom > innerHeight - notice.offsetHeight);
}
addEventListener("scroll", () => byId("notice").classList.remove("above"));

/**
 * A text with marks on the words that another one lacks.
 *
 * @param {string} text
 * @param {string} other
 */
function markNew(text, other) {
  const known = other.split(" ");
  return text.split(" ").flatMap((word) => [" ", known.includes(word) ? word : element("mark", {}, word)])
    .slice(1);
}

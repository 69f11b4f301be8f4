import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { localize } from "../../../attention_maps/browser/texts.js";

/**
 * Shows how each word was split, merge by merge. The first word of several pieces is open.
 *
 * @param {{steps: string[][], ids: number[]}[]} words
 */
export function showMerges(words) {
  const open = Math.max(words.findIndex(({ ids }) => ids.length > 1), 0);
  fill(byId("merges"), ...words.map(({ steps, ids }, index) => {
    const told = ids.length === 1
      ? localize("one piece, number {ids}", { ids: ids.join() })
      : localize("{count} pieces, numbers {ids}", { count: ids.length, ids: ids.join(", ") });
    return element("details", { open: index === open },
      element("summary", {}, steps[0].join("").replace("▁", ""),
        element("span", { class: "meta" }, ` ${told}`)),
      element("ol", { start: "0" }, ...steps.map((pieces, number) => {
        const merged = number ? pieces.findIndex((piece, i) => piece !== steps[number - 1][i]) : -1;
        return element("li", {}, ...pieces.map((piece, i) => element("span", {
          class: i === merged ? "piece merged" : "piece" }, piece)));
      })));
  }));
}

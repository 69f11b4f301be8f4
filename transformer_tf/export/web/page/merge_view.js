import { byId, element, fill } from "../../../attention_maps/browser/dom.js";

/**
 * How each word was cut, merge by merge.
 *
 * @param {{steps: string[][], ids: number[]}[]} words
 */
export function showMerges(words) {
  fill(byId("merges"), ...words.map(({ steps, ids }) => element("details", {},
    element("summary", {}, steps[0].join("").replace("▁", ""), element("span", { class: "meta" },
      ` ${steps.length} steps, ids ${ids.join(", ")}`)),
    element("ol", { start: "0" }, ...steps.map((pieces, number) => {
      const merged = number && pieces.find((piece, i) => piece !== steps[number - 1][i]);
      return element("li", {}, ...pieces.map((piece) => element("span", {
        class: piece === merged ? "piece merged" : "piece" }, piece)));
    })))));
  byId("merges").querySelector("details")?.setAttribute("open", "");
}

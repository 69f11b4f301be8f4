import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";

export const DRAWS = 6;

/** The search settings of the sliders. */
export function readSliders() {
  const [temperature, topK, topP] = ["temperature", "top-k", "top-p"].map((id) =>
    Number(byId(id).value));
  byId("top-k-value").textContent = topK ? String(topK) : localize("all");
  byId("top-p-value").textContent = decimal(topP, 2);
  return { temperature, top_k: topK, top_p: topP };
}

/** @param {{text: string, logProb: number}[]} draws */
export function showDraws(draws) {
  fill(byId("drawn"), ...draws.map(({ text, logProb }) => element("li", {},
    element("span", {}, text),
    element("span", { class: "meta" }, ` ${localize("log-probability {log}", { log: decimal(logProb, 2) })}`))));
}

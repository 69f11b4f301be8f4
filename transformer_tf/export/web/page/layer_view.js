import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";

/**
 * Shows the token that each layer would produce at each position.
 *
 * @param {{token: string, probability: number}[][]} layers
 * @param {string[]} said The tokens of the translation.
 */
export function showLayers(layers, said) {
  const head = element("tr", {}, element("th", { scope: "col" }, localize("said")),
    ...said.map((token) => element("th", { scope: "col" }, writeWord([token]))));
  fill(byId("layer-table"), element("thead", {}, head), element("tbody", {},
    ...layers.map((layer, number) => element("tr", {},
      element("th", { scope: "row" }, localize("Layer {layer}", { layer: number + 1 })),
      ...layer.map(({ token, probability }, position) => {
        const cell = element("td", {
          class: token === said[position] && "same",
          title: decimal(probability, 3),
        }, writeWord([token]));
        cell.style.setProperty("--weight", probability.toFixed(3));
        return cell;
      })))));
}

import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";
import { numberStrip } from "./bars.js";
import { Engine } from "./engine.js";
import { Session } from "./session.js";
import { showError } from "./status.js";

/** The numbers behind one cell of a map, shown instead of the small maps. */
export class CellPanel {
  /**
   * @param {Engine} engine
   * @param {Session} session
   */
  constructor(engine, session) {
    this.engine = engine;
    this.session = session;
  }

  /** @param {import("../../../attention_maps/browser/attention_view.js").Place} place */
  async open(place) {
    const { text, result, changes } = this.session;
    const { kind, layer, head, row, column } = place;
    try {
      const asked = { text, prefix: result.ids, ...changes, ...place };
      const { result: numbers } = await this.engine.ask("cell", asked);
      if (result !== this.session.result) return;
      const { queries, keys } = result.maps[kind];
      showCell({
        query: writeWord([queries[row]]), key: writeWord([keys[column]]), keys, column,
        where: `layer ${layer + 1}, head ${head + 1}`,
      }, numbers, () => this.close());
    } catch (error) {
      showError(error);
      return;
    }
    byId("cell").hidden = false;
    byId("heads-panel").hidden = true;
    byId("close-cell").focus({ preventScroll: innerWidth > 992 });
  }

  close() {
    const hasFocus = byId("cell").contains(document.activeElement);
    byId("cell").hidden = true;
    byId("heads-panel").hidden = false;
    if (hasFocus) byId("map").focus({ preventScroll: true });
  }
}

/**
 * The numbers behind one cell of a map, in the order in which they are computed.
 *
 * @param {object} place
 * @param {string} place.query
 * @param {string} place.key
 * @param {string} place.where Such as "layer 3, head 1".
 * @param {string[]} place.keys The tokens that the query may look at.
 * @param {number} place.column The index of the key among them.
 * @param {ReturnType<typeof import("../engine/inspection.js").cellOf>} numbers
 * @param {() => void} onClose
 */
function showCell(place, numbers, onClose) {
  const { query, key, value, product, headDim, scaled, weights } = numbers;
  const products = query.map((number, i) => number * key[i]);
  const largest = (...lists) => Math.max(...lists.flatMap((list) => Array.from(list, Math.abs)));
  const weight = weights[place.column];
  const ranked = Array.from(weights, (share, j) => ({ share, j }))
    .sort((one, other) => other.share - one.share).slice(0, 4);
  const step = (title, ...children) => element("div", { class: "cell-step" },
    element("p", {}, title), ...children);
  const both = largest(query, key);
  fill(byId("cell"),
    element("div", { class: "card-head" },
      element("h3", {}, `“${place.query}” looks at “${place.key}”`),
      element("button", { type: "button", class: "quiet", id: "close-cell", click: onClose },
        "Close")),
    element("p", { class: "meta" }, `${place.where}, ${headDim} numbers each`),
    step(`Query of “${place.query}”: what it looks for`, numberStrip(query, both)),
    step(`Key of “${place.key}”: what it offers`, numberStrip(key, both)),
    step("Multiplied, number by number", numberStrip(products, largest(products))),
    element("p", { class: "formula", id: "cell-formula" },
      `Sum ${product.toFixed(2)} ÷ √${headDim} = ${scaled[place.column].toFixed(2)}, `
      + `softmax over ${weights.length} keys: ${weight.toFixed(4)}`),
    step("The keys it looks at most", element("p", { class: "meta" }, ranked
      .map(({ share, j }) => `${writeWord([place.keys[j]])} ${share.toFixed(3)}`).join(" · "))),
    step(`Value of “${place.key}”, times ${weight.toFixed(2)}: what it passes on`,
      numberStrip(value.map((number) => number * weight), largest(value))));
}

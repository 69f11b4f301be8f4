import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { describeCell } from "../../../attention_maps/browser/sentences.js";
import { entriesOf, stepsOf, writeWord } from "../../../attention_maps/browser/tokens.js";
import { numberStrip } from "./bars.js";
import { Engine } from "./engine.js";
import { Session } from "./session.js";
import { showProblem } from "./status.js";

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
    const { sentence, result, changes } = this.session;
    const { kind, layer, head, row, column } = place;
    try {
      const asked = { ...sentence, prefix: result.ids, ...changes, ...place };
      const { result: numbers } = await this.engine.ask("cell", asked);
      if (result !== this.session.result) return;
      const { queries, keys } = result.maps[kind];
      const all = { words: false, special: true };
      const rows = kind === "encoder" ? entriesOf(queries, all)
        : stepsOf(queries, { ...all, byRead: false });
      const at = (entries, position) => entries.find(({ positions }) => positions.includes(position));
      const [from, to] = [at(rows, row), at(entriesOf(keys, all), column)];
      showCell({
        title: describeCell(kind, from, to), from: "read" in from ? from.read.label : from.label,
        justRead: "read" in from, to: to.label, keys, column,
        where: `layer ${layer + 1}, head ${head + 1}`,
      }, numbers, () => this.close());
    } catch (error) {
      showProblem(error);
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
 * @param {string} place.title Who looks at what.
 * @param {string} place.from The token whose query it is.
 * @param {boolean} place.justRead Whether the query is of the decoder.
 * @param {string} place.to The token whose key it is.
 * @param {string} place.where Such as "layer 3, head 1".
 * @param {string[]} place.keys
 * @param {number} place.column The index of the key among them.
 * @param {ReturnType<typeof import("../engine/inspection.js").cellOf>} numbers
 * @param {() => void} onClose
 */
function showCell(place, numbers, onClose) {
  const { query, key, value, product, headDim, scaled, masked, weights } = numbers;
  const { from, to, column } = place;
  const products = query.map((number, i) => number * key[i]);
  const largest = (...lists) => Math.max(...lists.flatMap((list) => Array.from(list, Math.abs)));
  const weight = weights[column];
  const step = (title, ...children) => element("div", { class: "cell-step" },
    element("p", {}, title), ...children);
  const both = largest(query, key);
  const score = `Sum ${product.toFixed(2)} ÷ √${headDim} = ${scaled[column].toFixed(2)}`;
  fill(byId("cell"),
    element("div", { class: "card-head" },
      element("h3", {}, place.title),
      element("button", { type: "button", class: "quiet", id: "close-cell", click: onClose },
        "Close")),
    element("p", { class: "meta" }, `${place.where}, ${headDim} numbers each`),
    step(`Query of “${from}”${place.justRead ? ", the token just read" : ""}: what it looks for`,
      numberStrip(query, both)),
    step(`Key of “${to}”: what it offers`, numberStrip(key, both)),
    step("Multiplied, number by number", numberStrip(products, largest(products))),
    element("p", { class: "formula", id: "cell-formula" }, masked[column]
      ? `${score}, masked: −∞, so its weight is 0`
      : `${score}, softmax over ${masked.filter((each) => !each).length} keys: ${weight.toFixed(4)}`),
    step("Softmax: e to the score of each key, divided by the sum for all keys",
      softmaxTable(place.keys, numbers, column)),
    step(`Value of “${to}”, times ${weight.toFixed(2)}: what it passes on`,
      numberStrip(value.map((number) => number * weight), largest(value))));
  byId("cell").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

/**
 * The scores and weights of all keys.
 *
 * @param {string[]} keys
 * @param {ReturnType<typeof import("../engine/inspection.js").cellOf>} numbers
 * @param {number} column The key to mark.
 */
function softmaxTable(keys, { scaled, masked, weights }, column) {
  const row = (token, j) => {
    const share = element("span", { class: "fill" });
    share.style.setProperty("--share", String(weights[j]));
    return element("tr", { "aria-current": j === column && "true" },
      element("th", { scope: "row" }, writeWord([token])),
      element("td", {}, masked[j] ? "masked: −∞" : scaled[j].toFixed(2)),
      element("td", {}, element("span", { class: "track" }, share)),
      element("td", {}, weights[j].toFixed(3)));
  };
  return element("div", {
    class: "scroll softmax", tabindex: "0", role: "region", "aria-label": "Scores of all keys",
  }, element("table", {}, element("thead", {}, element("tr", {},
    ...["key", "score", "", "weight"].map((title) =>
      (title ? element("th", { scope: "col" }, title) : element("td"))))),
  element("tbody", {}, ...keys.map(row))));
}

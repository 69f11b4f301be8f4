import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { describeCell } from "../../../attention_maps/browser/sentences.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";
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
    this.turn = 0; // of opening and closing
  }

  /** @param {import("../../../attention_maps/browser/attention_view.js").Place} place */
  async open(place) {
    const { sentence, result, changes } = this.session;
    const { kind, layer, head, row, column } = place;
    this.turn += 1;
    const { turn } = this;
    try {
      const asked = { ...sentence, prefix: result.ids, ...changes, ...place };
      const { result: numbers } = await this.engine.ask("cell", asked);
      if (turn !== this.turn || result !== this.session.result) return;
      const { queries, keys } = result.maps[kind];
      const all = { words: false, special: true };
      const rows = kind === "encoder" ? entriesOf(queries, all)
        : stepsOf(queries, { ...all, byRead: false });
      const at = (entries, position) => entries.find(({ positions }) => positions.includes(position));
      const [from, to] = [at(rows, row), at(entriesOf(keys, all), column)];
      showCell({
        title: describeCell(kind, from, to), from: "read" in from ? from.read.label : from.label,
        justRead: "read" in from, to: to.label, keys, column,
        where: localize("layer {layer}, head {head}: {count} numbers each",
          { layer: layer + 1, head: head + 1, count: numbers.headDim }),
      }, numbers, () => this.close());
    } catch (error) {
      if (turn === this.turn) showProblem(error);
      return;
    }
    byId("cell").hidden = false;
    byId("heads-panel").hidden = true;
    byId("close-cell").focus({ preventScroll: innerWidth > 992 });
  }

  close() {
    this.turn += 1;
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
 * @param {string} place.where Its layer and head.
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
  const values = {
    sum: decimal(product, 2), size: headDim, score: decimal(scaled[column], 2),
    count: masked.filter((each) => !each).length, weight: decimal(weight, 4),
  };
  fill(byId("cell"),
    element("div", { class: "card-head" },
      element("h3", {}, place.title),
      element("button", { type: "button", class: "quiet", id: "close-cell", click: onClose },
        localize("Close"))),
    element("p", { class: "meta" }, place.where),
    step(place.justRead
      ? localize("Query of “{word}”, which was just said: what it looks for", { word: from })
      : localize("Query of “{word}”: what it looks for", { word: from }), numberStrip(query, both)),
    step(localize("Key of “{word}”: what it offers", { word: to }), numberStrip(key, both)),
    step(localize("Multiplied, number by number"), numberStrip(products, largest(products))),
    element("p", { class: "formula", id: "cell-formula" }, masked[column]
      ? localize("Sum {sum} ÷ √{size} = {score}, masked: −∞, so its weight is 0", values)
      : localize("Sum {sum} ÷ √{size} = {score}, softmax over {count} keys: {weight}", values)),
    step(localize("Softmax: e to the score of each key, divided by the sum for all keys"),
      softmaxTable(place.keys, numbers, column)),
    step(localize("Value of “{word}”, times {weight}: what it passes on", { word: to, weight: decimal(weight, 2) }),
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
      element("td", {}, masked[j] ? localize("masked: −∞") : decimal(scaled[j], 2)),
      element("td", {}, element("span", { class: "track" }, share)),
      element("td", {}, decimal(weights[j], 3)));
  };
  return element("div", {
    class: "scroll softmax", tabindex: "0", role: "region", "aria-label": localize("Scores of all keys"),
  }, element("table", {}, element("thead", {}, element("tr", {},
    ...[localize("key"), localize("score"), "", localize("weight")].map((title) =>
      (title ? element("th", { scope: "col" }, title) : element("td"))))),
  element("tbody", {}, ...keys.map(row))));
}

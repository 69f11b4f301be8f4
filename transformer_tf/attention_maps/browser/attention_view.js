import { byId, element, fill } from "./dom.js";
import { HeatMap, inkColor, smallMap } from "./heat_map.js";
import { clearestHead, KINDS, weightsOf } from "./scores.js";
import { entriesOf } from "./tokens.js";

/**
 * What to show.
 *
 * @typedef {object} Shown
 * @property {Record<string, import("./scores.js").AttentionMap>} maps By kind.
 * @property {{source: string, target: string}} languages
 * @property {number|null} rows Number of target rows that are there yet; null for all.
 * @property {Set<string>} silenced Heads without output: `kind.layer.head`.
 *
 * @typedef {object} Pointed
 * @property {string} kind
 * @property {import("./tokens.js").Entry|null} query
 * @property {import("./tokens.js").Entry|null} key
 * @property {Map<number, number>} queries Weights of the positions of queries.
 * @property {Map<number, number>} keys Weights of the positions of keys.
 */

/** The heads of a kind of attention, small, and one of them large. */
export class AttentionView {
  /**
   * @param {object} options
   * @param {(pointed: Pointed|null) => void} options.onPoint
   * @param {(cell: {kind: string, layer: number, head: number, row: number, column: number}) =>
   *   void} [options.onOpen] For a click on a cell of two single tokens.
   * @param {() => void} [options.onDraw] Called when another head is shown.
   * @param {[number, number][]} [options.favourites] Heads of the cross-attention to open on.
   */
  constructor({ onPoint, onOpen, onDraw = () => {}, favourites = [] }) {
    Object.assign(this, { onPoint, onDraw, favourites });
    this.state = { kind: "cross", layer: 0, head: 0, words: false, special: true };
    this.chosen = false; // whether a head was chosen
    /** @type {Shown|null} */
    this.shown = null;
    this.map = new HeatMap(byId("map"), (row, column) => this.point(row, column), onOpen
      && ((row, column) => this.open(row, column, onOpen)));
    byId("words").addEventListener("change", ({ target }) => this.choose({ words: target.checked }));
    byId("special").addEventListener("change", ({ target }) =>
      this.choose({ special: target.checked }));
    byId("heads").addEventListener("keydown", (event) => moveInGrid(event, byId("heads")));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** @param {Shown} shown */
  show(shown) {
    this.shown = shown;
    const { state } = this;
    if (!(state.kind in shown.maps)) state.kind = Object.keys(shown.maps)[0];
    if (!this.chosen) this.chooseClearest();
    this.draw();
  }

  /** @param {Partial<AttentionView["state"]>} changes */
  choose(changes) {
    Object.assign(this.state, changes);
    if ("layer" in changes) this.chosen = true;
    else if ("kind" in changes) this.chooseClearest();
    this.draw();
  }

  /** The head to open on: of the favourites, else of all, the one that says most. */
  chooseClearest() {
    const { kind } = this.state;
    const map = this.shown.maps[kind];
    const all = Array.from({ length: map.layers * map.heads }, (_, i) =>
      /** @type {[number, number]} */ ([Math.floor(i / map.heads), i % map.heads]));
    const known = kind === "cross" ? this.favourites.filter(([layer, head]) =>
      layer < map.layers && head < map.heads) : [];
    const candidates = known.length ? known : all;
    const entries = (tokens) => entriesOf(tokens, { words: false, special: true });
    [this.state.layer, this.state.head] =
      clearestHead(map, candidates, entries(map.queries), entries(map.keys));
  }

  draw() {
    const { kind, words, special } = this.state;
    const { maps, rows } = this.shown;
    const map = maps[kind];
    const options = { words, special };
    this.queries = entriesOf(map.queries, options).filter(({ positions }) =>
      kind === "encoder" || rows === null || positions[0] < rows);
    this.keys = entriesOf(map.keys, options);
    this.drawKinds();
    this.drawHeads(map);
    this.drawMap(map);
    this.point(null, null);
    this.onDraw();
  }

  drawKinds() {
    fill(byId("kinds"), ...Object.keys(this.shown.maps).map((kind) => element("button", {
      type: "button", "data-kind": kind, "data-key": kind,
      "aria-pressed": String(kind === this.state.kind), click: () => this.choose({ kind }),
    }, KINDS[kind].title, element("span", { class: "more" }, KINDS[kind].more))));
    byId("what").textContent = KINDS[this.state.kind].what;
  }

  /** @param {import("./scores.js").AttentionMap} map */
  drawHeads(map) {
    const { kind, layer: chosenLayer, head: chosenHead } = this.state;
    const ink = inkColor();
    const grid = byId("heads");
    grid.style.setProperty("--heads", String(map.heads));
    const cells = [element("span", { class: "name" })];
    for (let head = 0; head < map.heads; head++) {
      cells.push(element("span", { class: "name" }, String(head + 1)));
    }
    for (let layer = 0; layer < map.layers; layer++) {
      cells.push(element("span", { class: "name" }, `Layer ${layer + 1}`));
      for (let head = 0; head < map.heads; head++) {
        const pressed = layer === chosenLayer && head === chosenHead;
        const silenced = this.shown.silenced.has(`${kind}.${layer}.${head}`);
        cells.push(element("button", {
          type: "button", "aria-pressed": String(pressed), tabindex: pressed ? 0 : -1,
          "aria-label": `Layer ${layer + 1}, head ${head + 1}${silenced ? ", silenced" : ""}`,
          class: silenced && "silenced", "data-layer": layer, "data-head": head,
          "data-key": `${layer}.${head}`, click: () => this.choose({ layer, head }),
        }, smallMap(weightsOf(map, layer, head, this.queries, this.keys), ink)));
      }
    }
    fill(grid, ...cells);
  }

  /** @param {import("./scores.js").AttentionMap} map */
  drawMap(map) {
    const { kind, layer, head } = this.state;
    const { languages: { source, target } } = this.shown;
    this.weights = weightsOf(map, layer, head, this.queries, this.keys);
    byId("chosen").textContent = `Layer ${layer + 1}, head ${head + 1}`;
    this.map.draw(this.queries, this.keys, this.weights, {
      encoder: { rows: `${source}, looking ↓`, columns: `${source}, looked at →` },
      decoder: { rows: `${target}, as it is said ↓`, columns: `${target}, already said →` },
      cross: { rows: `${target}, as it is said ↓`, columns: `${source}, looked at →` },
    }[kind]);
  }

  /**
   * @param {number|null} row
   * @param {number|null} column
   */
  point(row, column) {
    const { queries, keys, weights } = this;
    byId("status").textContent = describe(queries, keys, weights, row, column);
    if (row === null && column === null) {
      this.onPoint(null);
      return;
    }
    const spread = (entries, weightOf) => new Map(entries.flatMap(({ positions }, i) =>
      positions.map((position) => [position, weightOf(i) / positions.length])));
    const only = (chosen) => (i) => (i === chosen ? 1 : 0);
    this.onPoint({
      kind: this.state.kind,
      query: row === null ? null : queries[row],
      key: column === null ? null : keys[column],
      queries: spread(queries, row === null ? (i) => weights[i][column] : only(row)),
      keys: spread(keys, row === null ? only(column) : (j) => weights[row][j]),
    });
  }

  /** Points at the row of a token of the target, or of the source if there is such a row. */
  pointAtToken(position, side) {
    const { kind } = this.state;
    const rows = side === (kind === "encoder" ? "source" : "target");
    const entries = rows ? this.queries : this.keys;
    const index = entries.findIndex(({ positions }) => positions.includes(position));
    if (index < 0 || (side === "source" && kind === "decoder")
      || (side === "target" && kind === "encoder")) return;
    this.map.point(rows ? index : null, rows ? null : index);
  }

  open(row, column, onOpen) {
    const { kind, layer, head } = this.state;
    const [query, key] = [this.queries[row].positions, this.keys[column].positions];
    onOpen({ kind, layer, head, row: query[0], column: key[0] });
  }
}

/** What a choice says, in words. */
function describe(queries, keys, weights, row, column) {
  if (!queries.length || !keys.length) return "Nothing is left to show.";
  if (row === null && column === null) return "Point at a word, a row or a cell.";
  const strongest = (entries, weightOf) => entries
    .map(({ label }, i) => ({ label, weight: weightOf(i) }))
    .sort((one, other) => other.weight - one.weight)
    .slice(0, 4)
    .map(({ label, weight }) => `${label} ${weight.toFixed(2)}`)
    .join(", ");
  if (row !== null && column !== null) {
    return `“${queries[row].label}” looks at “${keys[column].label}”: ${
      weights[row][column].toFixed(2)}`;
  }
  return row !== null
    ? `“${queries[row].label}” looks at: ${strongest(keys, (j) => weights[row][j])}`
    : `“${keys[column].label}” is looked at by: ${strongest(queries, (i) => weights[i][column])}`;
}

/** Moves the focus among the buttons of the small maps. */
function moveInGrid(event, grid) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const { layer, head } = event.target.dataset;
  if (!steps[event.key] || layer === undefined) return;
  event.preventDefault();
  const [down, across] = steps[event.key];
  const next = `[data-layer="${Number(layer) + down}"][data-head="${Number(head) + across}"]`;
  grid.querySelector(next)?.focus();
}

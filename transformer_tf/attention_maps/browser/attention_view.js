import { PAUSE_OF_CHIPS } from "./chips.js";
import { byId, element, fill, themeColor } from "./dom.js";
import { drawSmallMap, HeatMap } from "./heat_map.js";
import { clearestHead, KINDS, weightsOf } from "./scores.js";
import { describeCell, describeColumn, describeRow } from "./sentences.js";
import { decimal, localize } from "./texts.js";
import { entriesOf, stepsOf } from "./tokens.js";

/**
 * The content of the view.
 *
 * @typedef {object} Shown
 * @property {Record<string, import("./scores.js").AttentionMap>} maps By kind.
 * @property {import("./scores.js").Languages} languages
 * @property {[number, number][]} alignmentHeads Heads of the cross-attention to open on: layer and
 *   head, from 0.
 * @property {"output"|"input"} alignmentQuery Which token the rows of these heads align: the one
 *   that is chosen there, or the one that was read.
 * @property {number|null} rows Number of target rows to show; null for all.
 * @property {Set<string>} silenced Heads without output: `kind.layer.head`.
 *
 * @typedef {Record<import("./scores.js").Side, Map<number, number>>} Lit The weights of the tokens
 *   at the positions of each side.
 *
 * @typedef {object} Place A cell of a map of single tokens.
 * @property {string} kind
 * @property {number} layer
 * @property {number} head
 * @property {number} row
 * @property {number} column
 */

/** Small maps of all heads of a kind of attention, and one large map. */
export class AttentionView {
  /**
   * @param {object} options
   * @param {(lit: Lit) => void} options.onPoint
   * @param {(place: Place) => void} [options.onOpen] For a click on a cell.
   * @param {() => void} [options.onDraw] Called when another head is shown.
   */
  constructor({ onPoint, onOpen, onDraw = () => {} }) {
    this.onPoint = onPoint;
    this.onDraw = onDraw;
    this.state = { kind: "cross", layer: 0, head: 0, words: false, special: true };
    this.chosen = false; // whether a head was chosen, by the user or as the clearest
    /** @type {Shown|null} */
    this.shown = null;
    this.leaving = 0; // the timer that ends pointing at a chip
    /** @type {{side: import("./scores.js").Side|null, position: number}} The token with a marked row. */
    this.marked = { side: null, position: 0 };
    /** @type {import("./sentences.js").Row[]} */
    this.queries = [];
    /** @type {import("./tokens.js").Entry[]} */
    this.keys = [];
    /** @type {number[][]} */
    this.weights = [];
    /** @type {number[]|null} The weight of each row at start and end, if these are hidden. */
    this.rests = null;
    /** @type {Map<string, HTMLCanvasElement>} The small maps, reused because that is faster. */
    this.canvases = new Map();
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
    this.chosen = true;
    this.draw();
  }

  /** @param {Partial<AttentionView["state"]>} changes */
  choose(changes) {
    Object.assign(this.state, changes);
    if ("kind" in changes) this.chooseClearest();
    this.draw();
  }

  /** The head to open on: the clearest one, among the alignment heads if they are known. */
  chooseClearest() {
    const { kind } = this.state;
    const map = this.shown.maps[kind];
    const all = Array.from({ length: map.layers * map.heads }, (_, i) =>
      /** @type {[number, number]} */ ([Math.floor(i / map.heads), i % map.heads]));
    const known = kind === "cross" ? this.shown.alignmentHeads : [];
    const candidates = known.length ? known : all;
    const entries = (tokens) => entriesOf(tokens, { words: false, special: true });
    [this.state.layer, this.state.head] =
      clearestHead(map, candidates, entries(map.queries), entries(map.keys));
  }

  /** Whether the head is known to align words. */
  get aligns() {
    const { kind, layer, head } = this.state;
    return kind === "cross" && this.shown.alignmentHeads.some(([ofLayer, number]) =>
      ofLayer === layer && number === head);
  }

  /** Whether the head aligns the token that was read, so that it is one row below its choice. */
  get byRead() {
    return this.aligns && this.shown.alignmentQuery === "input";
  }

  draw() {
    const { kind, words, special } = this.state;
    if (!this.shown) return;
    const { maps, rows } = this.shown;
    const map = maps[kind];
    const options = { words, special };
    this.queries = kind === "encoder" ? entriesOf(map.queries, options)
      : stepsOf(map.queries, { ...options, byRead: this.byRead })
        .filter(({ positions }) => rows === null || positions[0] < rows);
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
    }, KINDS[kind].title())));
    // No line ends with the arrow.
    byId("what").textContent = KINDS[this.state.kind].what(this.shown.languages).replaceAll("▸ ", "▸\u00a0");
    byId("aligns").textContent = !this.aligns ? "" : this.byRead
      ? localize("This head aligns words: it mostly looks at the word that was just translated.")
      : localize("This head aligns words: it mostly looks at the word that is translated next.");
    byId("sum").textContent = this.state.special
      ? localize("The stronger a color, the more the model looks there; a row adds up to 1.")
      : localize("The stronger a color, the more the model looks there; a row adds up to 1 with “elsewhere”: start and end.");
  }

  /** @param {import("./scores.js").AttentionMap} map */
  drawHeads(map) {
    const { kind, layer: chosenLayer, head: chosenHead } = this.state;
    const ink = themeColor("ink");
    const grid = byId("heads");
    grid.style.setProperty("--heads", String(map.heads));
    const cells = [element("span", { class: "name" })];
    for (let head = 0; head < map.heads; head++) {
      cells.push(element("span", { class: "name" }, String(head + 1)));
    }
    for (let layer = 0; layer < map.layers; layer++) {
      cells.push(element("span", { class: "name" }, localize("Layer {layer}", { layer: layer + 1 })));
      for (let head = 0; head < map.heads; head++) {
        const key = `${layer}.${head}`;
        const canvas = this.canvases.get(key) ?? element("canvas", { "aria-hidden": "true" });
        this.canvases.set(key, canvas);
        drawSmallMap(canvas, weightsOf(map, layer, head, this.queries, this.keys), ink);
        const pressed = layer === chosenLayer && head === chosenHead;
        const silenced = this.shown.silenced.has(`${kind}.${layer}.${head}`);
        cells.push(element("button", {
          type: "button", "aria-pressed": String(pressed), tabindex: pressed ? 0 : -1,
          "aria-label": silenced ? localize("{head}, silenced", { head: nameOf(layer, head) })
            : nameOf(layer, head),
          class: silenced && "silenced", "data-layer": layer, "data-head": head,
          "data-key": key, click: () => this.choose({ layer, head }),
        }, canvas));
      }
    }
    fill(grid, ...cells);
  }

  /** @param {import("./scores.js").AttentionMap} map */
  drawMap(map) {
    const { kind, layer, head } = this.state;
    const { rows, columns } = KINDS[kind].axes(this.shown.languages);
    this.weights = weightsOf(map, layer, head, this.queries, this.keys);
    this.rests = this.state.special ? null : this.weights.map((row) =>
      Math.max(0, 1 - row.reduce((sum, weight) => sum + weight, 0)));
    byId("chosen").textContent = nameOf(layer, head);
    byId("map").classList.toggle("by-read", this.byRead);
    const axes = { rows: `${rows} ↓`, columns: `${columns} →` };
    this.map.draw(this.queries, this.keys, this.weights, axes, this.rests, (row, column) => kind === "decoder"
      && this.keys[column].positions[0] > this.queries[row].positions.at(-1));
    this.markRow();
  }

  /**
   * Marks the row of a token, if it has one.
   *
   * @param {import("./scores.js").Side|null} side Null for none.
   * @param {number} position
   */
  mark(side, position) {
    this.marked = { side, position };
    this.markRow();
  }

  markRow() {
    const { side, position } = this.marked;
    const row = this.rowOf(side, position);
    for (const header of byId("map").querySelectorAll("th[data-row]")) {
      header.setAttribute("aria-current", String(Number(header.dataset.row) === row));
    }
  }

  /**
   * The row of a token, or -1.
   *
   * @param {import("./scores.js").Side|null} side
   * @param {number} position
   */
  rowOf(side, position) {
    if (side !== KINDS[this.state.kind].rows) return -1;
    return this.queries.findIndex(({ positions }) => positions.includes(position + Number(this.byRead)));
  }

  /**
   * @param {number|null} row
   * @param {number|null} column
   */
  point(row, column) {
    clearTimeout(this.leaving);
    const { queries, keys, weights } = this;
    const said = this.describe(row, column);
    // The same text again would be announced again.
    if (byId("status").textContent !== said) byId("status").textContent = said;
    /** @type {Lit} */
    const lit = { source: new Map(), target: new Map() };
    const { rows, columns, ahead } = KINDS[this.state.kind];
    const only = (chosen) => (i) => (i === chosen ? 1 : 0);
    const read = Number(this.byRead);
    if (column !== null) {
      lit[rows] = spread(queries, (i) => weights[i][column], read);
      if (rows !== columns) lit[columns] = spread(keys, only(column), ahead);
    }
    if (row !== null) {
      if (rows !== columns) lit[rows] = spread(queries, only(row), read);
      lit[columns] = spread(keys, (j) => weights[row][j], ahead);
    }
    this.onPoint(lit);
  }

  /**
   * What the chosen row, column or cell says.
   *
   * @param {number|null} row
   * @param {number|null} column
   */
  describe(row, column) {
    const { queries, keys, weights, rests } = this;
    if (!queries.length || !keys.length) return localize("Nothing is left to show.");
    if (row === null && column === null) return localize("Point at a word or a square.");
    if (row === null) return describeColumn(keys[column], queries, weights.map((all) => all[column]));
    if (column === null) return describeRow(queries[row], keys, weights[row], rests?.[row] ?? 0);
    return `${describeCell(this.state.kind, queries[row], keys[column])}: ${
      decimal(weights[row][column], 2)}`;
  }

  /**
   * Listeners for a chip: they point at the row of its token, or at the column if it has no row.
   *
   * @param {import("./tokens.js").Entry} entry
   * @param {import("./scores.js").Side} side
   */
  pointing({ positions: [position] }, side) {
    const point = () => {
      clearTimeout(this.leaving);
      const { columns, ahead } = KINDS[this.state.kind];
      const row = this.rowOf(side, position);
      const column = side !== columns ? -1
        : this.keys.findIndex(({ positions }) => positions.includes(position + ahead));
      if (row >= 0) this.map.point(row, null);
      else if (column >= 0) this.map.point(null, column);
    };
    // From one chip to the next the map stays pointed at: all cells change when it does not.
    const leave = () => {
      this.leaving = setTimeout(() => this.map.point(null, null), PAUSE_OF_CHIPS);
    };
    return { pointerenter: point, pointerleave: leave, focus: point, click: point };
  }

  /**
   * @param {number} row
   * @param {number} column
   * @param {(place: Place) => void} onOpen
   */
  open(row, column, onOpen) {
    const { kind, layer, head } = this.state;
    const [query, key] = [this.queries[row].positions, this.keys[column].positions];
    onOpen({ kind, layer, head, row: query[0], column: key[0] });
  }
}

/** @type {(layer: number, head: number) => string} */
const nameOf = (layer, head) =>
  localize("Layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });

/**
 * Spreads the weights of entries over the tokens of a side.
 *
 * @param {import("./sentences.js").Row[]} entries
 * @param {(i: number) => number} weightOf
 * @param {number} ahead Number of tokens before the first one of the side.
 */
function spread(entries, weightOf, ahead) {
  return new Map(entries.flatMap(({ positions }, i) => positions.map((position) =>
    /** @type {[number, number]} */ ([position - ahead, weightOf(i) / positions.length]))));
}

/** Moves the focus between the small maps. */
function moveInGrid(event, grid) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const { layer, head } = event.target.dataset;
  if (!steps[event.key] || layer === undefined) return;
  event.preventDefault();
  const [down, across] = steps[event.key];
  const next = `[data-layer="${Number(layer) + down}"][data-head="${Number(head) + across}"]`;
  grid.querySelector(next)?.focus();
}

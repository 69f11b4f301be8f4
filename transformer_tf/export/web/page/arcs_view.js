import { PAUSE_OF_CHIPS, TokenStrips } from "../../../attention_maps/browser/chips.js";
import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { weightsOf } from "../../../attention_maps/browser/scores.js";
import { largest, listing } from "../../../attention_maps/browser/sentences.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";
import { entriesOf, writeWord } from "../../../attention_maps/browser/tokens.js";
import { languageName } from "./languages.js";
import { Session } from "./session.js";

const THICKEST = 9; // pixels of an arc of weight 1
const THINNEST = 0.05; // weight of an arc
const [ABOVE, BELOW, BESIDE] = [2, 13, 2]; // pixels from a word to its share
const HALF_LETTER = 5; // pixels of a share above the middle of its word
const NARROW = 640; // pixels; on a narrower screen no sentence takes two lines

/** @typedef {import("../../../attention_maps/browser/tokens.js").Entry} Entry */

/**
 * The sentence above its translation, with an arc from each word to those that it looks at. Where a
 * sentence does not fit on a line, both are columns, so that no arc crosses a word.
 */
export class ArcsView {
  /**
   * @param {Session} session
   * @param {(word: HTMLElement, position: number) => void} onChoose Called for a click on a word of
   *   the translation, with the position of its first token.
   */
  constructor(session, onChoose) {
    this.session = session;
    this.onChoose = onChoose;
    this.strips = new TokenStrips({ source: byId("arc-source"), target: byId("arc-target") });
    /** @type {Record<import("../../../attention_maps/browser/scores.js").Side, Entry[]>} */
    this.words = { source: [], target: [] };
    /** @type {number[][]} For each word of the translation, the weights of the sentence's words. */
    this.weights = [];
    /** @type {{side: "source"|"target"|null, index: number|null}} */
    this.pointed = { side: null, index: null };
    /** @type {SVGElement[]} The arcs, each with its `data-source` and `data-target`. */
    this.arcs = [];
    /** @type {SVGElement[]} The arcs of the word that is pointed at. */
    this.lit = [];
    this.leaving = 0; // the timer that ends pointing at a word
    // Later, because columns change the size again.
    new ResizeObserver(() => requestAnimationFrame(() => this.drawArcs())).observe(byId("arcs"));
  }

  draw() {
    const { cross } = this.session.result.maps;
    const options = { words: true, special: false };
    this.words = { source: entriesOf(cross.keys, options), target: entriesOf(cross.queries, options) };
    this.weights = meanWeights(this.session, this.words);
    const letters = [...this.words.source, ...this.words.target].reduce((sum, { label }) =>
      sum + label.length, 0);
    byId("arcs").classList.toggle("dense", letters > 120);
    for (const side of /** @type {const} */ (["source", "target"])) {
      this.strips.draw(side, this.words[side], (entry, index) => {
        const point = () => this.point(side, index);
        const leave = () => this.point(null, null);
        // From one word to the next the others stay faded: all arcs change when they do not.
        const pause = ({ pointerType }) => {
          if (pointerType !== "touch") this.leaving = setTimeout(leave, PAUSE_OF_CHIPS);
        };
        const blur = ({ relatedTarget }) => byId("alternatives").contains(relatedTarget) || leave();
        const click = ({ currentTarget }) => {
          point();
          if (side === "target") this.onChoose(currentTarget, entry.positions[0]);
        };
        return {
          class: side === "target" && this.timeOf(entry),
          "aria-haspopup": side === "target" && "dialog",
          pointerenter: point, focus: point, click, pointerleave: pause, blur,
        };
      });
    }
    this.hideUnsaid();
    byId("arcs-source").textContent = this.describeHeads();
    this.point(null, null);
    this.drawArcs();
  }

  /**
   * Marks the word of a token.
   *
   * @param {"source"|"target"|null} side Null for none.
   * @param {number} position
   */
  mark(side, position) {
    this.strips.mark("source", side === "source" ? position : null);
    this.strips.mark("target", side === "target" ? position : null);
  }

  /** Whether the player has not said a word yet. */
  isLater({ positions }) {
    const { rows } = this.session;
    return rows !== null && positions[0] >= rows;
  }

  /** A word's class: whether the player says it later, or has just said a part of it. */
  timeOf(entry) {
    return this.isLater(entry) ? "later" : entry.positions.includes(this.session.rows - 1) && "new";
  }

  /** Hides the tokens of the newest word that are not said yet. */
  hideUnsaid() {
    const { rows, result: { maps: { cross: { queries } } } } = this.session;
    const index = this.words.target.findIndex(({ positions }) =>
      positions[0] < rows && positions.at(-1) >= rows);
    if (rows === null || index < 0) return;
    const { label, positions } = this.words.target[index];
    const said = writeWord(positions.filter((each) => each < rows).map((each) => queries[each]));
    fill(byId("arc-target").children[index], said,
      element("span", { class: "later" }, label.slice(said.length)));
  }

  /**
   * Makes columns of the sentences if the screen is narrow and one of them takes two lines.
   *
   * @returns {boolean} Whether they are columns.
   */
  layOut() {
    const { classList, clientWidth } = byId("arcs");
    classList.remove("upright");
    const wraps = ({ firstElementChild: first, lastElementChild: last }) => last?.offsetTop > first?.offsetTop;
    return classList.toggle("upright",
      clientWidth < NARROW && [byId("arc-source"), byId("arc-target")].some(wraps));
  }

  /** Draws the arcs where the words are now. */
  drawArcs() {
    const svg = byId("arc-lines");
    const isUpright = this.layOut();
    // Where the arcs of a word begin, and where its shares are; even while it moves.
    const [sources, targets] = ["source", "target"].map((side) =>
      Array.from(byId(`arc-${side}`).children, (word) => {
        const { offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height } = word;
        const [right, bottom, isSource] = [left + width, top + height, side === "source"];
        const [x, y] = [left + width / 2, top + height / 2];
        return isUpright
          ? { x: isSource ? right : left, y,
            share: { x: isSource ? left - BESIDE : right + BESIDE, y: y + HALF_LETTER } }
          : { x, y: isSource ? bottom : top, share: { x, y: isSource ? top - ABOVE : bottom + BELOW } };
      }));
    const paths = this.weights.flatMap((row, t) => (this.isLater(this.words.target[t]) ? [] : row
      .map((weight, s) => {
        if (weight < THINNEST) return null;
        const [{ x: x1, y: y1 }, { x: x2, y: y2 }] = [targets[t], sources[s]];
        const [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2];
        const curve = isUpright ? `${x} ${y1} ${x} ${y2}` : `${x1} ${y} ${x2} ${y}`;
        const arc = element("svg:path", {
          d: `M${x1} ${y1}C${curve} ${x2} ${y2}`,
          "stroke-width": (weight * THICKEST).toFixed(2),
          pathLength: 1,
        });
        const share = (place) => element("svg:text", place, decimal(weight, 2));
        const isNew = this.words.target[t].positions.includes(this.session.rows - 1);
        return element("svg:g", { "data-source": s, "data-target": t, class: isNew && "new" }, arc,
          share(sources[s].share), share(targets[t].share));
      }))).filter(Boolean);
    this.arcs = paths;
    this.lit = [];
    fill(svg, ...paths);
    this.lightArcs();
  }

  /** Brings the arcs of the chosen word out. */
  lightArcs() {
    const { side, index } = this.pointed;
    for (const arc of this.lit) arc.classList.remove("lit");
    this.lit = side === null ? [] : this.arcs.filter(({ dataset }) => dataset[side] === String(index));
    for (const arc of this.lit) arc.classList.add("lit");
  }

  /**
   * Shows the arcs of one word, or of all.
   *
   * @param {"source"|"target"|null} side
   * @param {number|null} index
   */
  point(side, index) {
    const { words, weights } = this;
    clearTimeout(this.leaving);
    this.pointed = { side, index };
    this.lightArcs();
    const { classList, dataset } = byId("arcs");
    classList.toggle("pointed", side !== null);
    if (side && dataset.side !== side) dataset.side = side;
    const lit = { source: new Map(), target: new Map() };
    if (side) {
      const other = side === "source" ? "target" : "source";
      lit[side].set(words[side][index].positions[0], 1);
      words[other].forEach(({ positions }, i) => {
        const weight = side === "source" ? weights[i][index] : weights[index][i];
        if (weight >= THINNEST) lit[other].set(positions[0], weight);
      });
    }
    this.strips.light(lit);
    byId("arcs-told").textContent = this.describe(side, index);
  }

  describe(side, index) {
    const { words, weights, session: { model } } = this;
    if (side === null) return instructionOf(model);
    const { label } = words[side][index];
    if (side === "source") {
      const list = listing(largest(words.target, weights.map((row) => row[index])));
      return localize("The model looks at “{word}” to say: {list}", { word: label, list });
    }
    const listed = largest(words.source, weights[index]);
    const rest = 1 - listed.reduce((sum, { weight }) => sum + weight, 0);
    const values = { word: label, list: listing(listed), rest: decimal(Math.max(0, rest), 2) };
    return model.alignment_query === "input"
      ? localize("After reading “{word}”, the model looks at: {list}; elsewhere {rest}", values)
      : localize("To choose “{word}”, the model looks at: {list}; elsewhere {rest}", values);
  }

  describeHeads() {
    const { alignment_heads: heads } = this.session.model;
    if (!heads.length) return localize("The lines are the mean of all heads of the last layer.");
    if (heads.length === 1) {
      const [[layer, head]] = heads;
      return localize("The lines are head {head} of layer {layer}, which aligns words.",
        { layer: layer + 1, head: head + 1 });
    }
    return localize("The lines are the mean of heads {heads} of layer {layer}, which align words.",
      { heads: heads.map(([, head]) => head + 1).join(", "), layer: heads[0][0] + 1 });
  }
}

/** @param {import("./session.js").Model} model */
function instructionOf({ languages: { source, target } }) {
  return localize("Every {target} word looks back at the {source}. Point at one.",
    { source: languageName(source), target: languageName(target) });
}

/**
 * The mean of the heads that align words, or of all heads of the last layer if none are known.
 *
 * @param {Session} session
 * @param {Record<"source"|"target", Entry[]>} words
 * @returns {number[][]}
 */
function meanWeights({ model, result }, words) {
  const { cross } = result.maps;
  const heads = model.alignment_heads.length ? model.alignment_heads
    : Array.from({ length: cross.heads }, (_, head) => [cross.layers - 1, head]);
  const shift = Number(model.alignment_query === "input");
  const keys = words.source.map((word) => withLetters(word, cross.keys));
  const queries = words.target.map((word) => withLetters(word, cross.queries))
    .map((word) => ({ ...word, positions: word.positions.map((position) => position + shift) }));
  const maps = heads.map(([layer, head]) => weightsOf(cross, layer, head, queries, keys));
  return queries.map((_, t) => keys.map((_, s) =>
    maps.reduce((sum, map) => sum + map[t][s], 0) / maps.length));
}

/**
 * A word without its punctuation, whose weights say little about it.
 *
 * @param {Entry} word
 * @param {string[]} tokens
 */
function withLetters(word, tokens) {
  const chosen = word.positions.filter((position) => /[\p{L}\p{N}]/u.test(tokens[position]));
  return chosen.length ? { ...word, positions: chosen } : word;
}

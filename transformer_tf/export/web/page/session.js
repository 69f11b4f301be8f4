/**
 * What the worker tells of a model: the header of its pack, and what computes.
 *
 * @typedef {Omit<import("../engine/pack.js").Header, "tokenizers"|"tensors">
 *   & {engine: "wasm"|"plain"}} Model
 *
 * @typedef {ReturnType<import("../engine/translator.js").Translator["translate"]>} Result
 */

/** What the user has chosen; all that is shown follows from it. */
export class Session {
  constructor() {
    /** @type {Model|null} Null while one is being loaded. */
    this.model = null;
    /** @type {Result|null} Null without text. */
    this.result = null;
    this.text = ""; // what was translated
    /** @type {Result|null} The translation without changes to the model, if there are any. */
    this.unchanged = null;
    this.draw = 0; // number of the random draws
    this.begin();
    this.restore();
  }

  /** A new sentence: what was chosen for the old one is over. */
  begin() {
    /** @type {number[]} Ids that the translation begins with. */
    this.prefix = [];
    /** @type {number|null} Number of tokens that are said yet; null for all. */
    this.rows = null;
    this.position = 0; // the token whose alternatives are shown
    /** @type {Set<number>} Positions of the source that nothing may attend to. */
    this.hidden = new Set();
  }

  /** The model as it was trained. */
  restore() {
    /** @type {Set<string>} Heads without output: `kind.layer.head`. */
    this.silenced = new Set();
    this.hidden = new Set();
    this.padding = 0;
    this.positions = true;
  }

  /** Whether the model computes something else than it was trained to. */
  get isChanged() {
    return this.silenced.size > 0 || this.hidden.size > 0 || this.padding > 0 || !this.positions;
  }

  /** How the model is changed, as a request to the worker says it. */
  get changes() {
    return {
      silenced: [...this.silenced], hidden: [...this.hidden], padding: this.padding,
      positions: this.positions,
    };
  }

  /**
   * Lets a token be said at the position that is shown.
   *
   * @param {number} id
   */
  force(id) {
    this.prefix = [...this.result.ids.slice(0, this.position), id];
    this.rows = null;
  }

  /**
   * Silences heads, or lets them speak if all are silent.
   *
   * @param {string[]} names
   */
  toggleHeads(names) {
    const silent = names.every((name) => this.silenced.has(name));
    for (const name of names) {
      if (silent) this.silenced.delete(name);
      else this.silenced.add(name);
    }
  }

  /**
   * Hides tokens of the source, or shows them again.
   *
   * @param {number[]} positions
   */
  toggleHidden(positions) {
    for (const position of positions) {
      if (!this.hidden.delete(position)) this.hidden.add(position);
    }
  }
}

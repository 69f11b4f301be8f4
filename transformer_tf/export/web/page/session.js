/**
 * What the worker returns for a model: the header of its pack, and the kernel's implementation.
 *
 * @typedef {Omit<import("../engine/pack.js").Header, "tokenizers"|"tensors">
 *   & {engine: "wasm"|"plain", vocabulary: number}} Model With the size of the target vocabulary.
 *
 * @typedef {ReturnType<import("../engine/translator.js").Translator["answer"]>} Result
 * @typedef {import("../engine/segments.js").Segment} Segment
 */

/** The user's choices, which determine all that is shown. */
export class Session {
  constructor() {
    /** @type {Model|null} Null while one is being loaded. */
    this.model = null;
    /** @type {Result|null} Null without text. */
    this.result = null;
    /** @type {Segment[]} The sentences of the text, or longer parts if these fit the model. */
    this.segments = [];
    this.chosen = 0; // the number of the sentence that is shown
    /** @type {Pick<Segment, "text"|"allCaps">} The sentence of the result. */
    this.sentence = { text: "", allCaps: false };
    /** @type {Result|null} The translation without changes to the model, if there are any. */
    this.unchanged = null;
    this.isTyping = false; // whether the sentence with the caret is the chosen one
    this.draw = 0; // how often "Draw again" was clicked
    this.begin();
    this.restore();
  }

  /** Resets the choices for a new sentence. */
  begin() {
    /** @type {number[]} Ids that the translation begins with. */
    this.prefix = [];
    /** @type {number|null} Number of tokens shown so far; null for all. */
    this.rows = null;
    /** @type {number|null} The token of the translation that is shown; null for an unsure one. */
    this.position = null;
    this.sourcePosition = 1; // the token of the sentence whose vectors are shown
    /** @type {Set<number>} Positions of the source that nothing may attend to. */
    this.hidden = new Set();
  }

  /** Undoes all changes to the model and to its choices. */
  restore() {
    /** @type {Set<string>} Heads without output: `kind.layer.head`. */
    this.silenced = new Set();
    this.hidden = new Set();
    this.padding = 0;
    this.positions = true;
    this.future = false; // whether the decoder sees later tokens of a known translation
    this.prefix = [];
  }

  /** Whether anything is changed that a search depends on. */
  get isChanged() {
    return this.silenced.size > 0 || this.hidden.size > 0 || this.padding > 0 || !this.positions
      || this.prefix.length > 0;
  }

  /** Whether another sentence has been chosen, or typed, than that of the result. */
  get isOutdated() {
    const { text, allCaps } = this.segments[this.chosen] ?? {};
    return text !== this.sentence.text || allCaps !== this.sentence.allCaps;
  }

  /** The changes to the model, for a request to the worker. */
  get changes() {
    return {
      silenced: [...this.silenced], hidden: [...this.hidden], padding: this.padding,
      positions: this.positions,
    };
  }

  /**
   * Forces a token of the translation.
   *
   * @param {number} id
   * @param {number} position Where.
   */
  force(id, position) {
    this.prefix = [...this.result.ids.slice(0, position), id];
    this.position = position;
    this.rows = null;
  }

  /**
   * Silences heads, or restores them if all are silent.
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

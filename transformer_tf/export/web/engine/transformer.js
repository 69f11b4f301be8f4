import { Decoder, Node } from "./decoder.js";
import { Encoder } from "./encoder.js";
import { Kernel } from "./kernel.js";
import { Dense, Weights } from "./linear.js";
import { Pack } from "./pack.js";
import { PositionalEmbedding } from "./positional.js";

/**
 * Changes to the model while it computes.
 *
 * @typedef {object} Changes
 * @property {Set<string>} silenced Heads without output: `kind.layer.head`, from 0.
 * @property {Set<number>} hidden Source positions that no query may attend to.
 * @property {boolean} future Whether the decoder may attend to later tokens.
 * @property {boolean} positions Whether the source has positions.
 * @property {(kind: string, layer: number, queries: Float32Array[],
 *   memory: import("./attention.js").Memory) => void} [trace] Called at each attention.
 * @property {(stack: "source"|"target", layer: number|null, name: string, x: Float32Array) => void}
 *   [note] Called with the vectors `(count, d_model)` after each sub-layer.
 *
 * @typedef {object} Source
 * @property {number[]} ids
 * @property {import("./attention.js").Memory[]} layers
 * @property {Float32Array[][]} scores For each encoder layer and query, `(num_heads, source_len)`.
 */

/** @type {Changes} */
export const UNCHANGED = {
  silenced: new Set(), hidden: new Set(), future: false, positions: true,
};

/** Figure 1 of "Attention Is All You Need": from token ids to the logits of the next token. */
export class Transformer {
  /**
   * @param {Pack} pack
   * @param {Uint8Array|null} code The kernel in WebAssembly.
   */
  constructor(pack, code) {
    const { model, tensors } = pack.header;
    const sizes = Object.values(tensors).map(({ type, rows, stride }) =>
      16 * Math.ceil((rows * stride * (type === "int8" ? 1 : 4)) / 16));
    const widest = Math.max(
      ...Object.values(tensors).map(({ type, rows, stride }) =>
        type === "float32" ? 0 : Math.max(rows, stride)));
    this.model = model;
    this.kernel = new Kernel(sizes.reduce((sum, size) => sum + size, 0), widest, code);
    const weights = new Weights(pack, this.kernel);
    this.sourceEmbedding = new PositionalEmbedding(weights, "source_embedding", model.d_model);
    this.targetEmbedding = pack.has("target_embedding/embeddings")
      ? new PositionalEmbedding(weights, "target_embedding", model.d_model)
      : this.sourceEmbedding;
    this.encoder = new Encoder(weights, model);
    this.decoder = new Decoder(weights, model);
    this.outputProjection = pack.has("output_projection/kernel")
      ? new Dense(weights, "output_projection") : null;
  }

  /**
   * Encodes the source, once for a whole search.
   *
   * @param {number[]} ids
   * @param {Changes} changes
   * @returns {Source}
   */
  read(ids, changes) {
    const mask = ids.map((id, i) => id !== this.model.pad_id && !changes.hidden.has(i));
    const positions = changes.positions ? ids.map((_, i) => i) : null;
    const x = this.sourceEmbedding.call(ids, positions);
    const { encoded, scores } = this.encoder.call(x, mask, changes);
    return { ids, layers: this.decoder.read(encoded, mask), scores };
  }

  /**
   * Scores the token after each node.
   *
   * @param {Node[]} nodes The newest token of each hypothesis; for a known translation, all its
   *   tokens.
   * @param {Source} source
   * @param {Changes} changes
   * @returns {Float32Array} Logits `(nodes, target_vocab_size)`.
   */
  step(nodes, source, changes) {
    const visible = nodes.map((node) => (changes.future ? nodes : node.path()));
    const x = this.targetEmbedding.call(
      nodes.map((node) => node.id), nodes.map((node) => node.position));
    const hidden = this.decoder.step(x, nodes, visible, source.layers, changes);
    return this.project(hidden, nodes.length);
  }

  /**
   * Scores every token of the target vocabulary for outputs of a decoder layer.
   *
   * @param {Float32Array} hidden `(count, d_model)`
   * @param {number} count
   * @returns {Float32Array} Logits `(count, target_vocab_size)`.
   */
  project(hidden, count) {
    const { norm } = this.decoder;
    const x = norm ? norm.call(hidden) : hidden;
    return this.outputProjection
      ? this.outputProjection.call(x, count) : this.targetEmbedding.project(x, count);
  }
}

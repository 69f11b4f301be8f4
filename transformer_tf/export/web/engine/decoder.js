import { MultiHeadAttention, rowsOf } from "./attention.js";
import { FeedForward } from "./feed_forward.js";
import { Weights } from "./linear.js";
import { LayerNormalization, Residual } from "./normalization.js";

/**
 * A token of a hypothesis, with its cached keys and values. Hypotheses share their beginnings, so
 * the tokens of a search form a tree.
 */
export class Node {
  /**
   * @param {number} id
   * @param {Node|null} parent
   * @param {number} logProb Natural logarithm of the token's probability.
   */
  constructor(id, parent, logProb) {
    this.id = id;
    this.parent = parent;
    /** @type {number} */
    this.position = parent ? parent.position + 1 : 0;
    this.logProb = logProb;
    /** @type {Float32Array[]} The key of each layer, `(d_model,)`. */
    this.keys = [];
    /** @type {Float32Array[]} */
    this.values = [];
    /** @type {Float32Array[]} The scores of each layer, `(num_heads, keys)`. */
    this.selfScores = [];
    /** @type {Float32Array[]} The scores of each layer, `(num_heads, source_len)`. */
    this.crossScores = [];
    /** @type {Float32Array[]} The output of each layer, `(d_model,)`. */
    this.hidden = [];
    /** @type {{id: number, logProb: number}[]} The likeliest next tokens. */
    this.next = [];
  }

  /** The nodes from the start token to this one. */
  path() {
    const nodes = [];
    for (let node = /** @type {Node|null} */ (this); node; node = node.parent) nodes.push(node);
    return nodes.reverse();
  }

  /** The ids of the path, without the start token. */
  ids() {
    return this.path().slice(1).map((node) => node.id);
  }
}

/** Masked self-attention, cross-attention and a feed-forward network (§3.1). */
export class DecoderLayer {
  /**
   * @param {Weights} weights
   * @param {number} number From 0.
   * @param {{num_heads: number, pre_norm: boolean}} model
   */
  constructor(weights, number, model) {
    const name = `decoder/layer_${number + 1}`;
    const residual = (part) => new Residual(weights, `${name}/${part}`, model.pre_norm);
    this.number = number;
    this.selfAttention = new MultiHeadAttention(
      weights, `${name}/self_attention`, model.num_heads);
    this.selfAttentionResidual = residual("self_attention");
    this.crossAttention = new MultiHeadAttention(
      weights, `${name}/cross_attention`, model.num_heads);
    this.crossAttentionResidual = residual("cross_attention");
    this.feedForward = new FeedForward(weights, `${name}/feed_forward`);
    this.feedForwardResidual = residual("feed_forward");
  }

  /**
   * @param {Float32Array} x `(nodes, d_model)`
   * @param {Node[]} nodes The newest token of each hypothesis.
   * @param {Node[][]} visible The nodes that each may attend to.
   * @param {import("./attention.js").Memory} memory The source's keys and values in this layer.
   * @param {import("./transformer.js").Changes} changes
   */
  step(x, nodes, visible, memory, changes) {
    const { number } = this;
    const count = nodes.length;
    const silenced = (kind) => (head) => changes.silenced.has(`${kind}.${number}.${head}`);

    let y = this.selfAttentionResidual.enter(x);
    const { keys, values } = this.selfAttention.keysAndValues(y, count);
    nodes.forEach((node, i) => {
      node.keys[number] = keys[i];
      node.values[number] = values[i];
    });
    const own = visible.map((seen) => ({
      keys: seen.map((node) => node.keys[number]),
      values: seen.map((node) => node.values[number]),
    }));
    const self = this.selfAttention.attend(y, own, silenced("decoder"));
    changes.trace?.("decoder", number, self.queries, own[count - 1]);
    x = this.selfAttentionResidual.leave(x, self.output);
    changes.note?.("target", number, "self-attention", x);

    y = this.crossAttentionResidual.enter(x);
    const cross = this.crossAttention.attend(y, nodes.map(() => memory), silenced("cross"));
    changes.trace?.("cross", number, cross.queries, memory);
    x = this.crossAttentionResidual.leave(x, cross.output);
    changes.note?.("target", number, "cross-attention", x);

    y = this.feedForward.call(this.feedForwardResidual.enter(x), count);
    x = this.feedForwardResidual.leave(x, y);
    changes.note?.("target", number, "feed-forward", x);
    const hidden = rowsOf(x, count);
    nodes.forEach((node, i) => {
      node.selfScores[number] = self.scores[i];
      node.crossScores[number] = cross.scores[i];
      node.hidden[number] = hidden[i];
    });
    return x;
  }
}

/** A stack of decoder layers. */
export class Decoder {
  /**
   * @param {Weights} weights
   * @param {{num_decoder_layers: number, num_heads: number, pre_norm: boolean}} model
   */
  constructor(weights, model) {
    this.layers = Array.from(
      { length: model.num_decoder_layers },
      (_, number) => new DecoderLayer(weights, number, model));
    this.norm = model.pre_norm ? new LayerNormalization(weights, "decoder/norm") : null;
  }

  /**
   * The keys and values of cross-attention, computed once for a search.
   *
   * @param {Float32Array} encoded `(source_len, d_model)`
   * @param {boolean[]} mask
   * @returns {import("./attention.js").Memory[]} One for each layer.
   */
  read(encoded, mask) {
    return this.layers.map((layer) => (
      { ...layer.crossAttention.keysAndValues(encoded, mask.length), mask }));
  }

  /**
   * @param {Float32Array} x `(nodes, d_model)`
   * @param {Node[]} nodes
   * @param {Node[][]} visible
   * @param {import("./attention.js").Memory[]} memory
   * @param {import("./transformer.js").Changes} changes
   * @returns {Float32Array} `(nodes, d_model)`, before the last normalization.
   */
  step(x, nodes, visible, memory, changes) {
    for (const layer of this.layers) {
      x = layer.step(x, nodes, visible, memory[layer.number], changes);
    }
    return x;
  }
}

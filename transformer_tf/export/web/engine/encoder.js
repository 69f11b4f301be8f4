import { MultiHeadAttention } from "./attention.js";
import { FeedForward } from "./feed_forward.js";
import { Weights } from "./linear.js";
import { LayerNormalization, Residual } from "./normalization.js";

/** Self-attention and a feed-forward network (§3.1). */
export class EncoderLayer {
  /**
   * @param {Weights} weights
   * @param {number} number From 0.
   * @param {{num_heads: number, pre_norm: boolean}} model
   */
  constructor(weights, number, model) {
    const name = `encoder/layer_${number + 1}`;
    this.number = number;
    this.selfAttention = new MultiHeadAttention(
      weights, `${name}/self_attention`, model.num_heads);
    this.selfAttentionResidual = new Residual(weights, `${name}/self_attention`, model.pre_norm);
    this.feedForward = new FeedForward(weights, `${name}/feed_forward`);
    this.feedForwardResidual = new Residual(weights, `${name}/feed_forward`, model.pre_norm);
  }

  /**
   * @param {Float32Array} x `(count, d_model)`
   * @param {boolean[]} mask Whether each position may be attended to.
   * @param {import("./transformer.js").Changes} changes
   */
  call(x, mask, changes) {
    const count = mask.length;
    let y = this.selfAttentionResidual.enter(x);
    const memory = { ...this.selfAttention.keysAndValues(y, count), mask };
    const { output, scores, queries } = this.selfAttention.attend(
      y, mask.map(() => memory), (head) => changes.silenced.has(`encoder.${this.number}.${head}`));
    changes.trace?.("encoder", this.number, queries, memory);
    x = this.selfAttentionResidual.leave(x, output);
    changes.note?.("source", this.number, "self-attention", x);
    y = this.feedForward.call(this.feedForwardResidual.enter(x), count);
    x = this.feedForwardResidual.leave(x, y);
    changes.note?.("source", this.number, "feed-forward", x);
    return { x, scores };
  }
}

/** A stack of encoder layers. */
export class Encoder {
  /**
   * @param {Weights} weights
   * @param {{num_layers: number, num_heads: number, pre_norm: boolean}} model
   */
  constructor(weights, model) {
    this.layers = Array.from(
      { length: model.num_layers }, (_, number) => new EncoderLayer(weights, number, model));
    this.norm = model.pre_norm ? new LayerNormalization(weights, "encoder/norm") : null;
  }

  /**
   * @param {Float32Array} x `(count, d_model)`
   * @param {boolean[]} mask
   * @param {import("./transformer.js").Changes} changes
   * @returns {{encoded: Float32Array, scores: Float32Array[][]}} `(count, d_model)`, and for each
   *   layer and query the scores `(num_heads, count)`.
   */
  call(x, mask, changes) {
    const all = [];
    for (const layer of this.layers) {
      const { x: next, scores } = layer.call(x, mask, changes);
      x = next;
      all.push(scores);
    }
    if (!this.norm) return { encoded: x, scores: all };
    const encoded = this.norm.call(x);
    changes.note?.("source", null, "norm", encoded);
    return { encoded, scores: all };
  }
}

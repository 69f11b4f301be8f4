import { Dense, Weights } from "./linear.js";

/** The position-wise feed-forward network (§3.3): two linear layers with a ReLU between them. */
export class FeedForward {
  /**
   * @param {Weights} weights
   * @param {string} name
   */
  constructor(weights, name) {
    this.hidden = new Dense(weights, `${name}/hidden`);
    this.outputProjection = new Dense(weights, `${name}/output_projection`);
  }

  /**
   * @param {Float32Array} x `(count, d_model)`
   * @param {number} count
   * @returns {Float32Array} The same shape.
   */
  call(x, count) {
    const hidden = this.hidden.call(x, count).map((number) => Math.max(number, 0));
    return this.outputProjection.call(hidden, count);
  }
}

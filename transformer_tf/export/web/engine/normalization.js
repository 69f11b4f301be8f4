import { Weights } from "./linear.js";

const EPSILON = 1e-6;

/** Layer normalization (§3.1; Ba et al. 2016): (x - mean) / √(variance + ε) · γ + β. */
export class LayerNormalization {
  /**
   * @param {Weights} weights
   * @param {string} name
   */
  constructor(weights, name) {
    this.gamma = weights.vector(`${name}/gamma`);
    this.beta = weights.vector(`${name}/beta`);
  }

  /**
   * @param {Float32Array} x `(count, d_model)`
   * @returns {Float32Array} The same shape.
   */
  call(x) {
    const { gamma, beta } = this;
    const depth = gamma.length;
    const y = new Float32Array(x.length);
    for (let begin = 0; begin < x.length; begin += depth) {
      let [mean, variance] = [0, 0];
      for (let i = 0; i < depth; i++) mean += x[begin + i] / depth;
      for (let i = 0; i < depth; i++) variance += (x[begin + i] - mean) ** 2 / depth;
      const scale = 1 / Math.sqrt(variance + EPSILON);
      for (let i = 0; i < depth; i++) {
        y[begin + i] = (x[begin + i] - mean) * scale * gamma[i] + beta[i];
      }
    }
    return y;
  }
}

/** A residual connection around a sub-layer, with a normalization before or after it. */
export class Residual {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {boolean} preNorm
   */
  constructor(weights, name, preNorm) {
    this.norm = new LayerNormalization(weights, `${name}_norm`);
    this.preNorm = preNorm;
  }

  /** The input of the sub-layer, from `x` `(count, d_model)`. */
  enter(x) {
    return this.preNorm ? this.norm.call(x) : x;
  }

  /** Adds the output `y` of the sub-layer to `x`. */
  leave(x, y) {
    const sum = x.map((number, i) => number + y[i]);
    return this.preNorm ? sum : this.norm.call(sum);
  }
}

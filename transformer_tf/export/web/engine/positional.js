import { Weights } from "./linear.js";

/**
 * The sinusoidal encoding of a position (§3.5): sines in even dimensions, cosines in odd ones.
 *
 * @param {number} position
 * @param {number} depth
 * @returns {Float32Array} `(depth,)`
 */
export function positionalEncoding(position, depth) {
  return Float32Array.from({ length: depth }, (_, i) => {
    const angle = position * 10000 ** (-(i - (i % 2)) / depth);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/** Token embedding × √d_model + position (§3.4, §3.5). */
export class PositionalEmbedding {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {number} depth d_model
   */
  constructor(weights, name, depth) {
    this.kernel = weights.kernel;
    this.depth = depth;
    this.matrix = weights.matrix(`${name}/embeddings`);
    const learned = `${name}/position_embeddings`;
    this.learned = weights.pack.has(learned) ? weights.vector(learned) : null;
    /** @type {Float32Array[]} */
    this.table = [];
  }

  /**
   * @param {number[]} ids
   * @param {number[]|null} positions The position of each token; null for no positions.
   * @returns {Float32Array} `(ids, d_model)`
   */
  call(ids, positions) {
    const { weights, scales, stride } = this.matrix;
    const x = new Float32Array(ids.length * this.depth);
    ids.forEach((id, row) => {
      const factor = Math.sqrt(this.depth) * (scales ? scales[id] : 1);
      const position = positions && this.position(positions[row]);
      for (let i = 0; i < this.depth; i++) {
        const embedded = Math.fround(weights[id * stride + i] * factor);
        x[row * this.depth + i] = embedded + (position ? position[i] : 0);
      }
    });
    return x;
  }

  /** @param {number} position */
  position(position) {
    if (this.learned) {
      return this.learned.subarray(position * this.depth, (position + 1) * this.depth);
    }
    return (this.table[position] ??= positionalEncoding(position, this.depth));
  }

  /**
   * Projects onto the vocabulary with the embedding matrix, for a tied model (§3.4).
   *
   * @param {Float32Array} hidden `(count, d_model)`
   * @param {number} count
   * @returns {Float32Array} `(count, vocab_size)`
   */
  project(hidden, count) {
    return this.kernel.product(this.matrix, hidden, count);
  }
}

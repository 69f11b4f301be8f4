import { Dense, Weights } from "./linear.js";

// Added to masked scores, as in the Keras layer.
const MASKED_SCORE = -1e9;

/**
 * Keys and values that a query may attend to, each `(d_model,)` for each position.
 *
 * @typedef {object} Memory
 * @property {Float32Array[]} keys
 * @property {Float32Array[]} values
 * @property {boolean[]} [mask] True = may attend; by default True everywhere.
 */

/** Attention by several heads (§3.2.2). */
export class MultiHeadAttention {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {number} numHeads
   */
  constructor(weights, name, numHeads) {
    this.numHeads = numHeads;
    this.queryProjection = new Dense(weights, `${name}/query_projection`);
    this.keyProjection = new Dense(weights, `${name}/key_projection`);
    this.valueProjection = new Dense(weights, `${name}/value_projection`);
    this.outputProjection = new Dense(weights, `${name}/output_projection`);
  }

  /**
   * @param {Float32Array} x `(count, d_model)`
   * @param {number} count
   * @returns {Memory}
   */
  keysAndValues(x, count) {
    return {
      keys: rowsOf(this.keyProjection.call(x, count), count),
      values: rowsOf(this.valueProjection.call(x, count), count),
    };
  }

  /**
   * @param {Float32Array} x `(count, d_model)`
   * @param {Memory[]} memories The keys and values for each query.
   * @param {(head: number) => boolean} silenced Whether a head's output is replaced with zeros.
   * @returns {{output: Float32Array, scores: Float32Array[], queries: Float32Array[]}} The output
   *   `(count, d_model)`, and for each query the scores `(num_heads, keys)` and its projection.
   */
  attend(x, memories, silenced) {
    const count = memories.length;
    const queries = rowsOf(this.queryProjection.call(x, count), count);
    const depth = queries[0].length;
    const mixed = new Float32Array(count * depth);
    const scores = memories.map((memory, i) => {
      const into = mixed.subarray(i * depth, (i + 1) * depth);
      return scaledDotProductAttention(queries[i], memory, this.numHeads, into, silenced);
    });
    return { output: this.outputProjection.call(mixed, count), scores, queries };
  }
}

/**
 * softmax(QKᵀ / √d_k) V for one query (§3.2.1, equation 1), head by head.
 *
 * @param {Float32Array} query `(d_model,)`
 * @param {Memory} memory
 * @param {number} numHeads
 * @param {Float32Array} mixed Receives the averaged values, `(d_model,)`.
 * @param {(head: number) => boolean} silenced
 * @returns {Float32Array} The scores `(num_heads, keys)`.
 */
function scaledDotProductAttention(query, { keys, values, mask }, numHeads, mixed, silenced) {
  const headDim = query.length / numHeads;
  const scores = new Float32Array(numHeads * keys.length);
  for (let head = 0; head < numHeads; head++) {
    const [begin, end] = [head * headDim, (head + 1) * headDim];
    const row = scores.subarray(head * keys.length, (head + 1) * keys.length);
    for (let j = 0; j < keys.length; j++) {
      let product = 0;
      for (let i = begin; i < end; i++) product += query[i] * keys[j][i];
      row[j] = product / Math.sqrt(headDim) + (mask && !mask[j] ? MASKED_SCORE : 0);
    }
    softmax(row);
    if (silenced(head)) continue;
    for (let j = 0; j < keys.length; j++) {
      for (let i = begin; i < end; i++) mixed[i] += row[j] * values[j][i];
    }
  }
  return scores;
}

/**
 * Computes the softmax in place.
 *
 * @param {Float32Array|Float64Array} scores
 */
export function softmax(scores) {
  let highest = -Infinity;
  for (let i = 0; i < scores.length; i++) highest = Math.max(highest, scores[i]);
  let sum = 0;
  for (let i = 0; i < scores.length; i++) sum += scores[i] = Math.exp(scores[i] - highest);
  for (let i = 0; i < scores.length; i++) scores[i] /= sum;
}

/**
 * @param {Float32Array} x `(count, depth)`
 * @param {number} count
 * @returns {Float32Array[]} Views of its rows.
 */
export function rowsOf(x, count) {
  const depth = x.length / count;
  return Array.from({ length: count }, (_, row) => x.subarray(row * depth, (row + 1) * depth));
}

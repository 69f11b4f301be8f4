/**
 * Products of matrices and vectors, in WebAssembly if the browser supports its SIMD.
 *
 * @typedef {object} Matrix
 * @property {Int8Array|Float32Array} weights `(rows, stride)`
 * @property {Float32Array|null} scales A factor for each row of 8-bit weights.
 * @property {number} rows
 * @property {number} stride
 */

const PAGE = 65536;
const AT_ONCE = 16; // vectors in a call

/** The memory of the weights, and the products with them. */
export class Kernel {
  /**
   * @param {number} bytes Size of all weights.
   * @param {number} widest Maximum number of rows or columns of a matrix.
   * @param {Uint8Array|null} code The WebAssembly module; null to compute in JavaScript.
   */
  constructor(bytes, widest, code) {
    const scratch = 2 * 4 * AT_ONCE * widest;
    const pages = Math.ceil((bytes + scratch) / PAGE) + 1;
    this.free = 0;
    if (code) {
      const memory = new WebAssembly.Memory({ initial: pages });
      const instance = new WebAssembly.Instance(
        new WebAssembly.Module(code), { kernel: { memory } });
      /** @type {any} Its functions. */
      this.compiled = instance.exports;
      this.buffer = memory.buffer;
    } else {
      this.compiled = null;
      this.buffer = new ArrayBuffer(pages * PAGE);
    }
    this.x = this.place(new Float32Array(AT_ONCE * widest));
    this.y = this.place(new Float32Array(AT_ONCE * widest));
  }

  /** The implementation: "wasm" or "plain". */
  get name() {
    return this.compiled ? "wasm" : "plain";
  }

  /**
   * Copies numbers to where the kernel can read them.
   *
   * @template {Int8Array|Float32Array} T
   * @param {T} numbers
   * @returns {T}
   */
  place(numbers) {
    const Numbers = /** @type {any} */ (numbers.constructor);
    const placed = new Numbers(this.buffer, this.free, numbers.length);
    placed.set(numbers);
    this.free += Math.ceil(numbers.byteLength / 16) * 16;
    return placed;
  }

  /**
   * @param {Matrix} matrix
   * @param {Float32Array} x `(count, columns)`
   * @param {number} count
   * @returns {Float32Array} `(count, rows)`
   */
  product(matrix, x, count) {
    const columns = x.length / count;
    const { rows, stride } = matrix;
    const y = new Float32Array(count * rows);
    for (let begin = 0; begin < count; begin += AT_ONCE) {
      const size = Math.min(AT_ONCE, count - begin);
      for (let i = 0; i < size; i++) {
        const from = (begin + i) * columns;
        this.x.set(x.subarray(from, from + columns), i * stride);
        this.x.fill(0, i * stride + columns, (i + 1) * stride);
      }
      this.multiply(matrix, size);
      y.set(this.y.subarray(0, size * rows), begin * rows);
    }
    return y;
  }

  /**
   * Multiplies `this.x`; the result is in `this.y`.
   *
   * @param {Matrix} matrix
   * @param {number} count
   */
  multiply({ weights, scales, rows, stride }, count) {
    const { x, y, compiled } = this;
    if (compiled && scales) {
      compiled.int8(weights.byteOffset, scales.byteOffset, x.byteOffset, y.byteOffset,
        rows, stride, count);
    } else if (compiled) {
      compiled.float32(weights.byteOffset, x.byteOffset, y.byteOffset, rows, stride, count);
    } else {
      for (let row = 0; row < rows; row++) {
        const begin = row * stride;
        const scale = scales ? scales[row] : 1;
        for (let c = 0; c < count; c++) {
          y[c * rows + row] = scale * dot(weights, begin, x, c * stride, stride);
        }
      }
    }
  }
}

/**
 * Σ a[fromA + i] · b[fromB + i] for `size` numbers.
 *
 * @param {Int8Array|Float32Array} a
 * @param {number} fromA
 * @param {Float32Array} b
 * @param {number} fromB
 * @param {number} size A multiple of four.
 */
function dot(a, fromA, b, fromB, size) {
  let one = 0;
  let two = 0;
  let three = 0;
  let four = 0;
  for (let i = 0; i < size; i += 4) {
    one += a[fromA + i] * b[fromB + i];
    two += a[fromA + i + 1] * b[fromB + i + 1];
    three += a[fromA + i + 2] * b[fromB + i + 2];
    four += a[fromA + i + 3] * b[fromB + i + 3];
  }
  return one + two + (three + four);
}

/**
 * Whether the browser compiles the kernel: it may lack SIMD, or a policy may forbid WebAssembly.
 *
 * @param {Uint8Array} code
 */
export function compiles(code) {
  return typeof WebAssembly === "object" && WebAssembly.validate(code);
}

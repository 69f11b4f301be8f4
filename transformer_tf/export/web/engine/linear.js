import { Kernel } from "./kernel.js";
import { Pack } from "./pack.js";

/** The weights of a pack, in the memory of the kernel that computes with them. */
export class Weights {
  /**
   * @param {Pack} pack
   * @param {Kernel} kernel
   */
  constructor(pack, kernel) {
    this.pack = pack;
    this.kernel = kernel;
  }

  /**
   * @param {string} name
   * @returns {import("./kernel.js").Matrix}
   */
  matrix(name) {
    const { rows, stride } = this.pack.header.tensors[name];
    const scale = `${name}/scale`;
    return {
      weights: this.kernel.place(this.pack.numbers(name)),
      scales: this.pack.has(scale) ? this.vector(scale) : null,
      rows,
      stride,
    };
  }

  /** @param {string} name */
  vector(name) {
    return this.kernel.place(/** @type {Float32Array} */ (this.pack.numbers(name)));
  }
}

/** A linear layer: x W + b. */
export class Dense {
  /**
   * @param {Weights} weights
   * @param {string} name
   */
  constructor(weights, name) {
    this.kernel = weights.kernel;
    this.matrix = weights.matrix(`${name}/kernel`);
    this.bias = weights.vector(`${name}/bias`);
  }

  /**
   * @param {Float32Array} x `(count, columns)`
   * @param {number} count
   * @returns {Float32Array} `(count, rows)`
   */
  call(x, count) {
    const y = this.kernel.product(this.matrix, x, count);
    const { rows } = this.matrix;
    for (let i = 0; i < y.length; i++) y[i] += this.bias[i % rows];
    return y;
  }
}

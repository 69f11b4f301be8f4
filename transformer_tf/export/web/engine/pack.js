/**
 * The pack that `pack.py` writes: the length of a JSON header, the header, and the tensors.
 *
 * @typedef {object} Tensor
 * @property {number} offset Bytes from the first tensor.
 * @property {"int8"|"float16"|"float32"} type
 * @property {number} rows
 * @property {number} stride Numbers in a row: a multiple of 16 for matrices.
 *
 * @typedef {object} Header
 * @property {any} model Sizes and options of the Transformer.
 * @property {any} decoding The search options.
 * @property {[number, number][]} alignment_heads Heads of the cross-attention that align words:
 *   layer and head, from 0.
 * @property {"output"|"input"} alignment_query Which token their rows align: the one that is chosen
 *   there, or the one that was read.
 * @property {number} max_source_length Maximum number of sub-words of a sentence.
 * @property {ConstructorParameters<typeof import("./placeholders.js").Placeholders>[0]|null} placeholders
 * @property {{source: any, target: any}} tokenizers
 * @property {{source: string, target: string}} languages Codes.
 * @property {{source: string[], target: string[]}} common_words Common words of the languages.
 * @property {Record<string, Tensor>} tensors
 */

/** A header and the numbers that it describes. */
export class Pack {
  /** @param {ArrayBuffer} buffer */
  constructor(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    this.buffer = buffer;
    this.begin = 4 + length;
    /** @type {Header} */
    this.header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  }

  /** @param {string} name */
  has(name) {
    return name in this.header.tensors;
  }

  /**
   * The numbers of a tensor; float16 is converted to float32.
   *
   * @param {string} name
   * @returns {Int8Array|Float32Array} `(rows, stride)`
   */
  numbers(name) {
    const { offset, type, rows, stride } = this.header.tensors[name];
    const [begin, size] = [this.begin + offset, rows * stride];
    if (type === "int8") return new Int8Array(this.buffer, begin, size);
    if (type === "float32") return new Float32Array(this.buffer, begin, size);
    const halves = new Uint16Array(this.buffer, begin, size);
    const numbers = new Float32Array(size);
    for (let i = 0; i < size; i++) numbers[i] = FROM_FLOAT16[halves[i]];
    return numbers;
  }
}

/** The float32 value of each float16 bit pattern. */
const FROM_FLOAT16 = Float32Array.from({ length: 65536 }, (_, bits) => {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
});

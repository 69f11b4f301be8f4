import { compiles } from "./kernel.js";
import {
  cellOf, drawsOf, layersOf, lossesOf, mergesOf, oddsOf, probabilitiesOf, treeOf, vectorsOf,
} from "./inspection.js";
import { otherLanguage } from "./language.js";
import { Translator } from "./translator.js";

/** @type {Translator} */
let translator;

/** The methods that the page calls, each with one argument. */
const methods = {
  /**
   * Unpacks a model.
   *
   * @param {{pack: ArrayBuffer, code: Uint8Array, plain: boolean}} argument A gzipped pack, the
   *   kernel, and whether to compute without it.
   */
  async load({ pack, code, plain }) {
    const unpacked = new Blob([pack]).stream().pipeThrough(new DecompressionStream("gzip"));
    const buffer = await new Response(unpacked).arrayBuffer();
    translator = new Translator(buffer, !plain && compiles(code) ? code : null);
    const { tokenizers, tensors, placeholders, ...header } = translator.header;
    const vocabulary = translator.target.endId + 1;
    return { engine: translator.transformer.kernel.name, vocabulary, ...header };
  },

  /** @param {string} text */
  segments: (text) => translator.segments(text),

  /** @param {string} text */
  language: (text) => otherLanguage(
    text, translator.header.common_words, translator.placeholders?.known ?? null),

  /** @param {import("./translator.js").Request} request */
  translate: (request) => translator.answer(request),

  cell: (request) => cellOf(translator, request),
  layers: (request) => layersOf(translator, request),
  losses: (request) => lossesOf(translator, request),
  odds: (request) => oddsOf(translator, request),
  vectors: (request) => vectorsOf(translator, request),
  probabilities: (request) => probabilitiesOf(translator, request),
  tree: (request) => treeOf(translator, request),
  draws: (request) => drawsOf(translator, request),
  merges: (request) => mergesOf(translator, request),

  /** @param {string[]} texts */
  encode: (texts) => texts.map((text) => translator.source.encode(text)),
};

onmessage = async ({ data: { number, method, argument } }) => {
  try {
    const begin = performance.now();
    const result = await methods[method](argument);
    postMessage({ number, result, milliseconds: performance.now() - begin });
  } catch (error) {
    postMessage({ number, error: String(error) });
  }
};

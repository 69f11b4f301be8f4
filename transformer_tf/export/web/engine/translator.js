import { compiles } from "./kernel.js";
import { Pack } from "./pack.js";
import { fill, Placeholders, SLOTS } from "./placeholders.js";
import { beamSearch, greedySearch } from "./search.js";
import { readSegments } from "./segments.js";
import { capitalize, isAllCaps, normalizeText } from "./text.js";
import { Tokenizer } from "./tokenizer.js";
import { Transformer, UNCHANGED } from "./transformer.js";

/**
 * A text to translate and the changes to the model, as a message.
 *
 * @typedef {object} Request
 * @property {string} text
 * @property {boolean} [allCaps] Whether it is a segment of a line in capitals; by default a text
 *   is a line.
 * @property {"greedy"|"beam"} [search]
 * @property {number[]} [prefix] Ids that the translation begins with.
 * @property {string[]} [silenced] Heads without output: `kind.layer.head`, from 0.
 * @property {number[]} [hidden] Source positions that nothing may attend to.
 * @property {number} [padding] Number of padding tokens after the source.
 * @property {boolean} [positions] Whether the source has positions.
 * @property {boolean} [future] Whether the decoder sees later tokens, in a pass over the `prefix`.
 * @property {object} [settings] Changes to the settings of the search.
 */

/** Translates text and returns every number that it computes on the way. */
export class Translator {
  /** The compiled kernel in base64; "" to compute in JavaScript. An exported module has it. */
  static kernel = "";

  /**
   * Loads a model.
   *
   * @param {string|URL|Uint8Array} source The address of `NAME.gz`, which `fetch` reads, or its
   *   bytes.
   */
  static async load(source) {
    let packed = source;
    if (!(source instanceof Uint8Array)) {
      const response = await fetch(source);
      if (!response.ok) throw new Error(`${source}: ${response.status}`);
      packed = await response.blob();
    }
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const code = Uint8Array.from(atob(Translator.kernel), (character) => character.charCodeAt(0));
    return new Translator(await new Response(unpacked).arrayBuffer(), compiles(code) ? code : null);
  }

  /**
   * Translates a text, sentence by sentence; its lines stay lines.
   *
   * @param {string} text
   * @param {object} [options]
   * @param {number} [options.beamSize] 1 for greedy search; by default that of the model.
   * @returns {{text: string, sentences: ({source: string, line: number}
   *   & ReturnType<Translator["result"]>)[]}}
   */
  translate(text, { beamSize = this.header.decoding.beam_size } = {}) {
    const sentences = this.segments(text).map(({ text: source, allCaps, line }) => ({
      source, line,
      ...this.answer({
        text: source, allCaps, search: beamSize === 1 ? "greedy" : "beam",
        settings: { beam_size: beamSize },
      }),
    }));
    const lines = text.split("\n").map((_, number) => sentences
      .filter(({ line }) => line === number).map((sentence) => sentence.text).join(" "));
    return { text: lines.join("\n"), sentences };
  }

  /**
   * @param {ArrayBuffer} buffer A pack.
   * @param {Uint8Array|null} code The kernel in WebAssembly.
   */
  constructor(buffer, code) {
    const pack = new Pack(buffer);
    this.header = pack.header;
    this.transformer = new Transformer(pack, code);
    this.source = new Tokenizer(pack.header.tokenizers.source);
    this.target = new Tokenizer(pack.header.tokenizers.target);
    const alphabet = pack.header.tokenizers.source.pieces.filter((piece) => [...piece].length === 1);
    this.placeholders = pack.header.placeholders
      && new Placeholders(pack.header.placeholders, alphabet);
    this.copied = this.placeholders ? SLOTS.map((slot) => this.target.encode(slot).at(-1)) : [];
  }

  /**
   * Reads a text; one that is too long is truncated.
   *
   * @param {string} text
   * @param {boolean} [isSegment] Whether its case is already that which the model reads.
   * @returns {{ids: number[], read: string, allCaps: boolean, kinds: string[], values: string[],
   *   targetValues: string[], cut: number}} The ids with start and end, their text, whether it was
   *   in capitals, the values of its placeholders, and the number of ids cut off.
   */
  encode(text, isSegment = false) {
    const normalized = normalizeText(text);
    const allCaps = !isSegment && isAllCaps(normalized);
    const read = allCaps ? capitalize(normalized) : normalized;
    const { text: masked, kinds, values, targetValues } = this.placeholders?.mask(read)
      ?? { text: read, kinds: [], values: [], targetValues: [] };
    const ids = this.source.encode(masked);
    const kept = ids.slice(0, this.header.max_source_length);
    return {
      ids: [this.source.startId, ...kept, this.source.endId],
      read: masked,
      allCaps,
      kinds,
      values,
      targetValues,
      cut: ids.length - kept.length,
    };
  }

  /**
   * The segments of a text that are translated one by one.
   *
   * @param {string} text
   */
  segments(text) {
    const { split_sentences: split } = this.header.decoding;
    const fits = (part) => {
      const read = normalizeText(part);
      return !this.encode(read, true).cut
        && (!part.includes(" ") || (this.placeholders?.fits(read) ?? true));
    };
    return readSegments(text, { fits, split, glue: (line) => this.placeholders?.glue(line) ?? line });
  }

  /**
   * The encoded source and the settings of a search.
   *
   * @param {Request} request
   * @param {Pick<import("./transformer.js").Changes, "trace"|"note">} [observers]
   */
  task(request, observers = {}) {
    const { ids, ...rest } = this.encode(request.text, request.allCaps !== undefined);
    const changes = {
      ...UNCHANGED,
      silenced: new Set(request.silenced),
      hidden: new Set(request.hidden),
      positions: request.positions ?? true,
      future: request.future ?? false,
      ...observers,
    };
    const padded = [...ids, ...Array(request.padding ?? 0).fill(this.transformer.model.pad_id)];
    return {
      ...rest,
      allCaps: request.allCaps ?? rest.allCaps,
      transformer: this.transformer,
      source: this.transformer.read(padded, changes),
      changes,
      settings: { ...this.header.decoding, temperature: 0, ...request.settings },
      startId: this.target.startId,
      endId: this.target.endId,
      prefix: request.prefix ?? [],
      copied: this.copied,
      wanted: new Set(this.copied.slice(0, rest.values.length)),
    };
  }

  /**
   * Translates a sentence.
   *
   * @param {Request} request
   */
  answer(request) {
    const task = this.task(request);
    const found = request.search === "beam" ? beamSearch(task) : greedySearch(task);
    return this.result(task, found);
  }

  /**
   * A translation with all its numbers, as a message.
   *
   * @param {ReturnType<Translator["task"]>} task
   * @param {import("./search.js").Found} found
   */
  result(task, found) {
    const path = this.attended(found, task);
    const ids = found.last.ids();
    const sourceTokens = this.show(this.source.tokens(task.source.ids), task.kinds, task.values);
    const said = this.said([...ids, this.target.endId], task);
    const read = this.said([this.target.startId, ...ids], task);
    const { num_layers: layers, num_decoder_layers: decoderLayers, num_heads: heads } =
      this.transformer.model;
    const map = (queries, keys, rowsOfLayer, count) => ({
      queries, keys, layers: count, heads,
      scores: stack(Array.from({ length: count }, (_, layer) => rowsOfLayer(layer)), heads,
        keys.length),
    });
    return {
      text: this.write(ids, task),
      ids: found.ended ? [...ids, this.target.endId] : ids,
      ended: found.ended,
      score: found.score,
      logProb: found.logProb,
      cut: task.cut,
      copied: this.copiedValues(task),
      next: path.map((node) => node.next.map(({ id, logProb }) => (
        { id, token: this.said([id], task)[0], probability: Math.exp(logProb) }))),
      maps: {
        encoder: map(sourceTokens, sourceTokens, (layer) => task.source.scores[layer], layers),
        decoder: map(said, read, (layer) => path.map((node) => node.selfScores[layer]),
          decoderLayers),
        cross: map(said, sourceTokens, (layer) => path.map((node) => node.crossScores[layer]),
          decoderLayers),
      },
    };
  }

  /**
   * The nodes of a translation; the last one has its scores even if the search stopped there.
   *
   * @param {import("./search.js").Found} found
   * @param {ReturnType<Translator["task"]>} task
   */
  attended({ last }, { source, changes }) {
    if (!last.hidden.length) this.transformer.step([last], source, changes);
    return last.path();
  }

  /**
   * A label for each id of a translation.
   *
   * @param {number[]} ids
   * @param {{kinds: string[], targetValues: string[]}} task
   */
  said(ids, { kinds, targetValues }) {
    return this.show(this.target.tokens(ids), kinds, targetValues);
  }

  /**
   * Tokens with values in the place of placeholders.
   *
   * @param {string[]} tokens
   * @param {string[]} kinds
   * @param {string[]} values
   */
  show(tokens, kinds, values) {
    const labels = this.placeholders?.labels(kinds, values) ?? [];
    return tokens.map((token) => fill(token, labels, token));
  }

  /**
   * The values that tokens show as `<1>` and so on, in both languages.
   *
   * @param {{kinds: string[], values: string[], targetValues: string[]}} task
   */
  copiedValues({ kinds, values, targetValues }) {
    const labels = this.placeholders?.labels(kinds, values) ?? [];
    return values.map((value, i) => ({ label: labels[i], value, written: targetValues[i] }))
      .filter(({ label, value }) => label !== value);
  }

  /**
   * The text of ids.
   *
   * @param {number[]} ids
   * @param {{allCaps: boolean, kinds: string[], targetValues: string[]}} task
   */
  write(ids, { allCaps, ...values }) {
    const decoded = this.target.decode(ids);
    const text = normalizeText(this.placeholders?.unmask(decoded, values) ?? decoded);
    return allCaps ? text.toUpperCase() : text;
  }
}

/**
 * The scores of all layers as one array.
 *
 * @param {Float32Array[][]} layers For each layer and query, the scores `(num_heads, keys so far)`.
 * @param {number} heads
 * @param {number} keys
 * @returns {Float32Array} `(num_layers, num_heads, queries, keys)`, 0 for later keys.
 */
function stack(layers, heads, keys) {
  const rows = layers[0].length;
  const stacked = new Float32Array(layers.length * heads * rows * keys);
  layers.forEach((queries, layer) => queries.forEach((scores, row) => {
    const seen = scores.length / heads;
    for (let head = 0; head < heads; head++) {
      const place = ((layer * heads + head) * rows + row) * keys;
      stacked.set(scores.subarray(head * seen, (head + 1) * seen), place);
    }
  }));
  return stacked;
}

import { localize } from "./texts.js";

/**
 * The scores of one kind of attention.
 *
 * @typedef {object} AttentionMap
 * @property {string[]} queries The tokens that attend, with `▁` where a word begins.
 * @property {string[]} keys The tokens attended to.
 * @property {number} layers
 * @property {number} heads
 * @property {Float32Array} scores `(layers, heads, queries, keys)`
 */

/**
 * @typedef {"source"|"target"} Side
 * @typedef {Record<Side, string>} Languages Their names.
 *
 * @typedef {object} Kind
 * @property {() => string} title
 * @property {Side} rows The side of the query tokens.
 * @property {Side} columns The side of the keys.
 * @property {(languages: Languages) => {rows: string, columns: string}} axes What rows and columns are.
 * @property {number} ahead Number of keys before the first token of that side.
 * @property {(languages: Languages) => string} what
 */

/** @type {Record<string, Kind>} */
export const KINDS = {
  encoder: {
    title: () => localize("Encoder self-attention"), rows: "source", columns: "source", ahead: 0,
    axes: ({ source }) => ({
      rows: localize("{language}, looking", { language: source }),
      columns: localize("{language}, looked at", { language: source }),
    }),
    what: () => localize("The sentence is read: each of its words (row) looks at all of them (columns)."),
  },
  decoder: {
    title: () => localize("Decoder self-attention"), rows: "target", columns: "target", ahead: 1, // the start token
    axes: () => ({
      rows: localize("just said ▸ next"), columns: localize("said so far, looked at"),
    }),
    what: () => localize("Before each new word, the translation so far is read again. A row is one such moment: the word just said ▸ the word that comes next. The word just said looks at itself and at those before it (columns). Words that come later are hatched: it cannot look at them."),
  },
  cross: {
    title: () => localize("Cross-attention"), rows: "target", columns: "source", ahead: 0,
    axes: ({ source }) => ({
      rows: localize("just said ▸ next"), columns: localize("{language}, looked at", { language: source }),
    }),
    what: () => localize("Before each new word, the model looks back at the sentence (columns). A row is one such moment: the word just said ▸ the word that comes next."),
  },
};

/**
 * The weights of a head, summed over the tokens of each key and averaged over those of each query.
 *
 * @param {AttentionMap} map
 * @param {number} layer
 * @param {number} head
 * @param {import("./tokens.js").Entry[]} queries
 * @param {import("./tokens.js").Entry[]} keys
 * @returns {number[][]}
 */
export function weightsOf(map, layer, head, queries, keys) {
  const begin = (layer * map.heads + head) * map.queries.length * map.keys.length;
  return queries.map((query) => keys.map((key) => {
    let sum = 0;
    for (const row of query.positions) {
      for (const column of key.positions) sum += map.scores[begin + row * map.keys.length + column];
    }
    return sum / query.positions.length;
  }));
}

/**
 * The clearest head: the one whose queries focus most on one word each, without start and end.
 *
 * @param {AttentionMap} map
 * @param {[number, number][]} candidates Pairs of layer and head.
 * @param {import("./tokens.js").Entry[]} queries
 * @param {import("./tokens.js").Entry[]} keys
 */
export function clearestHead(map, candidates, queries, keys) {
  const words = keys.filter(({ special }) => !special);
  const clarity = ([layer, head]) => weightsOf(map, layer, head, queries, words)
    .reduce((sum, row) => sum + Math.max(0, ...row), 0);
  return candidates.reduce((best, each) => (clarity(each) > clarity(best) ? each : best));
}

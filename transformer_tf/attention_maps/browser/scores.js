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

export const KINDS = {
  encoder: {
    title: "Encoder", more: " self-attention",
    what: "Each word of the sentence (row) looks at the whole sentence (columns).",
  },
  decoder: {
    title: "Decoder", more: " self-attention",
    what: "Each token of the translation (row) looks back at what was said before it (columns).",
  },
  cross: {
    title: "Cross", more: "-attention",
    what: "Each token of the translation (row) looks at the sentence (columns).",
  },
};

/**
 * Weights of a head: summed over the tokens of a key, averaged over those of a query.
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
 * The head that says most: whose queries look hardest at one word each, start and end left out.
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

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
 * @typedef {Record<Side, string>} Languages English names.
 *
 * @typedef {object} Kind
 * @property {string} title
 * @property {string} more The rest of the title, if there is room.
 * @property {{side: Side, role: string}} rows The side of the query tokens, and their role.
 * @property {{side: Side, role: string}} columns The same for the keys.
 * @property {number} ahead Number of keys before the first token of that side.
 * @property {(languages: Languages) => string} what
 */

/** @type {Record<string, Kind>} */
export const KINDS = {
  encoder: {
    title: "Encoder", more: " self-attention", ahead: 0,
    rows: { side: "source", role: "looking" },
    columns: { side: "source", role: "looked at" },
    what: ({ source }) => `Each ${source} token (row) looks at the whole sentence (columns).`,
  },
  decoder: {
    title: "Decoder", more: " self-attention", ahead: 1, // the start token
    rows: { side: "target", role: "read ▸ chosen" },
    columns: { side: "target", role: "read so far" },
    what: ({ target }) => `Each ${target} token just read (row, left of ▸) looks at itself and back at `
      + "those before it (columns), to choose the next one (right of ▸).",
  },
  cross: {
    title: "Cross", more: "-attention", ahead: 0,
    rows: { side: "target", role: "read ▸ chosen" },
    columns: { side: "source", role: "looked at" },
    what: ({ source, target }) => `After each ${target} token (row, left of ▸), the decoder looks at the `
      + `${source} sentence (columns), to choose the next one (right of ▸).`,
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

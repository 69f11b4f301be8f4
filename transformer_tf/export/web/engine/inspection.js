/** The numbers that the page's views show besides translations. */

import { softmax } from "./attention.js";
import { Node } from "./decoder.js";
import { beamSearch, greedySearch } from "./search.js";
import { fill } from "./placeholders.js";
import { Translator } from "./translator.js";

/**
 * Runs the decoder over all tokens of a known translation at once.
 *
 * @param {Translator} translator
 * @param {ReturnType<Translator["task"]>} task Its prefix is the translation.
 * @returns {{nodes: Node[], logits: Float32Array}}
 */
function pass({ transformer }, task) {
  const nodes = [new Node(task.startId, null, 0)];
  for (const id of task.prefix.filter((each) => each !== task.endId)) {
    nodes.push(new Node(id, nodes.at(-1), 0));
  }
  return { nodes, logits: transformer.step(nodes, task.source, task.changes) };
}

/**
 * The numbers behind one cell of a map, from which its weight is computed.
 *
 * @param {Translator} translator
 * @param {import("./translator.js").Request & {kind: string, layer: number, head: number,
 *   row: number, column: number}} request Its prefix is the translation.
 */
export function cellOf(translator, { kind, layer, head, row, column, ...request }) {
  /** @type {{queries: Float32Array[], memory: import("./attention.js").Memory}|undefined} */
  let traced;
  const task = translator.task(request, (ofKind, ofLayer, queries, memory) => {
    if (ofKind === kind && ofLayer === layer) traced = { queries, memory };
  });
  if (kind !== "encoder") pass(translator, task);
  if (!traced) throw new Error(`No ${kind} attention in layer ${layer}`);
  const { d_model: depth, num_heads: heads } = translator.transformer.model;
  const headDim = depth / heads;
  const part = (vector) => vector.slice(head * headDim, (head + 1) * headDim);
  const { keys, values, mask } = traced.memory;
  const masked = keys.map((_, j) => (kind === "decoder" ? j > row : !(mask?.[j] ?? true)));
  const query = part(traced.queries[row]);
  const products = keys.map((key) =>
    part(key).reduce((sum, number, i) => sum + number * query[i], 0));
  const scaled = products.map((product) => product / Math.sqrt(headDim));
  const weights = Float64Array.from(scaled, (score, j) => (masked[j] ? -Infinity : score));
  softmax(weights);
  return {
    query, key: part(keys[column]), value: part(values[column]),
    product: products[column], headDim, scaled, masked, weights,
  };
}

/**
 * The token that each decoder layer would produce if it were the last one.
 *
 * @param {Translator} translator
 * @param {import("./translator.js").Request} request Its prefix is the translation.
 * @returns {{token: string, probability: number}[][]} For each layer and position.
 */
export function layersOf(translator, request) {
  const { transformer } = translator;
  const task = translator.task(request);
  const { nodes } = pass(translator, task);
  return transformer.decoder.layers.map(({ number }) => nodes.map((node) => {
    const probabilities = transformer.project(node.hidden[number], 1);
    softmax(probabilities);
    const probability = probabilities.reduce((one, other) => Math.max(one, other), 0);
    return { token: translator.said([probabilities.indexOf(probability)], task)[0], probability };
  }));
}

/**
 * The probability of each token of a known translation, its end included.
 *
 * @param {Translator} translator
 * @param {import("./translator.js").Request} request Its prefix is the translation.
 * @returns {number[]}
 */
export function probabilitiesOf(translator, request) {
  const task = translator.task(request);
  const { nodes, logits } = pass(translator, task);
  const size = logits.length / nodes.length;
  const said = [...nodes.slice(1).map(({ id }) => id), task.endId];
  return said.map((id, i) => {
    const row = logits.subarray(i * size, (i + 1) * size);
    softmax(row);
    return row[id];
  });
}

/**
 * The beam search as a tree.
 *
 * @param {Translator} translator
 * @param {import("./translator.js").Request} request
 */
export function treeOf(translator, request) {
  const task = translator.task(request);
  const found = beamSearch(task);
  const greedy = greedySearch(task);
  const greedyIds = [...greedy.last.ids(), ...(greedy.ended ? [task.endId] : [])];
  const best = new Set(found.last.path());
  /** @type {Map<Node|null, number>} */
  const places = new Map();
  const candidates = found.steps.flat();
  candidates.forEach(({ node }, index) => node && places.set(node, index));
  const onGreedy = ({ parent, id }) => {
    const ids = [...parent.ids(), id];
    return ids.every((each, i) => each === greedyIds[i]);
  };
  return {
    candidates: candidates.map((candidate) => {
      const { parent, id, logProb, total, fate, node } = candidate;
      return {
        parent: places.get(parent) ?? -1,
        position: parent.position,
        token: translator.said([id], task)[0],
        logProb, total, fate,
        best: fate === "closed" ? found.ended && parent === found.last : best.has(node),
        greedy: onGreedy(candidate),
      };
    }),
    hypotheses: found.closed.map(({ last, score, logProb }) => (
      { text: translator.write(last.ids(), task), score, logProb })),
    greedy: { text: translator.write(greedy.last.ids(), task), logProb: greedy.logProb },
  };
}

/**
 * Several translations, each drawn at random.
 *
 * @param {Translator} translator
 * @param {import("./translator.js").Request & {seeds: number[]}} request
 * @returns {{text: string, logProb: number}[]}
 */
export function drawsOf(translator, { seeds, ...request }) {
  const task = translator.task(request);
  return seeds.map((seed) => {
    const found = greedySearch({ ...task, settings: { ...task.settings, seed } });
    return {
      text: translator.write(found.last.ids(), task), logProb: found.logProb,
    };
  });
}

/**
 * How the words of a text were split, merge by merge.
 *
 * @param {Translator} translator
 * @param {import("./translator.js").Request} request
 * @returns {{steps: string[][], ids: number[]}[]} For each word, the pieces before the first merge
 *   and after each one.
 */
export function mergesOf(translator, { text, allCaps }) {
  const { source } = translator;
  const { read, values } = translator.encode(text, allCaps !== undefined);
  return source.words(read).map((word) => {
    const steps = source.merge([...word]);
    const shown = steps.map((pieces) => pieces.map((piece) => fill(piece, values, piece)));
    return { steps: shown, ids: steps.at(-1).flatMap((piece) => source.idsOf(piece)) };
  });
}

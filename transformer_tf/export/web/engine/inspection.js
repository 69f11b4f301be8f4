/** The numbers that the page's views show besides translations. */

import { softmax } from "./attention.js";
import { Node } from "./decoder.js";
import { beamSearch, constrain, greedySearch, likeliest } from "./search.js";
import { Translator } from "./translator.js";

const LONGEST_WORD = 8; // tokens

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
  const trace = (ofKind, ofLayer, queries, memory) => {
    if (ofKind === kind && ofLayer === layer) traced = { queries, memory };
  };
  const task = translator.task(request, { trace });
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
 * The probabilities of a translation's tokens without each head of a layer.
 *
 * @param {Translator} translator
 * @param {import("./translator.js").Request & {kind: string, layer: number}} request Its prefix is
 *   the translation.
 * @returns {number[][]} For each head, as in `probabilitiesOf`.
 */
export function lossesOf(translator, { kind, layer, ...request }) {
  const { num_heads: heads } = translator.transformer.model;
  return Array.from({ length: heads }, (_, head) => probabilitiesOf(translator,
    { ...request, silenced: [...request.silenced, `${kind}.${layer}.${head}`] }));
}

/**
 * The likeliest tokens at a position of a translation, and how the softmax makes probabilities of
 * their logits.
 *
 * @param {Translator} translator
 * @param {import("./translator.js").Request & {position: number, temperature: number}} request Its
 *   prefix is the translation.
 */
export function oddsOf(translator, { position, temperature, ...request }) {
  const task = translator.task(
    { ...request, prefix: request.prefix.slice(0, position), future: false });
  const { nodes, logits } = pass(translator, task);
  const size = logits.length / nodes.length;
  const row = logits.subarray((nodes.length - 1) * size);
  const tokens = likeliest(row, 8);
  const highest = tokens[0].logProb;
  const power = (logit) => Math.exp((logit - highest) / temperature);
  const sum = row.reduce((all, logit) => all + power(logit), 0);
  const words = wordsOf(translator, task, nodes.at(-1), tokens.map(({ id }) => id));
  return {
    highest, sum, count: size,
    forbidden: constrain(task, row, nodes.at(-1)).allowed[tokens[0].id] === -Infinity,
    tokens: tokens.map(({ id, logProb: logit }, i) => ({
      id, logit, power: power(logit), probability: power(logit) / sum,
      token: translator.said([id], task)[0], rest: translator.said([id, ...words[i]], task).slice(1),
    })),
  };
}

/**
 * Completes words by greedy search.
 *
 * @param {Translator} translator
 * @param {ReturnType<Translator["task"]>} task
 * @param {Node} before The token before the words.
 * @param {number[]} begun The first token of each word.
 * @returns {number[][]} The other tokens of each word.
 */
function wordsOf({ transformer, target }, { source, changes, endId }, before, begun) {
  const words = begun.map(() => []);
  let open = begun.map((id, word) => ({ word, node: new Node(id, before, 0) }))
    .filter(({ node }) => node.id !== endId);
  for (let length = 1; length < LONGEST_WORD && open.length; length++) {
    const logits = transformer.step(open.map(({ node }) => node), source, changes);
    const size = logits.length / open.length;
    open = open.flatMap(({ word, node }, i) => {
      const [{ id }] = likeliest(logits.subarray(i * size, (i + 1) * size), 1);
      if (!/^\p{L}/u.test(target.tokens([node.id, id])[1])) return []; // the next word, or a mark
      words[word].push(id);
      return [{ word, node: new Node(id, node, 0) }];
    });
  }
  return words;
}

/**
 * The vectors of a token on its way through the model.
 *
 * @param {Translator} translator
 * @param {import("./translator.js").Request & {side: "source"|"target", position: number}} request
 *   Its prefix is the translation. A position of the target is that of the token that is chosen.
 * @returns {{name: string, layer: number|null, numbers: Float32Array}[]} In the order in which they
 *   are computed, each `(d_model,)`.
 */
export function vectorsOf(translator, { side, position, ...request }) {
  const { model, decoder, sourceEmbedding, targetEmbedding } = translator.transformer;
  const vectors = [];
  const add = (name, layer, numbers) => vectors.push({ name, layer, numbers: numbers.slice() });
  const note = (stack, layer, name, x) => {
    if (stack !== side) return;
    add(name, layer, x.subarray(position * model.d_model, (position + 1) * model.d_model));
  };
  const task = translator.task(request, { note });
  const { nodes } = pass(translator, task);
  if (side === "target" && decoder.norm) {
    add("norm", null, decoder.norm.call(nodes[position].hidden.at(-1)));
  }
  const after = vectors.splice(0);
  const [embedding, ids] = side === "source" ? [sourceEmbedding, task.source.ids]
    : [targetEmbedding, nodes.map(({ id }) => id)];
  const place = side === "target" || task.changes.positions ? [position] : null;
  add("embedding", null, embedding.call([ids[position]], null));
  if (place) add("position", null, embedding.position(position));
  add("sum", null, embedding.call([ids[position]], place));
  return [...vectors, ...after];
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
        listed: fate === "closed" && found.closed.some(({ last }) => last === parent),
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
  const { read, kinds, values } = translator.encode(text, allCaps !== undefined);
  return source.words(read).map((word) => {
    const steps = source.merge([...word]);
    const shown = steps.map((pieces) => translator.show(pieces, kinds, values));
    return { steps: shown, ids: steps.at(-1).flatMap((piece) => source.idsOf(piece)) };
  });
}

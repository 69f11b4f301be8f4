import { softmax } from "./attention.js";
import { Node } from "./decoder.js";
import { Transformer } from "./transformer.js";

const LIKELIEST = 8; // number of next tokens to keep at each step

/**
 * The search options, from `decoding` in the configuration.
 *
 * @typedef {object} Settings
 * @property {number} beam_size
 * @property {number} length_penalty
 * @property {number} max_length
 * @property {number} max_length_ratio
 * @property {number} max_extra_length
 * @property {number} temperature 0 for the likeliest token.
 * @property {number} top_k 0 for all tokens.
 * @property {number} top_p
 * @property {number} seed Seed of the draws.
 *
 * @typedef {object} Task
 * @property {Transformer} transformer
 * @property {import("./transformer.js").Source} source
 * @property {import("./transformer.js").Changes} changes
 * @property {Settings} settings
 * @property {number} startId
 * @property {number} endId
 * @property {number[]} prefix Ids that the translation begins with.
 * @property {number[]} copied Ids of placeholders.
 * @property {Set<number>} wanted Those of the source, which a translation has once.
 *
 * @typedef {object} Found
 * @property {Node} last The last token of the translation.
 * @property {boolean} ended Whether the end token followed it.
 * @property {number} score The value that translations are ranked by.
 * @property {number} logProb
 */

/** Maximum number of tokens of a translation, its end included; padding does not count. */
function limit({ settings, source, transformer, prefix }) {
  const { max_length: most, max_length_ratio: ratio, max_extra_length: extra } = settings;
  const { length } = source.ids.filter((id) => id !== transformer.model.pad_id);
  return Math.min(most, Math.floor(ratio * length) + extra + prefix.length);
}

/**
 * Log-probabilities of all tokens, and of the allowed ones: the others are -Infinity.
 *
 * @param {Task} task
 * @param {Float32Array} logits `(vocab_size,)`
 * @param {Node} node The token before; it keeps its likeliest next tokens.
 */
export function constrain({ endId, prefix, copied, wanted }, logits, node) {
  const { position } = node;
  const highest = logits.reduce((one, other) => Math.max(one, other), -Infinity);
  const sum = logits.reduce((all, logit) => all + Math.exp(logit - highest), 0);
  const logProbs = logits.map((logit) => logit - highest - Math.log(sum));
  node.next = likeliest(logProbs, LIKELIEST);
  if (position < prefix.length) {
    const forced = new Float32Array(logits.length).fill(-Infinity);
    forced[prefix[position]] = logProbs[prefix[position]];
    return { logProbs, allowed: forced };
  }
  const allowed = logProbs.slice();
  const missing = new Set(wanted);
  for (const { id } of node.path()) missing.delete(id);
  for (const id of copied) if (!missing.has(id)) allowed[id] = -Infinity;
  if (missing.size) allowed[endId] = -Infinity;
  return { logProbs, allowed };
}

/**
 * The likeliest tokens; among equal ones, the first.
 *
 * @param {Float32Array} logProbs
 * @param {number} count
 * @returns {{id: number, logProb: number}[]} The likeliest first, without impossible ones.
 */
export function likeliest(logProbs, count) {
  const best = [];
  for (let id = 0; id < logProbs.length; id++) {
    const logProb = logProbs[id];
    if (best.length === count && !(logProb > best[count - 1].logProb)) continue;
    if (logProb === -Infinity) continue;
    let place = best.length;
    while (place && best[place - 1].logProb < logProb) place--;
    best.splice(place, 0, { id, logProb });
    best.length = Math.min(best.length, count);
  }
  return best;
}

/**
 * Extends the translation by its likeliest token, or by a random one, until it ends.
 *
 * @param {Task} task
 * @returns {Found}
 */
export function greedySearch(task) {
  const { transformer, source, changes, settings, endId } = task;
  const most = limit(task);
  let node = new Node(task.startId, null, 0);
  let logProb = 0;
  for (;;) {
    const logits = transformer.step([node], source, changes);
    const { logProbs, allowed } = constrain(task, logits, node);
    if (node.position === most) return { last: node, ended: false, score: logProb, logProb };
    const id = settings.temperature
      ? draw(allowed, settings, node.position) : likeliest(allowed, 1)[0].id;
    logProb += logProbs[id];
    if (id === endId) return { last: node, ended: true, score: logProb, logProb };
    node = new Node(id, node, logProbs[id]);
  }
}

/**
 * Draws a token among the `top_k` likeliest (Fan et al. 2018) and the likeliest that together have
 * the probability `top_p` (Holtzman et al. 2020).
 *
 * @param {Float32Array} logProbs
 * @param {Settings} settings
 * @param {number} position The draw depends only on the position, the seed and the tokens.
 */
function draw(logProbs, { temperature, top_k: topK, top_p: topP, seed }, position) {
  const shares = Float64Array.from(logProbs, (logProb) => logProb / temperature);
  const order = Array.from(shares.keys()).sort((a, b) => shares[b] - shares[a]);
  const kept = topK ? order.slice(0, topK) : order;
  const probabilities = Float64Array.from(kept, (id) => shares[id]);
  softmax(probabilities);
  let [best, chosen, before] = [-Infinity, kept[0], 0];
  for (const [rank, id] of kept.entries()) {
    if (before >= topP) break;
    before += probabilities[rank];
    const gumbel = shares[id] - Math.log(-Math.log(uniform(seed, position, id)));
    if (gumbel > best) [best, chosen] = [gumbel, id];
  }
  return chosen;
}

/** Hashes integers to a number between 0 and 1. */
function uniform(...integers) {
  const bits = integers.reduce((mixed, integer) => mix(mix(integer + 0x9e3779b9) ^ mixed), 0);
  return ((bits >>> 9) + 0.5) * 2 ** -23;
}

/** The finalizer of MurmurHash3 (Appleby 2011). */
function mix(x) {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/**
 * A candidate of a step of the beam.
 *
 * @typedef {object} Candidate
 * @property {Node} parent
 * @property {number} id
 * @property {number} logProb
 * @property {number} total Log-probability from the start.
 * @property {"live"|"closed"|"pruned"} fate
 * @property {Node|null} node The node that continues it, if it is live.
 */

/**
 * Keeps the `beam_size` likeliest unfinished hypotheses, as `numpy_search.py` does. Of the best
 * 2 · `beam_size` extensions, ends among the first `beam_size` finish a hypothesis.
 *
 * @param {Task} task
 * @returns {Found & {closed: Found[], steps: Candidate[][]}}
 */
export function beamSearch(task) {
  const { transformer, source, changes, settings, endId } = task;
  const beam = settings.beam_size;
  const most = limit(task);
  const penalty = (length) => ((5 + length) / 6) ** settings.length_penalty;
  let live = [{ node: new Node(task.startId, null, 0), total: 0 }];
  /** @type {Found[]} */
  let closed = [];
  const steps = [];
  for (let position = 0; position < most && live.length; position++) {
    const logits = transformer.step(live.map(({ node }) => node), source, changes);
    const size = logits.length / live.length;
    const candidates = live.flatMap((hypothesis, i) => {
      const own = logits.subarray(i * size, (i + 1) * size);
      const { allowed } = constrain(task, own, hypothesis.node);
      return likeliest(allowed, 2 * beam).map(({ id, logProb }) => /** @type {Candidate} */ ({
        parent: hypothesis.node, id, logProb, total: hypothesis.total + logProb,
        fate: "pruned", node: null,
      }));
    }).sort((one, other) => other.total - one.total).slice(0, 2 * beam);
    steps.push(candidates);

    for (const candidate of candidates.slice(0, beam).filter(({ id }) => id === endId)) {
      candidate.fate = "closed";
      closed.push({
        last: candidate.parent, ended: true, logProb: candidate.total,
        score: candidate.total / penalty(position + 1),
      });
    }
    closed = closed.sort((one, other) => other.score - one.score).slice(0, beam);
    live = candidates.filter(({ id }) => id !== endId).slice(0, beam).map((candidate) => {
      candidate.fate = "live";
      candidate.node = new Node(candidate.id, candidate.parent, candidate.logProb);
      return { node: candidate.node, total: candidate.total };
    });
    if (closed[0]?.score >= live[0]?.total / penalty(most)) break;
  }
  const best = closed[0] ?? {
    last: live[0].node, ended: false, logProb: live[0].total,
    score: live[0].total / penalty(most),
  };
  return { ...best, closed, steps };
}

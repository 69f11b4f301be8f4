import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { shorten } from "../../../attention_maps/browser/heat_map.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";

const [HEIGHT, LEFT, TOP] = [30, 76, 20]; // of a row, and the margins
const [NARROWEST, WIDEST] = [88, 100]; // pixels of a column
const FEWEST = 2; // columns of a line
const EDGE = 6; // where the first column of a line begins
const GAP = 5; // between a token and its lines
const LONGEST = 9; // characters of a token

/**
 * Lays out the positions in lines as wide as the page. A line begins with the column before it.
 *
 * @param {number} rows Maximum number of candidates at a position.
 */
function layout(rows) {
  const room = byId("tree").parentElement.clientWidth - EDGE;
  const width = Math.min(WIDEST, room / Math.max(FEWEST, Math.floor(room / NARROWEST)));
  const count = (from) => Math.max(FEWEST, Math.floor((room + EDGE - from) / width));
  const [inFirst, inLater] = [count(LEFT), count(EDGE) - 1];
  const lineOf = (position) =>
    (position < inFirst ? 0 : 1 + Math.floor((position - inFirst) / inLater));
  const place = (position, row, line = lineOf(position)) => {
    const before = line ? inFirst + (line - 1) * inLater - 1 : 0;
    return {
      x: (line ? EDGE : LEFT) + (position - before) * width,
      y: TOP + (line * (rows + 1) + row) * HEIGHT,
    };
  };
  return { lineOf, place, width };
}

/** @param {string} fate */
const fateOf = (fate) => ({
  live: localize("kept"), closed: localize("finished"), pruned: localize("dropped"),
  left: localize("kept, but not to the end"),
}[fate]);

/**
 * What became of each candidate in the end.
 *
 * @param {Tree["candidates"]} candidates
 */
function fatesOf(candidates) {
  const leads = new Set(); // to a translation of the list
  candidates.forEach(({ listed, best }, index) => {
    if (!listed && !best) return;
    for (let i = index; i >= 0; i = candidates[i].parent) leads.add(i);
  });
  return candidates.map(({ fate }, i) => (fate === "live" && !leads.has(i) ? "left" : fate));
}

/**
 * Says where beam search and greedy search part.
 *
 * @param {Tree["candidates"]} candidates
 */
function describeParting(candidates) {
  const best = candidates.find((each) => each.best && !each.greedy);
  const greedy = candidates.find((each) => each.greedy && each.position === best?.position);
  return best && greedy
    ? localize("Here the lines part at piece {number}: “{greedy}” is likelier there, but “{best}” leads to the translation. Change the sentence, and see where they part.",
      { number: best.position + 1, greedy: writeWord([greedy.token]), best: writeWord([best.token]) })
    : localize("Here both searches choose the same pieces. Make the sentence longer, and see where they part.");
}

/** @typedef {ReturnType<typeof import("../engine/inspection.js").treeOf>} Tree */

/**
 * Draws the tree of a beam search: a column for each position, the likeliest hypothesis on top.
 *
 * @param {Tree} tree
 */
export function showTree({ candidates, hypotheses, greedy }) {
  /** @type {Map<number, number>} */
  const counts = new Map(); // candidates of each position so far
  const ranks = candidates.map(({ position }) => {
    const row = counts.get(position) ?? 0;
    counts.set(position, row + 1);
    return row;
  });
  const rows = Math.max(...counts.values());
  const { lineOf, place, width } = layout(rows);
  const fates = fatesOf(candidates);
  const texts = candidates.map(({ token }) => shorten(writeWord([token]), LONGEST));
  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = (text, isBest) => {
    pen.font = `${isBest ? 650 : 400} 15px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  };
  const start = { text: localize("start"), best: false, ...place(-1, 0), x: EDGE };
  const labelOf = ({ x, y, text }, names) => element("svg:text", { x, y, class: names }, text);
  const [lines, labels, repeated] = [[], [labelOf(start, "live")], new Set()];
  const namesOf = ({ best, greedy: onGreedy }, i) =>
    [fates[i], best && "best", onGreedy && "greedy"].filter(Boolean).join(" ");
  candidates.forEach((candidate, i) => {
    const { parent, position, token, total, logProb } = candidate;
    const line = lineOf(position);
    const to = { text: texts[i], ...place(position, ranks[i]) };
    const from = parent < 0 ? start : {
      text: texts[parent], best: candidates[parent].best, ...place(position - 1, ranks[parent], line),
    };
    if (parent >= 0 && lineOf(position - 1) < line && !repeated.has(parent)) {
      repeated.add(parent);
      labels.push(labelOf(from, namesOf(candidates[parent], parent)));
    }
    const names = namesOf(candidate, i);
    const [begin, end] = [from.x + widthOf(from.text, from.best) + GAP, to.x - GAP];
    const middle = (begin + end) / 2;
    lines.push(element("svg:path", {
      class: names,
      d: `M${begin} ${from.y - 5}C${middle} ${from.y - 5} ${middle} ${to.y - 5} ${end} ${to.y - 5}`,
    }));
    const label = labelOf(to, names);
    label.append(element("svg:title", {}, localize(
      "{word}: probability {share}, log-probability so far {total}, {fate}", {
        word: writeWord([token]), share: decimal(Math.exp(logProb), 3), total: decimal(total, 2),
        fate: fateOf(fates[i]),
      })));
    labels.push(label);
  });
  const svg = byId("tree");
  const places = candidates.map(({ position }, i) => place(position, ranks[i]));
  svg.setAttribute("width", String(Math.max(...places.map(({ x }) => x)) + width));
  svg.setAttribute("height", String(Math.max(...places.map(({ y }) => y)) + HEIGHT / 2));
  const order = (path) => Number(path.classList.contains("best"));
  fill(svg, ...lines.sort((one, other) => order(one) - order(other)), ...labels);
  byId("parting").textContent = describeParting(candidates);
  const same = hypotheses.findIndex(({ text }) => text === greedy.text);
  fill(byId("hypotheses"), ...hypotheses.map(({ text, score, logProb }) => element("li", {},
    element("span", {}, text), element("span", { class: "meta",
      title: localize("The score is the log-probability, divided by a number that grows with the length.") },
      ` ${localize("score {score}, log-probability {log}",
        { score: decimal(score, 3), log: decimal(logProb, 2) })}`))),
  element("li", { class: "greedy" }, ...(same >= 0
    ? [localize("Greedy search finds translation {number}.", { number: same + 1 })]
    : [element("span", {}, greedy.text), element("span", { class: "meta" },
      ` ${localize("greedy search, log-probability {log}", { log: decimal(greedy.logProb, 2) })}`)])));
}

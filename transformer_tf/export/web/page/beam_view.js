import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { shorten } from "../../../attention_maps/browser/heat_map.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";

const [WIDTH, HEIGHT, LEFT, TOP] = [100, 30, 70, 20]; // of a column and a row, and the margins
const EDGE = 6; // where the first column of a line begins
const FEWEST = 5; // columns of a line; a narrower screen scrolls
const GAP = 5; // between a token and its lines
const LONGEST = 9; // characters of a token

/**
 * Lays out the positions in lines as wide as the page. A line begins with the column before it.
 *
 * @param {number} rows Maximum number of candidates at a position.
 */
function layout(rows) {
  const width = byId("tree").parentElement.clientWidth;
  const count = (from) => Math.max(FEWEST, Math.floor((width - from) / WIDTH));
  const [inFirst, inLater] = [count(LEFT), count(EDGE) - 1];
  const lineOf = (position) =>
    (position < inFirst ? 0 : 1 + Math.floor((position - inFirst) / inLater));
  const place = (position, row, line = lineOf(position)) => {
    const before = line ? inFirst + (line - 1) * inLater - 1 : 0;
    return {
      x: (line ? EDGE : LEFT) + (position - before) * WIDTH,
      y: TOP + (line * (rows + 1) + row) * HEIGHT,
    };
  };
  return { lineOf, place };
}

/** @param {string} fate */
const fateOf = (fate) => ({
  live: localize("kept"), closed: localize("finished"), pruned: localize("dropped"),
}[fate]);

/**
 * Draws the tree of a beam search: a column for each position, the likeliest hypothesis on top.
 *
 * @param {ReturnType<typeof import("../engine/inspection.js").treeOf>} tree
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
  const { lineOf, place } = layout(rows);
  const texts = candidates.map(({ token }) => shorten(writeWord([token]), LONGEST));
  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = (text, isBest) => {
    pen.font = `${isBest ? 650 : 400} 15px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  };
  const start = { text: localize("start"), best: false, ...place(-1, 0), x: EDGE };
  const labelOf = ({ x, y, text }, names) => element("svg:text", { x, y, class: names }, text);
  const [lines, labels, repeated] = [[], [labelOf(start, "live")], new Set()];
  candidates.forEach((candidate, i) => {
    const { parent, position, token, fate, best, greedy: onGreedy, total, logProb } = candidate;
    const line = lineOf(position);
    const to = { text: texts[i], ...place(position, ranks[i]) };
    const from = parent < 0 ? start : {
      text: texts[parent], best: candidates[parent].best, ...place(position - 1, ranks[parent], line),
    };
    if (parent >= 0 && lineOf(position - 1) < line && !repeated.has(parent)) {
      repeated.add(parent);
      labels.push(labelOf(from, "pruned"));
    }
    const names = [fate, best && "best", onGreedy && "greedy"].filter(Boolean).join(" ");
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
        fate: fateOf(fate),
      })));
    labels.push(label);
  });
  const svg = byId("tree");
  const places = candidates.map(({ position }, i) => place(position, ranks[i]));
  svg.setAttribute("width", String(Math.max(...places.map(({ x }) => x)) + WIDTH));
  svg.setAttribute("height", String(Math.max(...places.map(({ y }) => y)) + HEIGHT / 2));
  const order = (path) => Number(path.classList.contains("best"));
  fill(svg, ...lines.sort((one, other) => order(one) - order(other)), ...labels);
  fill(byId("hypotheses"), ...hypotheses.map(({ text, score, logProb }) => element("li", {},
    element("span", {}, text), element("span", { class: "meta" },
      ` ${localize("score {score}, log-probability {log}",
        { score: decimal(score, 3), log: decimal(logProb, 2) })}`))),
  element("li", { class: "greedy" }, element("span", {}, greedy.text), element("span",
    { class: "meta" }, ` ${localize("greedy search, log-probability {log}",
      { log: decimal(greedy.logProb, 2) })}`)));
}

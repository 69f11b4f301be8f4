import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";
import { shorten } from "../../../attention_maps/browser/heat_map.js";

const [WIDTH, HEIGHT, LEFT, TOP] = [100, 30, 70, 20]; // of a column and a row, and the margins
const GAP = 5; // between a token and its lines
const LONGEST = 9; // characters of a token

/**
 * Draws the tree of a beam search: a column for each position, the likeliest hypothesis on top.
 *
 * @param {ReturnType<typeof import("../engine/inspection.js").treeOf>} tree
 */
export function showTree({ candidates, hypotheses, greedy }) {
  const rows = new Map(); // candidates of each position so far
  const places = candidates.map(({ position }) => {
    const row = rows.get(position) ?? 0;
    rows.set(position, row + 1);
    return { x: LEFT + position * WIDTH, y: TOP + row * HEIGHT };
  });
  const start = { x: 6, y: TOP };
  const texts = candidates.map(({ token }) => shorten(writeWord([token]), LONGEST));
  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = (text, isBest) => {
    pen.font = `${isBest ? 650 : 400} 15px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  };
  const lines = [];
  const labels = [element("svg:text", { x: start.x, y: start.y, class: "live" }, "start")];
  candidates.forEach((candidate, i) => {
    const { parent, token, fate, best, greedy: onGreedy, total, logProb } = candidate;
    const [to, from] = [places[i], parent < 0 ? start : places[parent]];
    const names = [fate, best && "best", onGreedy && "greedy"].filter(Boolean).join(" ");
    const width = parent < 0 ? widthOf("start", false)
      : widthOf(texts[parent], candidates[parent].best);
    const [begin, end] = [from.x + width + GAP, to.x - GAP];
    const middle = (begin + end) / 2;
    lines.push(element("svg:path", {
      class: names,
      d: `M${begin} ${from.y - 5}C${middle} ${from.y - 5} ${middle} ${to.y - 5} ${end} ${to.y - 5}`,
    }));
    const label = element("svg:text", { x: to.x, y: to.y, class: names }, texts[i]);
    label.append(element("svg:title", {}, `${writeWord([token])}: probability ${
      Math.exp(logProb).toFixed(3)}, log-probability so far ${total.toFixed(2)}, ${fate}`));
    labels.push(label);
  });
  const svg = byId("tree");
  svg.setAttribute("width", String(LEFT + rows.size * WIDTH));
  svg.setAttribute("height", String(TOP + HEIGHT * (Math.max(...rows.values()) - 0.5)));
  const order = (path) => Number(path.classList.contains("best"));
  fill(svg, ...lines.sort((one, other) => order(one) - order(other)), ...labels);
  fill(byId("hypotheses"), ...hypotheses.map(({ text, score, logProb }) => element("li", {},
    element("span", {}, text), element("span", { class: "meta" },
      ` score ${score.toFixed(3)}, log-probability ${logProb.toFixed(2)}`))),
  element("li", { class: "greedy" }, element("span", {}, greedy.text), element("span",
    { class: "meta" }, ` greedy search, log-probability ${greedy.logProb.toFixed(2)}`)));
}

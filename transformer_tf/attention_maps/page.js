"use strict";
// Draws what #data holds. Text comes in through textContent alone, so that it stays text.

const data = JSON.parse(document.getElementById("data").textContent);
const state = { sentence: 0, kind: "cross", layer: 0, heads: new Set(), row: null, column: null };
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const ROW_HEIGHT = 22;
const FAINTEST = 0.02; // lines of less weight only blur the picture
const LONGEST = 28; // characters of a label; the status line has all of them

function element(name, attributes = {}, text = "") {
  const made = name.startsWith("svg:")
    ? document.createElementNS(SVG, name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

// Colours: a table of anchors, with straight lines between them.

function color(weight) {
  const place = Math.min(Math.max(weight, 0), 1) * (data.colors.length - 1);
  const below = Math.min(Math.floor(place), data.colors.length - 2);
  return data.colors[below].map((from, i) =>
    Math.round(from + (data.colors[below + 1][i] - from) * (place - below)));
}

// Scores: bytes, 255 for a weight of 1, in the order layer, head, query, key.

function bytes(map) {
  map.bytes ??= Uint8Array.from(atob(map.scores), (character) => character.charCodeAt(0));
  return map.bytes;
}

function currentMap() {
  return data.sentences[state.sentence].maps[state.kind];
}

/** What is shown of an axis: labels, each with the positions that it is made of. */
function shown(axis) {
  const entries = byId("words").checked
    ? axis.words
    : axis.tokens.map((label, position) => ({ label, positions: [position] }));
  if (byId("special").checked) return entries;
  return entries.filter(({ positions }) => !axis.special.includes(positions[0]));
}

/** Weights of a head: summed over the keys of a word, averaged over its queries. */
function weightsOf(map, layer, head, queries, keys) {
  const values = bytes(map);
  const [rows, columns] = [map.queries.tokens.length, map.keys.tokens.length];
  const begin = (layer * map.heads + head) * rows * columns;
  return queries.map((query) => keys.map((key) => {
    let sum = 0;
    for (const row of query.positions) {
      for (const column of key.positions) sum += values[begin + row * columns + column];
    }
    return sum / 255 / query.positions.length;
  }));
}

function meanWeights(map, queries, keys) {
  const chosen = [...state.heads].map((head) => weightsOf(map, state.layer, head, queries, keys));
  return queries.map((_, row) => keys.map((_, column) =>
    chosen.reduce((sum, weights) => sum + weights[row][column], 0) / chosen.length));
}

function short(label) {
  const characters = [...label];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join("")}…` : label;
}

// What there is to choose.

function fillChoices() {
  data.sentences.forEach(({ source }, index) =>
    byId("sentence").append(element("option", { value: index }, source)));
  byId("sentence-choice").hidden = data.sentences.length < 2;
  byId("bar").style.background = `linear-gradient(to right, ${
    data.colors.map((rgb) => `rgb(${rgb})`).join(", ")})`;
}

function choose(changes) {
  Object.assign(state, { row: null, column: null }, changes);
  const map = currentMap();
  state.layer = Math.min(state.layer, map.layers - 1);
  state.heads = new Set([...state.heads].filter((head) => head < map.heads));
  if (!state.heads.size) state.heads = new Set(Array(map.heads).keys());
  draw();
}

// Drawing.

let drawn = {}; // what is on the page now: labels, weights and the parts that light up

function draw() {
  const { source, translation, maps } = data.sentences[state.sentence];
  byId("source").textContent = source;
  byId("translation").textContent = translation;
  byId("kinds").replaceChildren(...Object.entries(maps).map(([kind, { title }]) => {
    const button = element("button", { type: "button", "aria-pressed": kind === state.kind }, title);
    button.dataset.kind = kind;
    return button;
  }));
  const map = currentMap();
  const queries = shown(map.queries);
  const keys = shown(map.keys);
  drawOverview(map, queries, keys);
  drawHeads(map);
  drawn = { queries, keys, weights: meanWeights(map, queries, keys) };
  drawMap();
  drawLines();
  light();
}

function drawOverview(map, queries, keys) {
  const overview = byId("overview");
  const focused = overview.contains(document.activeElement)
    ? document.activeElement.dataset : null;
  overview.style.gridTemplateColumns = `max-content repeat(${map.heads}, minmax(1.9rem, 7rem))`;
  const cells = [element("span")];
  for (let head = 0; head < map.heads; head++) {
    cells.push(element("span", { class: "name" }, `Head ${head + 1}`));
  }
  for (let layer = 0; layer < map.layers; layer++) {
    cells.push(element("span", { class: "name" }, `Layer ${layer + 1}`));
    for (let head = 0; head < map.heads; head++) {
      const pressed = layer === state.layer && state.heads.has(head);
      const button = element("button", {
        type: "button", "aria-pressed": pressed, "aria-label": `Layer ${layer + 1}, head ${head + 1}`,
      });
      Object.assign(button.dataset, { layer, head });
      button.append(smallMap(weightsOf(map, layer, head, queries, keys)));
      cells.push(button);
    }
  }
  overview.replaceChildren(...cells);
  if (focused) overview.querySelector(
    `[data-layer="${focused.layer}"][data-head="${focused.head}"]`)?.focus();
}

function smallMap(weights) {
  const [height, width] = [weights.length, weights[0]?.length ?? 0];
  const canvas = element("canvas", { width: Math.max(width, 1), height: Math.max(height, 1) });
  if (!width) return canvas;
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  weights.flat().forEach((weight, i) => picture.data.set([...color(weight), 255], 4 * i));
  context.putImageData(picture, 0, 0);
  return canvas;
}

function drawHeads(map) {
  const boxes = Array.from({ length: map.heads }, (_, head) => {
    const label = element("label");
    const box = element("input", { type: "checkbox", value: head });
    box.checked = state.heads.has(head);
    label.append(box, ` ${head + 1}`);
    return label;
  });
  const all = element("button", { type: "button", id: "all-heads" }, "all");
  const focused = document.activeElement?.closest("#heads") ? document.activeElement : null;
  const again = focused && (focused.id === "all-heads" ? "#all-heads" : `[value="${focused.value}"]`);
  byId("heads").replaceChildren(element("legend", {}, "Mean of heads"), ...boxes, all);
  if (again) byId("heads").querySelector(again)?.focus();
  const names = [...state.heads].sort((a, b) => a - b).map((head) => head + 1).join(", ");
  byId("chosen").textContent = `${map.title}, layer ${state.layer + 1}, ` +
    (state.heads.size === 1 ? `head ${names}` : `mean of heads ${names}`);
}

const ruler = element("canvas").getContext("2d");

function widest(entries) {
  ruler.font = "700 14px system-ui, sans-serif";
  return Math.ceil(Math.max(0, ...entries.map(({ label }) => ruler.measureText(short(label)).width)));
}

function drawMap() {
  const { queries, keys, weights } = drawn;
  const svg = byId("map");
  const [left, top] = [widest(queries) + 10, widest(keys) + 10];
  const room = Math.min(svg.closest("section").clientWidth, 760) - left - 4;
  const side = Math.min(40, Math.max(16, Math.floor(room / Math.max(keys.length, 1))));
  const [width, height] = [side * keys.length, side * queries.length];
  drawn.geometry = { left, top, side, width, height };
  svg.setAttribute("width", left + width + 4);
  svg.setAttribute("height", top + height + 4);
  const parts = [];
  weights.forEach((row, i) => row.forEach((weight, j) => parts.push(element("svg:rect", {
    x: left + j * side, y: top + i * side, width: side - 0.5, height: side - 0.5,
    fill: `rgb(${color(weight)})`, "data-row": i, "data-column": j,
  }))));
  drawn.queryTexts = queries.map(({ label }, i) => element("svg:text", {
    x: left - 6, y: top + (i + 0.5) * side, "text-anchor": "end",
    "dominant-baseline": "central", "data-row": i,
  }, short(label)));
  drawn.keyTexts = keys.map(({ label }, j) => {
    const x = left + (j + 0.5) * side;
    return element("svg:text", {
      x, y: top - 6, transform: `rotate(-90 ${x} ${top - 6})`,
      "dominant-baseline": "central", "data-column": j,
    }, short(label));
  });
  drawn.veil = element("svg:path", { class: "veil", "fill-rule": "evenodd" });
  drawn.cursors = ["cursor", "cursor inner"].map((name) => element("svg:rect", { class: name }));
  svg.replaceChildren(
    ...parts, ...drawn.queryTexts, ...drawn.keyTexts, drawn.veil, ...drawn.cursors);
}

function drawLines() {
  const { queries, keys, weights } = drawn;
  const svg = byId("lines");
  const [left, right] = [widest(keys) + 8, widest(queries) + 8];
  const gap = Math.min(160, Math.max(60, svg.closest("section").clientWidth - left - right));
  const middle = (position) => (position + 0.5) * ROW_HEIGHT + 2;
  svg.setAttribute("width", left + gap + right);
  svg.setAttribute("height", ROW_HEIGHT * Math.max(queries.length, keys.length) + 4);
  drawn.lines = [];
  weights.forEach((row, i) => row.forEach((weight, j) => {
    if (weight < FAINTEST) return;
    const line = element("svg:line", {
      x1: left + 4, y1: middle(j), x2: left + gap - 4, y2: middle(i),
      "stroke-width": (0.5 + 4 * weight).toFixed(2),
    });
    drawn.lines.push({ line, row: i, column: j, weight });
  }));
  const side = (entries, x, anchor, name) => entries.flatMap(({ label }, i) => [
    element("svg:text", {
      x, y: middle(i), "text-anchor": anchor, "dominant-baseline": "central", [`data-${name}`]: i,
    }, short(label)),
  ]);
  drawn.lineKeys = side(keys, left - 2, "end", "column");
  drawn.lineQueries = side(queries, left + gap + 2, "start", "row");
  svg.replaceChildren(
    ...drawn.lines.map(({ line }) => line), ...drawn.lineKeys, ...drawn.lineQueries);
}

// Lighting up what is pointed at, without drawing anything anew.

function light() {
  const { queries, keys, weights, geometry, lines } = drawn;
  const { row, column } = state;
  const { left, top, side, width, height } = geometry;
  const outer = `M${left} ${top}h${width}v${height}h${-width}z`;
  let hole = "";
  if (row !== null && column !== null) {
    hole = `M${left + column * side} ${top + row * side}h${side}v${side}h${-side}z`;
  } else if (row !== null) {
    hole = `M${left} ${top + row * side}h${width}v${side}h${-width}z`;
  } else if (column !== null) {
    hole = `M${left + column * side} ${top}h${side}v${height}h${-side}z`;
  }
  drawn.veil.setAttribute("d", hole && (row === null || column === null) ? outer + hole : "");
  for (const cursor of drawn.cursors) {
    cursor.setAttribute("visibility", row !== null && column !== null ? "visible" : "hidden");
    cursor.setAttribute("x", left + (column ?? 0) * side);
    cursor.setAttribute("y", top + (row ?? 0) * side);
    cursor.setAttribute("width", side);
    cursor.setAttribute("height", side);
  }
  for (const texts of [drawn.queryTexts, drawn.lineQueries]) {
    texts.forEach((text, i) => text.classList.toggle("lit", i === row));
  }
  for (const texts of [drawn.keyTexts, drawn.lineKeys]) {
    texts.forEach((text, j) => text.classList.toggle("lit", j === column));
  }
  for (const { line, row: i, column: j, weight } of lines) {
    const free = row === null && column === null;
    const lit = !free && (row === null || row === i) && (column === null || column === j);
    line.classList.toggle("lit", lit);
    line.setAttribute("stroke-opacity", (free ? weight : lit ? 0.25 + 0.75 * weight : 0.04).toFixed(3));
  }
  byId("status").textContent = describe(queries, keys, weights, row, column);
}

function describe(queries, keys, weights, row, column) {
  if (!queries.length || !keys.length) return "Nothing is left to show.";
  if (row === null && column === null) return "";
  const strongest = (entries, weightOf) => entries
    .map(({ label }, i) => ({ label, weight: weightOf(i) }))
    .sort((one, other) => other.weight - one.weight)
    .slice(0, 4)
    .map(({ label, weight }) => `${label} ${weight.toFixed(2)}`)
    .join(", ");
  if (row !== null && column !== null) {
    return `“${queries[row].label}” looks at “${keys[column].label}”: ${
      weights[row][column].toFixed(2)}`;
  }
  return row !== null
    ? `“${queries[row].label}” looks at: ${strongest(keys, (j) => weights[row][j])}`
    : `“${keys[column].label}” is looked at by: ${strongest(queries, (i) => weights[i][column])}`;
}

function pointAt(target) {
  const { row, column } = target?.dataset ?? {};
  const number = (text) => (text === undefined ? null : Number(text));
  if (state.row === number(row) && state.column === number(column)) return;
  Object.assign(state, { row: number(row), column: number(column) });
  light();
}

function moveCursor(event) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const { queries, keys } = drawn;
  if (event.key === "Escape") {
    pointAt(null);
  } else if (steps[event.key] && queries.length && keys.length) {
    event.preventDefault();
    const [down, across] = steps[event.key];
    const first = state.row === null && state.column === null;
    // Before the first one there is none: then a whole row or column is chosen.
    const move = (place, step, size) => {
      const next = Math.min((place ?? -1) + step, size - 1);
      return next < 0 ? null : next;
    };
    const row = first ? 0 : move(state.row, down, queries.length);
    const column = first ? 0 : move(state.column, across, keys.length);
    if (row === null && column === null) return;
    Object.assign(state, { row, column });
    light();
    const chosen = row === null ? drawn.keyTexts[column]
      : column === null ? drawn.queryTexts[row] : drawn.cursors[0];
    chosen.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

function moveInOverview(event) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const { layer, head } = event.target.dataset ?? {};
  if (!steps[event.key] || layer === undefined) return;
  event.preventDefault();
  const [down, across] = steps[event.key];
  byId("overview").querySelector(
    `[data-layer="${Number(layer) + down}"][data-head="${Number(head) + across}"]`)?.focus();
}

// Events.

byId("sentence").addEventListener("change", (event) => choose({ sentence: Number(event.target.value) }));
byId("kinds").addEventListener("click", ({ target }) => {
  if (!target.dataset.kind) return;
  choose({ kind: target.dataset.kind });
  byId("kinds").querySelector("[aria-pressed=true]").focus();
});
byId("words").addEventListener("change", () => choose({}));
byId("special").addEventListener("change", () => choose({}));
byId("overview").addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button) choose({ layer: Number(button.dataset.layer), heads: new Set([Number(button.dataset.head)]) });
});
byId("overview").addEventListener("keydown", moveInOverview);
byId("heads").addEventListener("change", ({ target }) => {
  const heads = new Set(state.heads);
  if (target.checked) heads.add(Number(target.value));
  else heads.delete(Number(target.value));
  choose({ heads });
});
byId("heads").addEventListener("click", ({ target }) => {
  if (target.id === "all-heads") choose({ heads: new Set() });
});
for (const id of ["map", "lines"]) {
  byId(id).addEventListener("pointermove", (event) => pointAt(event.target));
  byId(id).addEventListener("pointerdown", (event) => pointAt(event.target));
  byId(id).addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") pointAt(null);
  });
}
byId("map").addEventListener("keydown", moveCursor);
byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return; // a phone's address bar comes and goes
  width = innerWidth;
  draw();
});

fillChoices();
const kinds = data.sentences[0].maps;
choose({
  kind: "cross" in kinds ? "cross" : Object.keys(kinds)[0],
  layer: Infinity,
});

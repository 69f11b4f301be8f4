/** The page with its model: what is typed is translated, and every view shows how. */

import { AttentionView } from "../../../attention_maps/browser/attention_view.js";
import { chipsOf, lightChips } from "../../../attention_maps/browser/chips.js";
import { byId, element, fill, switchTheme } from "../../../attention_maps/browser/dom.js";
import { inkColor } from "../../../attention_maps/browser/heat_map.js";
import { entriesOf, writeWord } from "../../../attention_maps/browser/tokens.js";
import { showTree } from "./beam_view.js";
import { showCell } from "./cell_view.js";
import { Engine } from "./engine.js";
import { EXAMPLES, languageName } from "./languages.js";
import { showLayers } from "./layer_view.js";
import { showEffect, showHidden } from "./mask_view.js";
import { showMerges } from "./merge_view.js";
import { showNext } from "./next_view.js";
import { bytesOf, loadPack } from "./packs.js";
import { showWaves, shuffleWords } from "./position_view.js";
import { DRAWS, readSliders, showDraws } from "./sampling_view.js";
import { Tabs } from "./tabs.js";

const data = JSON.parse(byId("data").textContent);
const STEP_TIME = 650; // milliseconds a token, while playing
const PLAIN = new URLSearchParams(location.search).has("plain");

/** What the user has chosen; all that is shown follows from it. */
const session = {
  prefix: [], // ids that the translation begins with
  silenced: new Set(),
  hidden: new Set(), // positions of the source
  padding: 0,
  positions: true,
  rows: null, // number of tokens that are said yet; null for all
  position: 0, // the token whose alternatives are shown
  result: null, // what `translate` returned
  unchanged: null, // the same without changes to the model
  draw: 0, // number of the draws that are shown
};

const engine = new Engine(data.worker);
const strips = { source: byId("source-tokens"), target: byId("target-tokens") };
let entries = { source: [], target: [] };
/** @type {any} */
let model = null;
/** @type {AttentionView} */
let view;
const tabs = new Tabs(byId("tabs"), () => drawPanel());

// Asking the engine.

/** Whether the model computes something else than it was trained to. */
const isChanged = () => session.silenced.size > 0 || session.hidden.size > 0
  || session.padding > 0 || !session.positions;

/** @param {"greedy"|"beam"} search */
function request(search) {
  return {
    text: byId("source").value, search, prefix: session.prefix,
    silenced: [...session.silenced], hidden: [...session.hidden],
    padding: session.padding, positions: session.positions,
  };
}

let wanted = 0;
let running = false;

/** Translates what stands there now: greedily at once, then with the beam. */
async function refresh() {
  wanted += 1;
  if (running) return;
  running = true;
  document.body.dataset.state = "busy";
  try {
    for (let done = 0; done !== wanted;) {
      const mine = wanted;
      await translate("greedy");
      if (mine !== wanted) continue;
      await translate("beam");
      done = mine;
    }
    document.body.dataset.state = "ready";
  } catch (error) {
    fail(error);
  }
  running = false;
}

/** @param {"greedy"|"beam"} search */
async function translate(search) {
  const asked = request(search);
  document.body.classList.toggle("empty", !asked.text.trim());
  if (!asked.text.trim()) {
    session.result = null;
    byId("translation").textContent = "";
    return;
  }
  const { result, milliseconds } = await engine.ask("translate", asked);
  if (asked.text !== byId("source").value) return;
  session.result = result;
  session.unchanged = null;
  if (isChanged()) {
    const { silenced, hidden, padding, positions, ...plain } = asked;
    session.unchanged = (await engine.ask("translate", plain)).result;
  }
  byId("time").textContent = `${milliseconds.toFixed(0)} ms · ${
    search === "beam" ? `beam of ${model.decoding.beam_size}` : "greedy"} ·`;
  draw();
}

/** @param {unknown} error */
function fail(error) {
  document.body.dataset.state = "error";
  byId("loading").hidden = true;
  byId("translation").textContent = error instanceof Error ? error.message : String(error);
}

// Drawing.

function draw() {
  const { result, rows } = session;
  const options = { words: false, special: true };
  byId("translation").textContent = result.text;
  entries = {
    source: entriesOf(result.maps.cross.keys.slice(0, result.maps.cross.keys.length
      - session.padding), options),
    target: entriesOf(result.maps.cross.queries, options),
  };
  session.position = Math.min(session.position, result.next.length - 1);
  drawSource();
  drawTarget();
  byId("cut").hidden = !result.cut;
  byId("cut").textContent = `Too long: the last ${result.cut} sub-words are not read. `
    + `The model has learnt from at most ${model.max_source_length}.`;
  drawNotice();
  drawStep();
  closeCell();
  view.show({
    maps: result.maps, languages: { source: sourceName(), target: targetName() }, rows,
    silenced: session.silenced,
  });
  drawPanel();
}

function drawSource() {
  fill(strips.source, ...chipsOf(entries.source, ({ positions }) => pointing(positions, "source")));
}

function drawTarget() {
  const { rows, position, prefix } = session;
  const active = tabs.active === "next";
  fill(strips.target, ...chipsOf(entries.target, ({ positions }) => ({
    ...pointing(positions, "target"),
    "aria-pressed": String(active && positions.includes(position)),
    class: [positions[0] < prefix.length && "forced",
      rows !== null && positions[0] >= rows && "later"].filter(Boolean).join(" "),
    click: () => {
      session.position = positions[0];
      tabs.open("next");
    },
  })));
}

/** Listeners that light up what belongs to a token. */
function pointing(positions, side) {
  const point = () => view.pointAtToken(positions[0], side);
  return { pointerenter: point, focus: point, pointerleave: () => view.map.point(null, null) };
}

/** @param {import("../../../attention_maps/browser/attention_view.js").Pointed|null} pointed */
function light(pointed) {
  const sides = { encoder: ["source", "source"], decoder: ["target", "target"],
    cross: ["target", "source"] }[pointed?.kind ?? "cross"];
  for (const side of ["source", "target"]) {
    const weights = pointed && (side === sides[1] ? pointed.keys : side === sides[0]
      ? pointed.queries : null);
    lightChips(strips[side], weights, entries[side]);
  }
}

function drawNotice() {
  const parts = [];
  const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
  if (session.silenced.size) parts.push(`${count(session.silenced.size, "head")} silenced`);
  if (session.hidden.size) parts.push(`${count(session.hidden.size, "token")} hidden`);
  if (session.padding) parts.push(`${count(session.padding, "padding token")} added`);
  if (!session.positions) parts.push("no positions");
  byId("notice").hidden = !parts.length;
  const { unchanged, result } = session;
  const before = !unchanged ? "" : unchanged.text === result.text
    ? " The translation is the same as without." : ` Without: “${unchanged.text}”`;
  byId("notice-text").textContent = `${parts.join(", ")}.${before}`;
}

/** What the buttons under the small maps would do to the head that is shown. */
function drawSilence() {
  const { kind, layer, head } = view.state;
  const heads = Array.from({ length: model.model.num_heads }, (_, i) => `${kind}.${layer}.${i}`);
  byId("silence-head").textContent = session.silenced.has(`${kind}.${layer}.${head}`)
    ? "Let this head speak" : "Silence this head";
  byId("silence-layer").textContent = heads.every((name) => session.silenced.has(name))
    ? "Let its layer speak" : "Silence its layer";
}

function drawStep() {
  const { rows, result } = session;
  const size = result.next.length;
  byId("first").disabled = byId("back").disabled = rows === 0;
  byId("last").disabled = byId("forward").disabled = rows === null;
  if (rows === null) {
    byId("step").textContent = "";
    return;
  }
  const { num_decoder_layers: layers, d_model: depth } = model.model;
  const kilobytes = (rows * layers * 2 * depth * 4) / 1024;
  const token = (list, i) => writeWord([list[i]]);
  const said = rows ? `says “${token(result.maps.decoder.queries, rows - 1)}”` : "nothing said yet";
  byId("step").textContent = `${rows} of ${size}: ${said}, cache ${kilobytes.toFixed(0)} KB`;
}

/** What the open view shows beside the translation; answers for an older one are dropped. */
async function drawPanel() {
  if (!session.result) return;
  drawTarget();
  const { result } = session;
  const known = { ...request("greedy"), prefix: result.ids };
  const answer = async (method, asked) => {
    const { result: answered } = await engine.ask(method, asked);
    if (result !== session.result) throw new Outdated();
    return answered;
  };
  try {
    await panels[tabs.active]?.(result, known, answer);
  } catch (error) {
    if (!(error instanceof Outdated)) fail(error);
  }
}

/** An answer that nobody waits for any more. */
class Outdated extends Error {}

const panels = {
  next(result) {
    showNext(result, session.position, session.prefix.length > 0, force);
  },

  async masks(result, known, answer) {
    showHidden(entries.source, session.hidden, toggleHidden);
    byId("padding").value = String(session.padding);
    byId("padding-value").textContent = String(session.padding);
    const { hidden, padding, ...plain } = known;
    const before = await answer("probabilities", plain);
    const after = await answer("probabilities", { ...known, future: byId("future").checked });
    showEffect(result.maps.cross.queries, before, after);
  },

  positions(result) {
    byId("without-positions").checked = !session.positions;
    byId("positions-summary").textContent = session.positions ? ""
      : `Without positions: “${result.text}”, log-probability ${result.logProb.toFixed(4)}`;
    byId("waves").hidden = model.model.position !== "sinusoidal";
    showWaves(entries.source.length, model.model.d_model, inkColor(), [200, 105, 30]);
  },

  async beam(result, known, answer) {
    showTree(await answer("tree", { ...known, prefix: session.prefix }));
  },

  async sampling(result, known, answer) {
    const seeds = Array.from({ length: DRAWS }, (_, i) => DRAWS * session.draw + i);
    showDraws(await answer("draws", {
      ...known, prefix: session.prefix, seeds, settings: readSliders() }));
  },

  async layers(result, known, answer) {
    showLayers(await answer("layers", known), result.maps.cross.queries);
  },

  async pieces(result, known, answer) {
    showMerges(await answer("merges", known));
  },
};

/** @param {number} id A token to say at the position that is shown. */
function force(id) {
  session.prefix = [...session.result.ids.slice(0, session.position), id];
  session.rows = null;
  refresh();
}

// The numbers of one cell.

async function openCell({ kind, layer, head, row, column }) {
  const { result } = session;
  const asked = { ...request("greedy"), prefix: result.ids, kind, layer, head, row, column };
  const { result: numbers } = await engine.ask("cell", asked);
  const { queries, keys } = result.maps[kind];
  showCell({
    query: writeWord([queries[row]]), key: writeWord([keys[column]]), keys, column,
    where: `layer ${layer + 1}, head ${head + 1}`,
  }, numbers, closeCell);
  byId("cell").hidden = false;
  byId("heads-panel").hidden = true;
  byId("close-cell").focus({ preventScroll: innerWidth > 992 });
}

function closeCell() {
  byId("cell").hidden = true;
  byId("heads-panel").hidden = false;
}

// Step by step.

let timer = 0;

/** @param {number|null} rows */
function goTo(rows) {
  const size = session.result.next.length;
  session.rows = rows === null || rows >= size ? null : Math.max(rows, 0);
  draw();
  if (session.rows === null) stop();
}

function stop() {
  clearInterval(timer);
  timer = 0;
  byId("play").textContent = "Play";
}

function play() {
  if (timer) {
    stop();
    return;
  }
  byId("play").textContent = "Pause";
  if (session.rows === null) goTo(0);
  timer = setInterval(() => goTo((session.rows ?? 0) + 1), STEP_TIME);
}

// Changing the model.

/** @param {string[]} names Heads. */
function toggleHeads(names) {
  const all = names.every((name) => session.silenced.has(name));
  for (const name of names) {
    if (all) session.silenced.delete(name);
    else session.silenced.add(name);
  }
  refresh();
}

/** @param {number[]} positions Of the source. */
function toggleHidden(positions) {
  for (const position of positions) {
    if (session.hidden.has(position)) session.hidden.delete(position);
    else session.hidden.add(position);
  }
  refresh();
}

function restore() {
  Object.assign(session, { silenced: new Set(), hidden: new Set(), padding: 0, positions: true });
  refresh();
}

// Text.

// Links.

/** The sentence that the address holds, "" if it holds none or a damaged one. */
function linkedText() {
  try {
    return decodeURIComponent(/^#s=(.*)$/s.exec(location.hash)?.[1] ?? "");
  } catch {
    return "";
  }
}

/** A new sentence: what was chosen for the old one is over. */
function changeText() {
  stop();
  Object.assign(session, { prefix: [], hidden: new Set(), rows: null, position: 0 });
  refresh();
}

/** @param {string} text */
function setText(text) {
  byId("source").value = text;
  changeText();
}

const sourceName = () => languageName(model.languages.source);
const targetName = () => languageName(model.languages.target);

/** @param {number} index Of the model. */
async function loadModel(index) {
  const name = data.models[index];
  document.body.dataset.state = "loading";
  byId("loading").hidden = false;
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  try {
    const pack = await loadPack(name, data.packs[index], (loaded, total) => {
      byId("progress").value = total ? loaded / total : 0;
      byId("progress-text").textContent =
        `Loading the model: ${megabytes(loaded)} of ${megabytes(total)} MB`;
    });
    const argument = { pack: pack.buffer, code: bytesOf(data.kernel), plain: PLAIN };
    model = (await engine.ask("load", argument, [pack.buffer])).result;
  } catch (error) {
    fail(error);
    return;
  }
  byId("loading").hidden = true;
  byId("engine").textContent = model.engine;
  byId("source-language").textContent = sourceName();
  byId("target-language").textContent = targetName();
  byId("source").lang = model.languages.source;
  byId("translation").lang = model.languages.target;
  const examples = EXAMPLES[model.languages.source] ?? [];
  byId("examples").hidden = !examples.length;
  fill(byId("examples"), element("option", { value: "" }, "Examples"),
    ...examples.map((text) => element("option", { value: text }, text)));
  const layer = (model.decoding.alignment_layer ?? model.model.num_decoder_layers) - 1;
  view = new AttentionView({
    onPoint: light, onOpen: openCell, onDraw: drawSilence,
    favourites: model.decoding.alignment_heads.map((head) => [layer, head - 1]),
  });
  byId("source").disabled = false;
  byId("source").focus({ preventScroll: true });
  setText(linkedText() || examples[0] || "");
}

// Events.

byId("source").addEventListener("input", changeText);
byId("examples").addEventListener("change", ({ target }) => {
  if (target.value) setText(target.value);
  target.value = "";
});
byId("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(byId("translation").textContent);
  byId("copy").textContent = "Copied";
  setTimeout(() => { byId("copy").textContent = "Copy"; }, 1500);
});
byId("link").addEventListener("click", () => {
  location.hash = `s=${encodeURIComponent(byId("source").value)}`;
});
byId("first").addEventListener("click", () => goTo(0));
byId("back").addEventListener("click", () =>
  goTo((session.rows ?? session.result.next.length) - 1));
byId("forward").addEventListener("click", () => goTo((session.rows ?? 0) + 1));
byId("last").addEventListener("click", () => goTo(null));
byId("play").addEventListener("click", play);
byId("unforce").addEventListener("click", () => {
  session.prefix = [];
  refresh();
});
byId("silence-head").addEventListener("click", () => {
  const { kind, layer, head } = view.state;
  toggleHeads([`${kind}.${layer}.${head}`]);
});
byId("silence-layer").addEventListener("click", () => {
  const { kind, layer } = view.state;
  toggleHeads(Array.from({ length: model.model.num_heads }, (_, i) => `${kind}.${layer}.${i}`));
});
byId("restore").addEventListener("click", restore);
byId("padding").addEventListener("input", ({ target }) => {
  session.padding = Number(target.value);
  refresh();
});
byId("future").addEventListener("change", drawPanel);
byId("without-positions").addEventListener("change", ({ target }) => {
  session.positions = !target.checked;
  refresh();
});
byId("shuffle").addEventListener("click", () => setText(shuffleWords(byId("source").value)));
for (const id of ["temperature", "top-k", "top-p"]) byId(id).addEventListener("input", drawPanel);
byId("again").addEventListener("click", () => {
  session.draw += 1;
  drawPanel();
});
byId("theme").addEventListener("click", () => {
  switchTheme();
  draw();
});
byId("help").addEventListener("click", () => byId("keys").showModal());
addEventListener("keydown", ({ key }) => {
  if (key === "Escape") closeCell();
});
addEventListener("hashchange", () => {
  if (linkedText() && linkedText() !== byId("source").value) setText(linkedText());
});
byId("model-choice").hidden = data.models.length < 2;
byId("model").append(...data.models.map((name, index) =>
  element("option", { value: index }, name)));
byId("model").addEventListener("change", ({ target }) => loadModel(Number(target.value)));
loadModel(0);

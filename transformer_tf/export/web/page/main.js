/** The page: translates what is typed and shows how in several views. */

import { AttentionView } from "../../../attention_maps/browser/attention_view.js";
import { TokenStrips } from "../../../attention_maps/browser/chips.js";
import { byId, restoreTheme, switchTheme } from "../../../attention_maps/browser/dom.js";
import { CellPanel } from "./cell_view.js";
import { Engine } from "./engine.js";
import { EXAMPLES, languageName } from "./languages.js";
import { readLink, writeLink } from "./links.js";
import { Models } from "./models.js";
import { Panels } from "./panels.js";
import { Player } from "./player.js";
import { shuffleWords } from "./position_view.js";
import { showNotice, showTokens, showTranslation } from "./sentence_view.js";
import { Session } from "./session.js";
import { headsOf, showSilence } from "./silence_view.js";
import { Tabs } from "./tabs.js";
import { Updates } from "./updates.js";

const TOLD_TIME = 1500; // milliseconds that a button shows what it did

const data = JSON.parse(byId("data").textContent);
const session = new Session();
const engine = new Engine(data.worker);
const updates = new Updates(engine, session, draw);
const refresh = () => updates.refresh();
const panels = new Panels(engine, session, refresh);
const player = new Player(session, draw);
const tabs = new Tabs(byId("tabs"), drawPanel);
const strips = new TokenStrips({
  source: byId("source-tokens"), target: byId("target-tokens") });
const cell = new CellPanel(engine, session);
const view = new AttentionView({
  onPoint: (lit) => strips.light(lit),
  onOpen: (place) => cell.open(place),
  onDraw: () => showSilence(session, view),
});
const models = new Models({
  listed: data.models, packs: data.packs, kernel: data.kernel,
  plain: new URLSearchParams(location.search).has("plain"),
}, engine, session, startModel);

let ordered = ""; // the text before its words were shuffled

/** @param {string} text */
function showOrdered(text) {
  ordered = text;
  byId("unshuffle").disabled = !text;
}

/** Shows the translation and all that belongs to it. */
function draw() {
  const { model, result } = session;
  if (!model || !result) return;
  session.position = Math.min(session.position, result.next.length - 1);
  showTranslation(session);
  showNotice(session);
  player.draw();
  cell.close();
  view.show({
    maps: result.maps,
    languages: {
      source: languageName(model.languages.source), target: languageName(model.languages.target),
    },
    alignmentHeads: model.alignment_heads,
    alignmentQuery: model.alignment_query,
    rows: session.rows,
    silenced: session.silenced,
  });
  drawPanel();
}

/** Shows the open view and the token that it is about. */
function drawPanel() {
  if (!session.model || !session.result) return;
  showTokens(session, strips, view, {
    position: tabs.active === "next" ? session.position : null,
    onToken: (position) => {
      session.position = position;
      if (tabs.active === "next") drawPanel();
    },
  });
  panels.draw(tabs.active);
}

/**
 * Replaces the text as if it were typed, so that the browser's undo brings the old one back.
 *
 * @param {string} text
 */
function setText(text) {
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  byId("source").focus({ preventScroll: true });
  byId("source").select();
  document.execCommand("insertText", false, text); // the only way that undo knows
  focused.focus({ preventScroll: true });
}

function changeText() {
  player.stop();
  showOrdered("");
  session.begin();
  refresh();
}

/**
 * Starts a model with a text. By default it is the current sentence or its translation, if one of
 * them is in the model's source language, else an example.
 *
 * @param {string} text
 * @param {import("./models.js").Listed|null} before The model before it.
 */
function startModel(text, before) {
  const { source } = session.model.languages;
  const kept = before?.source === source ? byId("source").value
    : before?.target === source ? session.result?.text : "";
  session.restore();
  view.chosen = false;
  byId("source").value = text || kept || EXAMPLES[source]?.[0] || "";
  changeText();
  byId("source").focus({ preventScroll: true });
}

/**
 * Shows for a moment what a button did.
 *
 * @param {string} id
 * @param {string} told
 */
function tell(id, told) {
  const usual = byId(id).dataset.usual ??= byId(id).textContent;
  byId(id).textContent = told;
  setTimeout(() => { byId(id).textContent = usual; }, TOLD_TIME);
}

byId("source").addEventListener("input", changeText);
byId("examples").addEventListener("change", ({ target }) => {
  if (target.value) setText(target.value);
  target.value = "";
});
byId("copy").hidden = !navigator.clipboard; // browsers offer it only for secure addresses
byId("copy").addEventListener("click", () => {
  navigator.clipboard.writeText(byId("translation").textContent)
    .then(() => tell("copy", "Copied"), () => tell("copy", "Not allowed"));
});
byId("link").addEventListener("click", () => {
  writeLink(byId("source").value, data.models.length > 1 ? models.current.name : null);
  tell("link", "In the address bar");
});
addEventListener("hashchange", () => {
  const { text, model } = readLink();
  if (!session.model || !text) return;
  const index = models.indexOf(model);
  if (model !== null && data.models[index] !== models.current) models.load(index, text);
  else if (text !== byId("source").value) setText(text);
});

byId("unforce").addEventListener("click", () => {
  session.prefix = [];
  refresh();
});
for (const which of /** @type {const} */ (["head", "layer"])) {
  byId(`silence-${which}`).addEventListener("click", () => {
    session.toggleHeads(headsOf(view)[which]);
    refresh();
  });
}
byId("restore").addEventListener("click", () => {
  session.restore();
  refresh();
});
byId("padding").addEventListener("input", ({ target }) => {
  session.padding = Number(target.value);
  refresh();
});
byId("future").addEventListener("change", ({ target }) => {
  session.future = target.checked;
  draw();
});
byId("without-positions").addEventListener("change", ({ target }) => {
  session.positions = !target.checked;
  refresh();
});
byId("shuffle").addEventListener("click", () => {
  const before = ordered || byId("source").value;
  setText(shuffleWords(before));
  showOrdered(before);
});
byId("unshuffle").addEventListener("click", () => setText(ordered));
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
  if (key === "Escape") cell.close();
});

restoreTheme();
const linked = readLink();
models.load(models.indexOf(linked.model), linked.text);

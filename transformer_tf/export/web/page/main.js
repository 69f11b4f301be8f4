/** The page: translates what is typed and shows how in several views. */

import { AttentionView } from "../../../attention_maps/browser/attention_view.js";
import { TokenStrips } from "../../../attention_maps/browser/chips.js";
import { byId, element, fill, restoreTheme, switchTheme } from "../../../attention_maps/browser/dom.js";
import { KINDS } from "../../../attention_maps/browser/scores.js";
import { localize } from "../../../attention_maps/browser/texts.js";
import { Alternatives } from "./alternatives.js";
import { ArcsView } from "./arcs_view.js";
import { CellPanel } from "./cell_view.js";
import { Engine } from "./engine.js";
import { InterfaceLanguage } from "./interface_language.js";
import { EXAMPLES, languageName } from "./languages.js";
import { applyLink, readLink, writeLink } from "./links.js";
import { Models } from "./models.js";
import { Panels } from "./panels.js";
import { savePicture } from "./picture.js";
import { Player } from "./player.js";
import { showCopied, showNotice, showTokens, titleOfCopied } from "./sentence_view.js";
import { Session } from "./session.js";
import { Silence } from "./silence_view.js";
import { TextInput } from "./text_input.js";
import { Tour } from "./tour.js";
import { Updates } from "./updates.js";
import { Way } from "./way_view.js";

const TOLD_TIME = 1500; // milliseconds that a button shows what it did
const MARKED = /** @type {const} */ ( // the side that a view shows a token of
  { positions: "source", encoder: "source", decoder: "target", odds: "target" });

const data = JSON.parse(byId("data").textContent);
const interfaceLanguage = new InterfaceLanguage(data.texts, () => {
  player.stop();
  models.rename();
  tour.tell();
  refresh();
});
const session = new Session();
const engine = new Engine(data.worker);
const updates = new Updates(engine, session, draw);
const refresh = () => updates.refresh();
const panels = new Panels(engine, session, refresh);
const player = new Player(session, draw);
const input = new TextInput(session, () => {
  player.stop();
  refresh();
});
const way = new Way(session, openView);
const strips = new TokenStrips({
  source: byId("source-tokens"), target: byId("target-tokens") });
const alternatives = new Alternatives(panels, session, refresh);
const arcs = new ArcsView(session, (word, position) => alternatives.open(word, position));
const cell = new CellPanel(engine, session);
const view = new AttentionView({
  onPoint: (lit) => strips.light(lit),
  onOpen: (place) => cell.open(place),
  onDraw: () => silence.draw(),
});
const silence = new Silence(panels, session, view, refresh);
const models = new Models({
  listed: data.models, packs: data.packs, kernel: data.kernel,
  plain: new URLSearchParams(location.search).has("plain"),
}, engine, session, startModel);

const tour = new Tour(way, input, player);

/** Shows the translation and all that belongs to it. */
function draw() {
  const { model, result } = session;
  if (!model || !result) return;
  session.position = Math.min(session.position ?? leastSure(result), result.next.length - 1);
  showNotice(session);
  showCopied(session);
  player.draw();
  arcs.draw();
  way.draw();
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

/**
 * The token that the model was the least sure of.
 *
 * @param {import("./session.js").Result} result
 */
function leastSure({ next }) {
  const highest = next.map(([{ probability }]) => probability);
  return highest.indexOf(Math.min(...highest));
}

/** Opens the view of a box of the way. */
function openView() {
  if (way.active in KINDS && way.active !== view.state.kind) {
    view.state.kind = way.active;
    view.chosen = false;
  }
  draw();
}

/** Shows the open view and the tokens that it is about. */
function drawPanel() {
  if (!session.model || !session.result) return;
  const side = MARKED[way.active] ?? null;
  showTokens(session, strips, view, side, () => {
    way.draw();
    drawPanel();
  });
  const position = side === "source" ? session.sourcePosition : session.position;
  arcs.mark(side, position);
  view.mark(side, position);
  panels.draw(way.active);
}

/**
 * Starts a model with a text. By default it is the current one or its translation, if that is
 * complete and in the model's source language; else an example.
 *
 * @param {string} text
 * @param {import("./models.js").Listed|null} before The model before it.
 */
function startModel(text, before) {
  const { source } = session.model.languages;
  const isTranslated = before?.target === source && updates.isComplete;
  const kept = isTranslated ? byId("translation").textContent
    : before?.source === source || before?.target === source ? byId("source").value : "";
  session.restore();
  updates.known.clear();
  view.chosen = false;
  input.start(text || kept || EXAMPLES[source]?.[0] || "");
  fill(byId("example-chips"), ...(EXAMPLES[source] ?? []).map((example) =>
    element("button", { type: "button", click: () => input.replace(example) }, example)));
  const link = readLink();
  if (link.fields.size && link.text === text) follow();
}

/** Shows the view of the link in the address, and makes its changes. */
function follow() {
  const { fields } = readLink();
  way.open(fields.get("view"));
  applyLink(fields, session, view);
  refresh();
}

/**
 * Shows for a moment what a button did.
 *
 * @param {string} id
 * @param {string} told
 */
function tell(id, told) {
  byId(id).firstChild.data = told;
  setTimeout(() => interfaceLanguage.write(), TOLD_TIME);
}

byId("examples").addEventListener("change", ({ target }) => {
  if (target.value) input.replace(target.value);
  target.value = "";
});
byId("copy").hidden = !navigator.clipboard; // browsers offer it only for secure addresses
byId("copy").addEventListener("click", () => {
  navigator.clipboard.writeText(byId("translation").textContent)
    .then(() => tell("copy", localize("Copied")), () => tell("copy", localize("Not allowed")));
});
byId("link").addEventListener("click", () => {
  const model = data.models.length > 1 ? models.current.name : null;
  writeLink(byId("source").value, model, way.active, view.state, session);
  tell("link", localize("In the address bar"));
});
addEventListener("hashchange", () => {
  const { text, model } = readLink();
  if (!session.model || !text) return;
  const index = models.indexOf(model);
  if (model !== null && data.models[index] !== models.current) models.load(index, text);
  else {
    if (text !== byId("source").value) input.replace(text);
    follow();
  }
});

byId("unforce").addEventListener("click", () => {
  byId("next-tokens").querySelector("button").focus({ preventScroll: true }); // the clicked button gets disabled
  session.prefix = [];
  refresh();
});
byId("restore").addEventListener("click", () => {
  byId(`way-${way.active}`).focus({ preventScroll: true }); // the button disappears
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
byId("man-dog").addEventListener("click", () => {
  session.positions = false;
  input.replace(byId("man-dog").textContent);
});
byId("without-positions").addEventListener("change", ({ target }) => {
  session.positions = !target.checked;
  refresh();
});
for (const id of ["temperature", "top-k", "top-p"]) byId(id).addEventListener("input", drawPanel);
for (const details of document.querySelectorAll("details[data-views]")) {
  details.addEventListener("toggle", drawPanel);
}
byId("again").addEventListener("click", () => {
  session.draw += 1;
  drawPanel();
});

for (const format of /** @type {const} */ (["svg", "png"])) {
  byId(`save-${format}`).addEventListener("click", () => savePicture(format));
}
byId("theme").addEventListener("click", () => {
  switchTheme();
  draw();
});
addEventListener("pointerover", ({ target }) => {
  const label = target.closest(".chip, .heat-map th");
  const title = label && titleOfCopied(label.textContent, session);
  if (title) label.title = title;
});
byId("help").addEventListener("click", () => byId("keys").showModal());
addEventListener("keydown", ({ key }) => {
  if (key === "Escape") cell.close();
});

restoreTheme();
const linked = readLink();
models.load(models.indexOf(linked.model), linked.text);

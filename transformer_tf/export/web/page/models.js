import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { localize } from "../../../attention_maps/browser/texts.js";
import { Engine } from "./engine.js";
import { EXAMPLES, languageName, TOURED } from "./languages.js";
import { bytesOf, loadPack } from "./packs.js";
import { Session } from "./session.js";
import { showError, showProgress, showState } from "./status.js";

const USING_MODEL = ["source", "examples", "undo", "clear", "swap", "start-tour"]; // controls that need a model

/**
 * A model of the page: the name of its files, and the codes of its languages.
 *
 * @typedef {{name: string, source: string, target: string}} Listed
 */

/**
 * The titles of models: their languages, and their names where two have the same languages.
 *
 * @param {Listed[]} models
 */
function titlesOf(models) {
  const pairs = models.map(({ source, target }) => `${languageName(source)} → ${languageName(target)}`)
    .map((pair) => pair.charAt(0).toUpperCase() + pair.slice(1));
  return pairs.map((pair, i) =>
    (pairs.indexOf(pair) === pairs.lastIndexOf(pair) ? pair : `${pair} (${models[i].name})`));
}

/** Lets the user choose a model, and loads it. */
export class Models {
  /**
   * @param {object} options
   * @param {Listed[]} options.listed
   * @param {string[]} options.packs The models in base64, if the page holds them.
   * @param {string} options.kernel The WebAssembly kernel in base64.
   * @param {boolean} options.plain Whether to compute without the kernel.
   * @param {Engine} engine
   * @param {Session} session
   * @param {(text: string, before: Listed|null) => void} onLoad Called with the text of `load`,
   *   and the previous model.
   */
  constructor({ listed, packs, kernel, plain }, engine, session, onLoad) {
    this.listed = listed;
    this.packs = packs;
    this.code = bytesOf(kernel);
    this.plain = plain;
    this.engine = engine;
    this.session = session;
    this.onLoad = onLoad;
    /** @type {Listed|null} */
    this.current = null;
    byId("model-choice").hidden = listed.length < 2;
    this.showTitles();
    byId("model").addEventListener("change", ({ target }) => this.load(Number(target.value)));
    byId("swap").addEventListener("click", () => this.load(this.reverseOf(this.current)));
    byId("swap-instead").addEventListener("click", () =>
      this.load(this.reverseOf(this.current), byId("source").value));
  }

  /** Lists the models in the menu. */
  showTitles() {
    const index = byId("model").value;
    fill(byId("model"), ...titlesOf(this.listed).map((title, i) =>
      element("option", { value: i, selected: String(i) === index }, title)));
  }

  /** Writes the names of languages again, in that of the reader. */
  rename() {
    this.showTitles();
    this.showLanguages(this.listed[byId("model").value]);
  }

  /** @param {string|null} name */
  indexOf(name) {
    return Math.max(this.listed.findIndex((each) => each.name === name), 0);
  }

  /**
   * The index of a model that translates back, or -1.
   *
   * @param {Listed} model
   */
  reverseOf({ source, target }) {
    return this.listed.findIndex((each) => each.source === target && each.target === source);
  }

  /**
   * @param {number} index
   * @param {string} [text] The first text to translate.
   */
  async load(index, text = "") {
    const { session, current: before } = this;
    const chosen = this.listed[index];
    session.model = null;
    byId("model").value = String(index);
    byId("model").disabled = true;
    for (const id of [...USING_MODEL, "copy", "link"]) byId(id).disabled = true;
    byId("source").value ||= text || EXAMPLES[chosen.source]?.[0] || "";
    this.showLanguages(chosen);
    showState("loading");
    try {
      const pack = await loadPack(chosen.name, this.packs[index], showProgress);
      const argument = { pack: pack.buffer, code: this.code, plain: this.plain };
      session.model = (await this.engine.ask("load", argument, [pack.buffer])).result;
    } catch (error) {
      byId("model").disabled = false;
      showError(error);
      return;
    }
    byId("model").disabled = false;
    for (const id of USING_MODEL) byId(id).disabled = false;
    byId("engine").textContent = session.model.engine;
    this.current = chosen;
    this.onLoad(text, before);
  }

  /** @param {Listed} chosen */
  showLanguages(chosen) {
    const { source, target } = chosen;
    byId("swap").hidden = this.reverseOf(chosen) < 0;
    byId("no-swap").hidden = !byId("swap").hidden;
    byId("source-language").textContent = languageName(source);
    byId("target-language").textContent = languageName(target);
    for (const id of ["source", "source-tokens", "arc-source"]) byId(id).lang = source;
    for (const id of ["translation", "target-tokens", "arc-target"]) byId(id).lang = target;
    byId("man-dog").textContent = TOURED[source]?.[1] ?? "";
    byId("man-dog").hidden = !(source in TOURED);
    const examples = EXAMPLES[source] ?? [];
    byId("examples").hidden = !examples.length;
    fill(byId("examples"), element("option", { value: "" }, localize("Examples")),
      ...examples.map((text) => element("option", { value: text }, text)));
  }
}

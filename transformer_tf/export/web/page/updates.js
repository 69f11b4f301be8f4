import { byId } from "../../../attention_maps/browser/dom.js";
import { localize } from "../../../attention_maps/browser/texts.js";
import { Engine } from "./engine.js";
import { Session } from "./session.js";
import { announce, showError, showState } from "./status.js";
import { LONGEST_TEXT, showLanguage, showText, showTranslation } from "./text_view.js";

/**
 * Keeps the translation up to date: the chosen sentence greedily at once, then with the beam; then
 * the other sentences of the text.
 */
export class Updates {
  /**
   * @param {Engine} engine
   * @param {Session} session
   * @param {() => void} onResult
   */
  constructor(engine, session, onResult) {
    this.engine = engine;
    this.session = session;
    this.onResult = onResult;
    this.wanted = 0;
    this.running = false;
    /** @type {Map<string, string>} Translations of sentences by this model. */
    this.known = new Map();
  }

  /** Translates the current text. A call during a translation starts another one after it. */
  async refresh() {
    this.wanted += 1;
    if (this.running || !this.session.model) return;
    this.running = true;
    showState("busy");
    let problem = null;
    for (let done = 0; done !== this.wanted;) {
      const mine = this.wanted;
      const isCurrent = () => mine === this.wanted && this.session.model !== null;
      problem = null;
      try {
        if (await this.split()) {
          await this.translate("greedy");
          if (isCurrent()) await this.translate("beam");
          if (isCurrent()) await this.translateOthers(isCurrent);
        }
      } catch (error) {
        problem = error;
      }
      done = mine;
    }
    this.running = false;
    if (problem !== null) showError(problem);
    else if (this.session.model) {
      showState("ready");
      announce(byId("translation").textContent, this.session.model.languages.target);
    }
  }

  /** Splits the text into sentences; returns whether there are any. */
  async split() {
    const { session } = this;
    const { value, selectionEnd } = byId("source");
    const text = value.slice(0, LONGEST_TEXT);
    const { result } = await this.engine.ask("segments", text);
    showLanguage((await this.engine.ask("language", text)).result);
    session.segments = result;
    if (session.isTyping) {
      session.chosen = result.findIndex(({ end }) => selectionEnd <= end);
      if (session.chosen < 0) session.chosen = result.length - 1;
    }
    session.chosen = Math.max(0, Math.min(session.chosen, result.length - 1));
    document.body.classList.toggle("empty", !result.length);
    if (!result.length) session.result = null;
    showText(session);
    if (!result.length) showTranslation(session, () => "");
    return result.length > 0;
  }

  /** @param {"greedy"|"beam"} search */
  async translate(search) {
    const { engine, session } = this;
    const { text, allCaps } = session.segments[session.chosen];
    const { prefix, changes, isChanged } = session;
    const asked = { text, allCaps, search };
    const { result, milliseconds } = await engine.ask("translate", { ...asked, prefix, ...changes });
    const unchanged = isChanged ? (await engine.ask("translate", asked)).result : null;
    // The text, the sentence or the model may have changed by now.
    const now = session.segments[session.chosen];
    if (!session.model || now?.text !== text || now.allCaps !== allCaps) return;
    byId("time").textContent = localize("translated in this page in {time} ms",
      { time: Math.round(milliseconds) });
    if (search === "beam" && !prefix.length && !changes.hidden.length) {
      this.known.set(this.keyOf(now, changes), result.text);
    }
    const isThere = search === "beam" && !unchanged && !session.isOutdated
      && String(session.result?.ids) === String(result.ids);
    if (isThere) return; // greedy search found the same
    Object.assign(session, { sentence: { text, allCaps }, result, unchanged });
    this.show();
    this.onResult();
  }

  /**
   * Translates the sentences that are not shown, if they are not known.
   *
   * @param {() => boolean} isCurrent Whether this is still wanted.
   */
  async translateOthers(isCurrent) {
    for (const segment of this.session.segments) {
      const key = this.keyOf(segment);
      if (segment === this.session.segments[this.session.chosen] || this.known.has(key)) continue;
      const { text, allCaps } = segment;
      const { changes } = this.session;
      const { result } =
        await this.engine.ask("translate", { text, allCaps, search: "beam", ...changes, hidden: [] });
      if (!isCurrent()) return;
      this.known.set(key, result.text);
      this.show();
    }
  }

  /** Whether the whole text is translated. */
  get isComplete() {
    const { segments, chosen, result, isOutdated } = this.session;
    return result !== null && !isOutdated
      && segments.every((segment, index) => index === chosen || this.known.has(this.keyOf(segment)));
  }

  /** Shows the translations of all sentences, as far as they are known. */
  show() {
    const { session } = this;
    showTranslation(session, (segment, index) => (index === session.chosen
      ? session.result.text : this.known.get(this.keyOf(segment)) ?? "…"));
  }

  /**
   * What the translation of a sentence that is not shown depends on.
   *
   * @param {import("./session.js").Segment} segment
   * @param {Session["changes"]} [changes]
   */
  keyOf({ text, allCaps }, changes = this.session.changes) {
    return JSON.stringify([text, allCaps, { ...changes, hidden: [] }]);
  }
}

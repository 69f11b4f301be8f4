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
    try {
      for (let done = 0; done !== this.wanted;) {
        const mine = this.wanted;
        const isCurrent = () => mine === this.wanted && this.session.model !== null;
        if (await this.split()) {
          await this.translate("greedy");
          if (isCurrent()) await this.translate("beam");
          if (isCurrent()) await this.translateOthers(isCurrent);
        }
        done = mine;
      }
      if (this.session.model) {
        showState("ready");
        announce(byId("translation").textContent);
      }
    } catch (error) {
      showError(error);
    }
    this.running = false;
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
      this.known.set(this.keyOf(now), result.text);
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
   */
  keyOf({ text, allCaps }) {
    const { changes } = this.session;
    return JSON.stringify([text, allCaps, { ...changes, hidden: [] }]);
  }
}

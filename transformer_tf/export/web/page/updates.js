import { byId } from "../../../attention_maps/browser/dom.js";
import { Engine } from "./engine.js";
import { Session } from "./session.js";
import { showTranslation } from "./sentence_view.js";
import { announce, showError, showState } from "./status.js";

/** Keeps the translation up to date: greedily at once, then with the beam. */
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
        await this.translate("greedy");
        if (mine !== this.wanted) continue;
        await this.translate("beam");
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

  /** @param {"greedy"|"beam"} search */
  async translate(search) {
    const { engine, session } = this;
    const text = byId("source").value;
    const isEmpty = !text.trim();
    document.body.classList.toggle("empty", isEmpty);
    if (isEmpty) {
      session.result = null;
      showTranslation(session);
      return;
    }
    const { prefix, changes, isChanged } = session;
    const { result, milliseconds } =
      await engine.ask("translate", { text, search, prefix, ...changes });
    const unchanged = isChanged ? (await engine.ask("translate", { text, search })).result : null;
    // The text and the model may have changed by now.
    if (!session.model || text !== byId("source").value) return;
    byId("time").textContent = `${milliseconds.toFixed(0)} ms · ${
      search === "beam" ? `beam of ${session.model.decoding.beam_size}` : "greedy"} ·`;
    const isThere = search === "beam" && !unchanged && session.text === text
      && String(session.result?.ids) === String(result.ids);
    if (isThere) return; // greedy search found the same
    Object.assign(session, { text, result, unchanged });
    this.onResult();
  }
}

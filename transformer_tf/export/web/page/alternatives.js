import { byId } from "../../../attention_maps/browser/dom.js";
import { localize } from "../../../attention_maps/browser/texts.js";
import { showAlternatives } from "./odds_view.js";
import { Panels } from "./panels.js";
import { Session } from "./session.js";

const BELOW_WORD = 6; // pixels between a word and its alternatives

/** The words that might stand where a word of the translation stands, to choose from. */
export class Alternatives {
  /**
   * @param {Panels} panels
   * @param {Session} session
   * @param {() => void} refresh
   */
  constructor(panels, session, refresh) {
    this.panels = panels;
    this.session = session;
    this.refresh = refresh;
    this.box = byId("alternatives");
  }

  /**
   * @param {HTMLElement} word
   * @param {number} position Of its first token.
   */
  open(word, position) {
    return this.panels.attempt(async () => {
      const odds = await this.panels.ask("odds", { position, temperature: 1 });
      const { session, box } = this;
      session.position = position;
      byId("alternatives-title").textContent = localize("Instead of “{word}”", { word: word.textContent });
      showAlternatives(byId("alternative-words"), odds, session.result.ids[position], (id) => {
        box.hidePopover();
        session.force(id, position);
        this.refresh();
      });
      box.showPopover();
      const { left, bottom } = word.getBoundingClientRect();
      const most = document.documentElement.clientWidth - box.offsetWidth - BELOW_WORD;
      box.style.left = `${Math.max(BELOW_WORD, Math.min(left, most))}px`;
      box.style.top = `${bottom + scrollY + BELOW_WORD}px`;
      box.scrollIntoView({ block: "nearest" });
      box.querySelector("[aria-pressed=true]")?.focus({ preventScroll: true });
    });
  }
}

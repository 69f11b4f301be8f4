import { byId } from "../../../attention_maps/browser/dom.js";
import { shuffleWords } from "./position_view.js";
import { Session } from "./session.js";

const MOVING = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];
// Not pasting.
const TYPING = /^(insertText|insertComposition|insertLine|insertReplacement|delete|history)/;

/** The field of the text, and what else changes the text or chooses a sentence of it. */
export class TextInput {
  /**
   * @param {Session} session
   * @param {() => void} onChange Called after the text or the chosen sentence changed.
   */
  constructor(session, onChange) {
    this.session = session;
    this.onChange = onChange;
    this.ordered = ""; // the text before its words were shuffled
    this.field = byId("source");
    this.field.addEventListener("input", ({ inputType }) =>
      this.begin(TYPING.test(inputType)));
    this.field.addEventListener("click", () => this.chooseAtCaret());
    this.field.addEventListener("keyup", ({ key }) => MOVING.includes(key) && this.chooseAtCaret());
    byId("translation").addEventListener("click", ({ target }) =>
      this.choose(Number(target.dataset.index ?? -1)));
    byId("previous").addEventListener("click", () => this.choose(session.chosen - 1));
    byId("following").addEventListener("click", () => this.choose(session.chosen + 1));
    byId("clear").addEventListener("click", () => {
      this.replace("");
      this.field.focus();
    });
    byId("undo").addEventListener("click", () => {
      this.field.focus({ preventScroll: true });
      document.execCommand("undo");
    });
    byId("shuffle").addEventListener("click", () => this.shuffle());
    byId("unshuffle").addEventListener("click", () => this.replace(this.ordered, session.chosen));
  }

  /**
   * Starts with a text, which undo does not take away.
   *
   * @param {string} text
   */
  start(text) {
    this.field.value = text;
    this.begin(false);
    this.field.focus({ preventScroll: true });
  }

  /**
   * Replaces the text as if it were typed, so that the browser's undo brings the old one back.
   *
   * @param {string} text
   * @param {number} [chosen] The sentence to show.
   */
  replace(text, chosen = 0) {
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    this.field.focus({ preventScroll: true });
    this.field.select();
    // The only way that undo knows.
    if (text) document.execCommand("insertText", false, text);
    else document.execCommand("delete");
    focused.focus({ preventScroll: true });
    this.session.chosen = chosen;
    this.session.isTyping = false;
  }

  /** Shuffles the words of the chosen sentence. */
  shuffle() {
    const { segments, chosen } = this.session;
    const { begin, end } = segments[chosen];
    const { value } = this.field;
    const before = this.ordered || value;
    const shuffled = shuffleWords(value.slice(begin, end));
    this.replace(value.slice(0, begin) + shuffled + value.slice(end), chosen);
    this.keep(before);
  }

  /** @param {string} text The text before its words were shuffled, or "". */
  keep(text) {
    this.ordered = text;
    byId("unshuffle").disabled = !text;
  }

  /** @param {number} index Of a sentence of the text. */
  choose(index) {
    const { session } = this;
    if (!session.segments[index] || index === session.chosen) return;
    session.chosen = index;
    session.isTyping = false;
    session.begin();
    this.onChange();
  }

  chooseAtCaret() {
    this.choose(this.session.segments.findIndex(({ end }) => this.field.selectionEnd <= end));
  }

  /** @param {boolean} isTyping */
  begin(isTyping) {
    this.session.isTyping = isTyping;
    if (!isTyping) this.session.chosen = 0;
    this.keep("");
    this.session.begin();
    this.onChange();
  }
}

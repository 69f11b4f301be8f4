import { byId, fill } from "../../../attention_maps/browser/dom.js";
import { localize } from "../../../attention_maps/browser/texts.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";
import { bar } from "./bars.js";
import { Session } from "./session.js";

const STEP_TIME = 1000; // milliseconds per token
const RISING = 3; // candidates of the next token

/** Plays the translation token by token, as the decoder produces it. */
export class Player {
  /**
   * @param {Session} session
   * @param {() => void} onStep
   */
  constructor(session, onStep) {
    this.session = session;
    this.onStep = onStep;
    this.timer = 0;
    byId("first").addEventListener("click", () => this.goTo(0));
    byId("back").addEventListener("click", () =>
      this.goTo((session.rows ?? session.result.next.length) - 1));
    byId("forward").addEventListener("click", () => this.goTo((session.rows ?? 0) + 1));
    byId("last").addEventListener("click", () => this.goTo(null));
    byId("play").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
  }

  /** @param {number|null} rows Number of tokens to show; null for all. */
  goTo(rows) {
    const { session } = this;
    session.rows = rows === null || rows >= session.result.next.length ? null : Math.max(rows, 0);
    if (session.rows === null) this.stop();
    else session.position = session.rows; // the token that is chosen next
    this.onStep();
  }

  play() {
    if (this.session.rows === null) this.goTo(0);
    byId("play").textContent = localize("Pause");
    this.timer = setInterval(() => {
      if (this.session.rows === null) this.stop(); // a token was chosen by hand
      else this.goTo(this.session.rows + 1);
    }, STEP_TIME);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    byId("play").textContent = localize("Play");
  }

  draw() {
    const { rows, result } = this.session;
    byId("first").disabled = byId("back").disabled = rows === 0;
    byId("last").disabled = byId("forward").disabled = rows === null;
    byId("arcs").classList.toggle("playing", rows !== null);
    fill(byId("rising"), ...(rows === null ? [] : candidatesOf(result, rows)));
    if (rows === null) {
      byId("step").textContent = "";
      return;
    }
    const values = { number: rows, count: result.next.length };
    byId("step").textContent = rows
      ? localize("{number} of {count}: says “{word}”",
        { ...values, word: writeWord([result.maps.decoder.queries[rows - 1]]) })
      : localize("{number} of {count}: nothing said yet", values);
  }
}

/**
 * The likeliest tokens at a position, and the one that is chosen there.
 *
 * @param {import("./session.js").Result} result
 * @param {number} position
 */
function candidatesOf({ next, ids }, position) {
  const listed = next[position];
  const chosen = listed.findIndex(({ id }) => id === ids[position]);
  const ranks = [0, 1, Math.max(chosen, RISING - 1)];
  return ranks.map((rank) => listed[rank]).filter(Boolean).map(({ id, token, probability }, i) =>
    bar(writeWord([token]), probability, { key: `rising-${i}`, chosen: id === ids[position] }));
}

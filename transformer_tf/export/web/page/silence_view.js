/** Silencing heads of the attention view, and what each of them costs this sentence. */

import { AttentionView } from "../../../attention_maps/browser/attention_view.js";
import { byId } from "../../../attention_maps/browser/dom.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";
import { entriesOf, writeWord } from "../../../attention_maps/browser/tokens.js";
import { Panels } from "./panels.js";
import { Session } from "./session.js";

const QUIET_TIME = 400; // milliseconds without a change before losses are measured
const NAMED = 3; // tokens that change the most
const SMALLEST_CHANGE = 0.005; // of a probability that is told
const SMALLEST_LOSS = 0.0005; // nats a word that are told

/** Silences heads, and tints the small maps by the loss that silencing each of them causes. */
export class Silence {
  /**
   * @param {Panels} panels
   * @param {Session} session
   * @param {AttentionView} view
   * @param {() => Promise<void>} refresh
   */
  constructor(panels, session, view, refresh) {
    this.panels = panels;
    this.session = session;
    this.view = view;
    this.refresh = refresh;
    /** @type {Map<string, number[]>} The probabilities of the tokens without each head. */
    this.without = new Map();
    /** @type {number[]} The probabilities of the tokens. */
    this.before = [];
    /** @type {import("./session.js").Result|null} The translation that they belong to. */
    this.result = null;
    this.waiting = 0;
    byId("silence-head").addEventListener("click", () => this.toggle(this.names.head));
    byId("silence-layer").addEventListener("click", () => this.toggle(this.names.layer));
    byId("until-broken").addEventListener("click", () => panels.attempt(() => this.untilItBreaks()));
    byId("heads").addEventListener("click", ({ target }) => {
      const { layer, head } = target.closest("button")?.dataset ?? {};
      if (byId("click-silences").checked && head) this.toggle([`${view.state.kind}.${layer}.${head}`]);
    });
  }

  /** The names of the head that is shown, and of all heads of its layer. */
  get names() {
    const { shown, state: { kind, layer, head } } = this.view;
    return {
      head: [`${kind}.${layer}.${head}`],
      layer: Array.from({ length: shown.maps[kind].heads }, (_, i) => `${kind}.${layer}.${i}`),
    };
  }

  /** @param {string[]} names */
  toggle(names) {
    this.session.toggleHeads(names);
    this.refresh();
  }

  /** Shows what the buttons would do and what is known of the losses, and measures the others. */
  draw() {
    const { session: { silenced, result } } = this;
    const { head, layer } = this.names;
    const isSilent = (names) => names.every((name) => silenced.has(name));
    byId("silence-head").textContent = isSilent(head) ? localize("Restore this head")
      : localize("Silence this head");
    byId("silence-layer").textContent = isSilent(layer) ? localize("Restore its layer")
      : localize("Silence its layer");
    if (result !== this.result) {
      this.result = result;
      this.without.clear();
    }
    this.showLosses();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.panels.attempt(() => this.measure()), QUIET_TIME);
  }

  /** Measures the losses of the heads of the kind that is shown. */
  async measure() {
    const { panels, view: { shown, state: { kind } } } = this;
    this.before = await panels.ask("probabilities");
    for (let layer = 0; layer < shown.maps[kind].layers; layer++) {
      if (this.without.has(`${kind}.${layer}.0`)) continue;
      const heads = await panels.ask("losses", { kind, layer });
      heads.forEach((probabilities, head) =>
        this.without.set(`${kind}.${layer}.${head}`, probabilities));
    }
    this.showLosses();
  }

  /**
   * The increase of the cross-entropy when a head is silent, in nats a word.
   *
   * @param {string} name
   */
  lossOf(name) {
    const { queries } = this.session.result.maps.cross;
    const words = entriesOf(queries, { words: true, special: false }).length;
    const without = this.without.get(name) ?? this.before;
    return this.before.reduce((sum, share, i) => sum + Math.log(share / without[i]), 0)
      / Math.max(words, 1);
  }

  showLosses() {
    const { kind } = this.view.state;
    const known = [...this.without.keys()].filter((name) => name.startsWith(kind));
    const largest = Math.max(0, ...known.map((name) => this.lossOf(name)));
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (
      byId("heads").querySelectorAll("button"))) {
      const name = `${kind}.${button.dataset.layer}.${button.dataset.head}`;
      const loss = this.without.has(name) ? this.lossOf(name) : 0;
      button.style.setProperty("--loss", String(Math.max(0, loss / (largest || 1))));
      button.title = this.without.has(name) ? tellLoss(loss) : "";
    }
    byId("losses").textContent = known.length
      ? localize("Frames: how much the loss rises without a head, up to {loss} nats a word. The loss says how surprised the model is by each word of its translation.",
        { loss: decimal(largest, 2) })
      : localize("Measuring what each head is worth for this sentence …");
    byId("loss").textContent = this.describe(this.names.head[0]);
  }

  /** @param {string} name */
  describe(name) {
    if (this.session.silenced.has(name)) return localize("This head is silent.");
    if (!this.without.has(name)) return "";
    const tokens = this.session.result.maps.cross.queries;
    const changed = this.without.get(name)
      .map((share, i) => ({ share, old: this.before[i], word: writeWord([tokens[i]]) }))
      .filter(({ share, old }) => Math.abs(share - old) >= SMALLEST_CHANGE)
      .sort((one, other) => Math.abs(other.share - other.old) - Math.abs(one.share - one.old))
      .slice(0, NAMED)
      .map(({ share, old, word }) => `${word} ${decimal(old, 2)}\u00a0→\u00a0${decimal(share, 2)}`);
    const told = tellLoss(this.lossOf(name));
    return changed.length
      ? `${told} ${localize("Probability of {changes}.", { changes: changed.join(", ") })}` : told;
  }

  /** Silences the heads of this kind, the costliest first, until the translation is another. */
  async untilItBreaks() {
    const { panels, session, view: { state: { kind } } } = this;
    const button = byId("until-broken");
    button.disabled = true;
    try {
      await this.measure();
      const said = session.result.text;
      const order = [...this.without.keys()].filter((name) =>
        name.startsWith(kind) && !session.silenced.has(name))
        .sort((one, other) => this.lossOf(other) - this.lossOf(one));
      const silenced = [...session.silenced];
      for (const name of order) {
        silenced.push(name);
        button.firstChild.data = localize("{count} silenced …", { count: silenced.length });
        const asked = { search: "beam", prefix: session.prefix, silenced };
        if ((await panels.ask("translate", asked)).text !== said) break;
      }
      session.silenced = new Set(silenced);
      await this.refresh();
    } finally {
      button.disabled = false;
      button.firstChild.data = localize("Silence until the translation changes");
    }
  }
}

/**
 * Says what silencing a head does to the loss.
 *
 * @param {number} loss Its increase, in nats a word.
 */
function tellLoss(loss) {
  const values = { loss: decimal(Math.abs(loss), 3) };
  if (Math.abs(loss) < SMALLEST_LOSS) return localize("Without this head, the translation is as likely as before.");
  return loss > 0
    ? localize("Without this head, the translation is less likely: the loss rises by {loss} nats a word.", values)
    : localize("Without this head, the translation is more likely: the loss falls by {loss} nats a word.", values);
}

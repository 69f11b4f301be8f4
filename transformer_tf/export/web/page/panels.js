/** The content of the open view. */

import { byId } from "../../../attention_maps/browser/dom.js";
import { decimal, localize } from "../../../attention_maps/browser/texts.js";
import { showTree } from "./beam_view.js";
import { Engine } from "./engine.js";
import { showLayers } from "./layer_view.js";
import { showEffect, showHidden } from "./mask_view.js";
import { showMerges } from "./merge_view.js";
import { showOdds } from "./odds_view.js";
import { showPositions } from "./position_view.js";
import { DRAWS, readSliders, showDraws } from "./sampling_view.js";
import { entriesOfResult } from "./sentence_view.js";
import { Session } from "./session.js";
import { showProblem } from "./status.js";
import { showVectors } from "./vector_view.js";

/** Thrown when an answer arrives for a translation or a position that is no longer shown. */
class Outdated extends Error {}

/** Draws the open parts of the page from the session and the answers of the engine. */
export class Panels {
  /**
   * @param {Engine} engine
   * @param {Session} session
   * @param {() => void} refresh Called after a choice that changes the translation.
   */
  constructor(engine, session, refresh) {
    this.engine = engine;
    this.session = session;
    this.refresh = refresh;
    this.turn = 0; // of `draw`: a view that was left draws nothing more
    /** @type {Record<string, () => unknown>} By the id of the part. */
    this.drawing = {
      pieces: () => this.drawPieces(),
      positions: () => this.drawPositions(),
      vectors: () => this.drawVectors(),
      masks: () => this.drawMasks(),
      layers: () => this.drawLayers(),
      odds: () => this.drawOdds(),
      draws: () => this.drawDraws(),
      beam: () => this.drawBeam(),
    };
  }

  /** @param {string} view */
  async draw(view) {
    showProblem(null);
    const parts = /** @type {NodeListOf<HTMLDetailsElement>} */ (
      document.querySelectorAll(`[data-views~="${view}"]:not(details:not([open]))`));
    this.view = view;
    const turn = ++this.turn;
    await this.attempt(async () => {
      for (const { id } of parts) {
        if (turn === this.turn) await this.drawing[id]?.();
      }
    }, () => turn === this.turn);
  }

  /**
   * Shows why something failed, unless it is no longer wanted.
   *
   * @param {() => Promise<void>} action
   * @param {() => boolean} isWanted Whether the action is still wanted.
   */
  async attempt(action, isWanted = () => true) {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof Outdated) && isWanted()) showProblem(error);
    }
  }

  /**
   * @param {string} method A method of `worker.js`.
   * @param {object} [asked] Additions to the usual request, whose prefix is the whole translation.
   */
  async ask(method, asked = {}) {
    const { sentence, result, changes } = this.session;
    if (result === null) throw new Outdated(); // the text was cleared
    const answer = await this.engine.ask(method,
      { ...sentence, prefix: result.ids, ...changes, ...asked });
    if (result !== this.session.result) throw new Outdated();
    return answer.result;
  }

  async drawOdds() {
    const { session } = this;
    const { position } = session;
    const { temperature } = readSliders();
    const odds = await this.ask("odds", { position, temperature });
    if (position !== session.position) throw new Outdated();
    showOdds(odds, session, temperature, (id) => {
      session.force(id, position);
      this.refresh();
    });
  }

  async drawVectors() {
    const { result, position, sourcePosition } = this.session;
    const side = this.view === "decoder" ? "target" : "source";
    const { keys } = result.maps[side === "target" ? "decoder" : "encoder"];
    const chosen = Math.min(side === "target" ? position : sourcePosition, keys.length - 1);
    const vectors = await this.ask("vectors", { side, position: chosen });
    showVectors(this.view === "positions" ? vectors.filter(({ layer }) => layer === null).slice(0, 3)
      : vectors, side === "target" ? result.maps.cross.queries[chosen] : keys[chosen], side);
  }

  async drawMasks() {
    const { session } = this;
    const { result, hidden, padding, future } = session;
    byId("future").checked = future;
    byId("padding").value = String(padding);
    byId("padding-value").textContent = String(padding);
    showHidden(entriesOfResult(session).source, hidden, (positions) => {
      session.toggleHidden(positions);
      this.refresh();
    });
    const before = await this.ask("probabilities", { hidden: [], padding: 0 });
    const after = await this.ask("probabilities", { future });
    const isChanged = hidden.size > 0 || padding > 0 || future;
    showEffect(result.maps.cross.queries, before, after, isChanged);
  }

  drawPositions() {
    const { session } = this;
    const { result, positions, model: { model } } = session;
    byId("without-positions").checked = !positions;
    byId("positions-summary").textContent = positions ? ""
      : localize("Without positions: “{text}”, log-probability {log}",
        { text: result.text, log: decimal(result.logProb, 4) });
    byId("sines").hidden = model.position !== "sinusoidal";
    showPositions(entriesOfResult(session).source, model.d_model, session.sourcePosition);
  }

  async drawBeam() {
    showTree(await this.ask("tree", { prefix: this.session.prefix }));
  }

  async drawDraws() {
    const { draw, prefix } = this.session;
    const seeds = Array.from({ length: DRAWS }, (_, i) => DRAWS * draw + i);
    showDraws(await this.ask("draws", { prefix, seeds, settings: readSliders() }));
  }

  async drawLayers() {
    showLayers(await this.ask("layers"), this.session.result.maps.cross.queries);
  }

  async drawPieces() {
    showMerges(await this.ask("merges"));
  }
}

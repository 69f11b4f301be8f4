/** A tour of the page in six steps, each with a sentence of its own. */

import { byId } from "../../../attention_maps/browser/dom.js";
import { localize } from "../../../attention_maps/browser/texts.js";
import { TOURED } from "./languages.js";
import { Player } from "./player.js";
import { TextInput } from "./text_input.js";
import { Way } from "./way_view.js";

/** @returns {{title: string, told: string, view: string, at: string}[]} */
const stepsOfTour = () => [
  {
    title: localize("Words become numbers"), view: "pieces", at: "#pieces",
    told: localize("The model cuts a sentence into pieces that it knows, each with a number. Long words take several."),
  },
  {
    title: localize("Each piece gets its place"), view: "positions", at: "#positions .controls",
    told: localize("Each piece is marked with its position. Switch the positions off, and the model no longer knows who bit whom."),
  },
  {
    title: localize("It looks back"), view: "cross", at: "#arcs",
    told: localize("To choose a word, the model looks back at the sentence. Thick lines show where it looks most."),
  },
  {
    title: localize("Many heads look at once"), view: "encoder", at: ".side-column",
    told: localize("Each small map is one head, and each has its own habit. A strong frame marks a head that this sentence needs."),
  },
  {
    title: localize("One word after the other"), view: "odds", at: "#arcs",
    told: localize("The translation is said one piece after the other. The likeliest candidate wins and is read again."),
  },
  {
    title: localize("Several beginnings compete"), view: "beam", at: "#beam",
    told: localize("Several beginnings are tried side by side, and the best whole sentence wins. Now type your own."),
  },
];

/** Leads through the page. */
export class Tour {
  /**
   * @param {Way} way
   * @param {TextInput} input
   * @param {Player} player
   */
  constructor(way, input, player) {
    this.way = way;
    this.input = input;
    this.player = player;
    /** @type {number|null} */
    this.step = null;
    byId("start-tour").addEventListener("click", () => this.go(0));
    byId("tour-back").addEventListener("click", () => this.go(this.step - 1));
    byId("tour-next").addEventListener("click", () => this.go(this.step + 1));
    byId("tour-end").addEventListener("click", () => this.end());
    addEventListener("keydown", ({ key }) => key === "Escape" && this.step !== null && this.end());
  }

  /** @param {number} step */
  go(step) {
    const steps = stepsOfTour();
    if (step === steps.length) {
      this.end();
      byId("source").focus();
      byId("source").select();
      return;
    }
    this.step = step;
    const { view, at } = steps[step];
    const moves = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.player.stop();
    this.input.replace(TOURED[byId("source").lang]?.[step] ?? byId("source").value);
    this.way.open(view);
    byId("tour").hidden = false;
    this.tell();
    this.light(document.querySelector(at), moves);
    if (view === "odds" && moves) this.player.play();
    byId("tour-next").focus({ preventScroll: true });
  }

  /** Tells the step, if the tour is on. */
  tell() {
    if (this.step === null) return;
    const steps = stepsOfTour();
    const { title, told } = steps[this.step];
    byId("tour-title").textContent = localize("{number} of {count}: {title}",
      { number: this.step + 1, count: steps.length, title });
    byId("tour-told").textContent = told;
    byId("tour-back").disabled = this.step === 0;
    byId("tour-next").textContent = this.step === steps.length - 1 ? localize("Try a sentence of yours")
      : localize("Next");
  }

  /**
   * @param {Element|null} place
   * @param {boolean} moves
   */
  light(place, moves) {
    document.querySelector(".toured")?.classList.remove("toured");
    place?.classList.add("toured");
    place?.scrollIntoView({ block: "start", behavior: moves ? "smooth" : "auto" });
  }

  end() {
    this.step = null;
    this.player.stop();
    this.light(null, false);
    byId("tour").hidden = true;
    byId("start-tour").focus({ preventScroll: true });
  }
}

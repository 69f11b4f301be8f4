/** A tour of the page in six steps, each with a sentence of its own. */

import { byId } from "../../../attention_maps/browser/dom.js";
import { TOURED } from "./languages.js";
import { Player } from "./player.js";
import { TextInput } from "./text_input.js";
import { Way } from "./way_view.js";

/** @type {{title: string, told: string, view: string, at: string}[]} */
const STEPS = [
  {
    title: "Words become numbers", view: "pieces", at: "#pieces",
    told: "The model cuts a sentence into pieces that it knows, each with a number. Long words take several.",
  },
  {
    title: "Positions", view: "positions", at: "#positions .controls",
    told: "Each piece also gets a place. Switch the positions off, and the model no longer knows who bit whom.",
  },
  {
    title: "A head looks", view: "cross", at: "#arcs",
    told: "To choose a word, the model looks back at the sentence. Thick lines show where it looks hard.",
  },
  {
    title: "Many heads", view: "encoder", at: ".side-column",
    told: "Each small map is one head, and each has another habit. A strong frame marks a head that this sentence needs.",
  },
  {
    title: "Word by word", view: "odds", at: "#arcs",
    told: "The translation is said one piece after the other. The likeliest candidate wins and is read again.",
  },
  {
    title: "The beam", view: "beam", at: "#beam",
    told: "Several beginnings are tried side by side, and the best whole sentence wins. Now type your own.",
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
    if (step === STEPS.length) {
      this.end();
      byId("source").focus();
      byId("source").select();
      return;
    }
    this.step = step;
    const { title, told, view, at } = STEPS[step];
    const moves = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.player.stop();
    this.input.replace(TOURED[byId("source").lang]?.[step] ?? byId("source").value);
    this.way.open(view);
    byId("tour").hidden = false;
    byId("tour-title").textContent = `${step + 1} of ${STEPS.length}: ${title}`;
    byId("tour-told").textContent = told;
    byId("tour-back").disabled = step === 0;
    byId("tour-next").textContent = step === STEPS.length - 1 ? "Type your own" : "Next";
    this.light(document.querySelector(at), moves);
    if (view === "odds" && moves) this.player.play();
    byId("tour-next").focus({ preventScroll: true });
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

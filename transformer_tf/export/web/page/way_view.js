import { byId, element, fill, themeColor } from "../../../attention_maps/browser/dom.js";
import { drawSmallMap } from "../../../attention_maps/browser/heat_map.js";
import { localize } from "../../../attention_maps/browser/texts.js";
import { writeWord } from "../../../attention_maps/browser/tokens.js";
import { drawWaves } from "./position_view.js";
import { entriesOfResult } from "./sentence_view.js";
import { Session } from "./session.js";

const BARS = 5;

/** @typedef {(session: Session) => HTMLElement[]} Miniature */

/**
 * The boxes of the way: what happens there, the field's term for it, and a miniature of this
 * sentence. Their names are those of the views.
 *
 * @type {Record<string, {title: () => string, term: (session: Session) => string, miniature: Miniature,
 *   note?: () => string}>}
 */
const BOXES = {
  pieces: {
    title: () => localize("Cut"), term: () => localize("sub-words"), miniature: miniPieces,
  },
  positions: {
    title: () => localize("Number"), term: () => localize("positions"), miniature: miniPositions,
  },
  encoder: {
    title: () => localize("Read"),
    term: ({ model }) => localize("encoder × {count}", { count: model.model.num_layers }),
    miniature: (session) => miniLayers(session, "encoder"),
  },
  cross: {
    title: () => localize("Look back"), term: () => localize("cross-attention"),
    miniature: (session) => miniLayers(session, "cross"),
  },
  decoder: {
    title: () => localize("Remember"),
    term: ({ model }) => localize("decoder × {count}", { count: model.model.num_decoder_layers }),
    miniature: (session) => miniLayers(session, "decoder"),
    note: () => localize("The arrow points back: “Look back” starts from what is remembered here, layer by layer."),
  },
  odds: {
    title: () => localize("Choose"), term: () => localize("probabilities"), miniature: miniOdds,
  },
  beam: {
    title: () => localize("Say"), term: () => localize("word by word"), miniature: miniWord,
    note: () => localize("Each new piece goes to “Remember” before the next one is chosen, until the end."),
  },
};

/** The way through the model, a box for each part, one of which is open. */
export class Way {
  /**
   * @param {Session} session
   * @param {() => void} onOpen
   */
  constructor(session, onOpen) {
    this.session = session;
    this.onOpen = onOpen;
    this.active = "cross";
    this.boxes = Object.keys(BOXES).map((name) => element("button", {
      type: "button", id: `way-${name}`, click: () => this.open(name),
    }, element("span", { class: "box-title" }), element("span", { class: "mini" }),
    element("span", { class: "box-term" })));
    byId("way").append(...this.boxes);
    byId("way").addEventListener("keydown", (event) => this.move(event));
    this.mark();
    new ResizeObserver(() => this.reveal()).observe(byId("way")); // also when it is shown at last
  }

  /** @param {string} name */
  open(name) {
    if (!(name in BOXES)) return;
    this.active = name;
    this.mark();
    this.onOpen();
  }

  mark() {
    for (const box of this.boxes) {
      const isOpen = box.id === `way-${this.active}`;
      box.setAttribute("aria-pressed", String(isOpen));
    }
    this.reveal();
    for (const part of /** @type {NodeListOf<HTMLElement>} */ (
      document.querySelectorAll("[data-views]"))) {
      part.hidden = !part.dataset.views.split(" ").includes(this.active);
    }
  }

  /** Scrolls to the open box. */
  reveal() {
    const box = byId(`way-${this.active}`);
    byId("way").scrollLeft = box.offsetLeft - (byId("way").clientWidth - box.offsetWidth) / 2;
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = this.boxes[this.boxes.indexOf(event.target) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
    next.click();
  }

  draw() {
    this.boxes.forEach((box) => {
      const { title, term, miniature, note } = BOXES[box.id.slice("way-".length)];
      const [name, mini, under] = box.children;
      name.textContent = title();
      under.textContent = term(this.session);
      if (note) box.title = note();
      fill(mini, ...miniature(this.session));
    });
  }
}

/** @type {Miniature} */
function miniPieces(session) {
  return entriesOfResult(session).source.filter(({ special }) => !special).map(({ label, joined }) => {
    const piece = element("i", { class: joined && "joined" });
    piece.style.flexGrow = String(label.length);
    return piece;
  });
}

/** @type {Miniature} */
function miniPositions(session) {
  const canvas = element("canvas");
  drawWaves(canvas, entriesOfResult(session).source.length, session.model.model.d_model);
  return [canvas];
}

/**
 * A map for each layer: the mean of its heads, as strong as its largest weight.
 *
 * @param {Session} session
 * @param {"encoder"|"decoder"|"cross"} kind
 */
function miniLayers({ result, rows }, kind) {
  const { queries, keys, layers, heads, scores } = result.maps[kind];
  const [height, width, ink] = [queries.length, keys.length, themeColor("ink")];
  return Array.from({ length: layers }, (_, layer) => {
    const mean = Array.from({ length: height }, () => Array(width).fill(0));
    const shown = kind === "encoder" ? height : rows ?? height;
    for (let head = 0; head < heads; head++) {
      const begin = (layer * heads + head) * height * width;
      for (let i = 0; i < shown * width; i++) {
        mean[Math.floor(i / width)][i % width] += scores[begin + i] / heads;
      }
    }
    const canvas = element("canvas");
    const largest = Math.max(...mean.flat()) || 1;
    drawSmallMap(canvas, mean.map((row) => row.map((weight) => weight / largest)), ink);
    return canvas;
  });
}

/** The token that is chosen next while the translation is played, else the one that is shown. */
const positionOf = ({ rows, position, result }) =>
  Math.min(rows ?? position, result.next.length - 1);

/** @type {Miniature} */
function miniOdds(session) {
  const { result } = session;
  const position = positionOf(session);
  return result.next[position].slice(0, BARS).map(({ id, probability }) => {
    const column = element("b", { class: id === result.ids[position] && "chosen" });
    column.style.setProperty("--share", String(probability));
    return column;
  });
}

/** @type {Miniature} */
function miniWord(session) {
  const { result } = session;
  return [element("em", {}, writeWord([result.maps.cross.queries[positionOf(session)]]))];
}

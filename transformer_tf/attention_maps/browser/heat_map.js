import { element, themeColor } from "./dom.js";
import { decimal, localize } from "./texts.js";

const LONGEST_LABEL = 16; // characters
const MOST_CELLS = 1000; // a larger map is a picture, since a cell of a table is slow
const WIDE_ENOUGH = 30; // pixels of a cell that shows its number
const FADED = 0.4; // of the weight where nothing is pointed at

/**
 * Shortens a label.
 *
 * @param {string} label
 * @param {number} [longest] Maximum number of characters; by default what fits beside a map.
 */
export function shorten(label, longest = LONGEST_LABEL) {
  const characters = [...label];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : label;
}

/** @param {import("./sentences.js").Row} row */
function rowLabel(row) {
  if (!("read" in row)) return [shorten(row.label)];
  const [read, said] = [row.read, row.said].map(({ label }) => shorten(label));
  return [element("span", { class: "read" }, read), " ▸ ", element("span", { class: "said" }, said)];
}

/**
 * @param {number} weight
 * @param {number} row
 * @param {number} column
 * @param {boolean} forbidden
 */
function weightCell(weight, row, column, forbidden) {
  const cell = element("td", {
    class: forbidden && "forbidden", "data-row": row, "data-column": column,
    "aria-label": decimal(weight, 2),
  });
  cell.style.setProperty("--weight", weight.toFixed(4));
  return cell;
}

/**
 * A bar, because it is no key that the row looks at.
 *
 * @param {number} rest
 * @param {number} row
 */
function restCell(rest, row) {
  const bar = element("span", {});
  bar.style.setProperty("--share", rest.toFixed(4));
  return element("td", { class: "rest", "data-row": row, "aria-label": decimal(rest, 2) }, bar);
}

/**
 * A large map: a table whose cells are colored by weight and whose headers stay visible.
 *
 * Pointing chooses a row, a column or a cell; so do the arrow keys. Left of the first column, they
 * choose a whole row; above the first row, a whole column.
 */
export class HeatMap {
  /**
   * @param {HTMLTableElement} table
   * @param {(row: number|null, column: number|null) => void} onPoint
   * @param {(row: number, column: number) => void} [onOpen] Called for a click on a cell.
   */
  constructor(table, onPoint, onOpen) {
    this.table = table;
    this.onPoint = onPoint;
    /** @type {number|null} */
    this.row = null;
    /** @type {number|null} */
    this.column = null;
    this.rows = 0;
    this.columns = 0;
    /** @type {HTMLElement[]} The cells and headers of the chosen row and column. */
    this.lit = [];
    /** @type {HTMLCanvasElement|null} The cells of a large map. */
    this.canvas = null;
    /** @type {{full: HTMLCanvasElement, faded: HTMLCanvasElement}|null} What it is composed of. */
    this.pictures = null;
    new ResizeObserver(() => this.number()).observe(table);
    const follow = ({ target, offsetX, offsetY }) => {
      if (target === this.canvas) {
        const at = (offset, size, count) => Math.min(Math.floor((offset / size) * count), count - 1);
        this.point(at(offsetY, target.clientHeight, this.rows), at(offsetX, target.clientWidth, this.columns));
        return;
      }
      const { row, column } = target.closest?.("td, th")?.dataset ?? {};
      const number = (text) => (text === undefined ? null : Number(text));
      this.point(number(row), number(column));
    };
    table.addEventListener("pointermove", follow);
    table.addEventListener("pointerdown", follow);
    table.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") this.point(null, null);
    });
    table.addEventListener("keydown", (event) => this.move(event));
    if (onOpen) {
      const open = () => {
        if (this.row !== null && this.column !== null) onOpen(this.row, this.column);
      };
      table.addEventListener("click", open);
      table.addEventListener("keydown", (event) => {
        if (event.key === "Enter") open();
      });
    }
  }

  /**
   * @param {import("./sentences.js").Row[]} queries
   * @param {import("./tokens.js").Entry[]} keys
   * @param {number[][]} weights
   * @param {{rows: string, columns: string}} axes Titles of the axes.
   * @param {number[]|null} rests The weights of each row that no column shows; null if there are
   *   none.
   * @param {(row: number, column: number) => boolean} isForbidden Whether the query may not look at
   *   the key.
   */
  draw(queries, keys, weights, axes, rests, isForbidden) {
    const { table } = this;
    this.canvas = queries.length * keys.length > MOST_CELLS ? element("canvas") : null;
    [this.rows, this.columns] = [queries.length, keys.length];
    [this.row, this.column] = [null, null];
    table.style.setProperty("--columns", String(keys.length));
    table.style.setProperty("--rows", String(queries.length));
    const head = element("thead", {},
      element("tr", {}, element("td", { class: "corner" }),
        element("th", { class: "axis", scope: "colgroup", colspan: keys.length }, axes.columns)),
      element("tr", {},
        element("td", { class: "corner" }, element("span", { class: "axis" }, axes.rows)),
        ...keys.map(({ label, special }, column) => element("th", {
          scope: "col", "data-column": column, class: special && "special", title: label,
        }, element("span", {}, shorten(label)))),
        rests && element("th", { scope: "col", class: "special" },
          element("span", {}, localize("elsewhere")))));
    const body = element("tbody", {}, ...queries.map((query, row) => element("tr", {},
      element("th", {
        scope: "row", "data-row": row, class: query.special && "special", title: query.label,
      }, ...rowLabel(query)),
      ...(this.canvas ? [row ? null : this.pictureCell()] : weights[row].map((weight, column) =>
        weightCell(weight, row, column, isForbidden(row, column)))),
      rests && restCell(rests[row], row))));
    table.replaceChildren(head, body);
    table.classList.remove("pointed");
    this.lit = [];
    if (this.canvas) {
      this.pictures = { full: element("canvas"), faded: element("canvas") };
      const ink = themeColor("ink");
      drawSmallMap(this.pictures.full, weights, ink);
      drawSmallMap(this.pictures.faded, weights.map((each) => each.map((weight) => FADED * weight)), ink);
      Object.assign(this.canvas, { width: this.columns, height: this.rows });
      this.drawCanvas();
    }
    this.number();
  }

  /** The one cell of a large map. */
  pictureCell() {
    return element("td", { class: "picture", rowspan: this.rows, colspan: this.columns }, this.canvas);
  }

  /** Draws a large map, a pixel for each cell; what is not chosen is faded. */
  drawCanvas() {
    const { row, column, rows, columns, pictures: { full, faded } } = this;
    const context = this.canvas.getContext("2d");
    const copy = (picture, x, y, width, height) => {
      context.clearRect(x, y, width, height);
      context.drawImage(picture, x, y, width, height, x, y, width, height);
    };
    copy(row === null && column === null ? full : faded, 0, 0, columns, rows);
    if (row !== null) copy(full, 0, row, columns, 1);
    if (column !== null) copy(full, column, 0, 1, rows);
  }

  /** Shows the numbers of cells if they have room. */
  number() {
    const cell = /** @type {HTMLElement|null} */ (this.table.querySelector("td[data-column]"));
    this.table.classList.toggle("numbered", cell !== null && cell.offsetWidth >= WIDE_ENOUGH);
  }

  /**
   * Chooses a row, a column or both.
   *
   * @param {number|null} row
   * @param {number|null} column
   */
  point(row, column) {
    if (row === this.row && column === this.column) return;
    Object.assign(this, { row, column });
    for (const cell of this.lit) {
      cell.classList.remove("lit", "cursor");
      cell.removeAttribute("id");
    }
    this.table.removeAttribute("aria-activedescendant");
    this.lit = Array.from(this.table.querySelectorAll(
      `[data-row="${row}"], [data-column="${column}"]`));
    for (const cell of this.lit) {
      cell.classList.add("lit");
      const isCursor = cell.matches(`[data-row="${row}"][data-column="${column}"]`);
      cell.classList.toggle("cursor", isCursor);
      if (!isCursor) continue;
      cell.id = "cursor";
      this.table.setAttribute("aria-activedescendant", "cursor");
    }
    if (this.canvas) this.drawCanvas();
    this.table.classList.toggle("pointed", row !== null || column !== null);
    this.onPoint(row, column);
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "Escape") {
      this.point(null, null);
    } else if (["Home", "End"].includes(event.key) && this.rows && this.columns) {
      event.preventDefault();
      const end = (size) => (event.key === "Home" ? 0 : size - 1);
      this.point(event.ctrlKey ? end(this.rows) : this.row ?? 0, end(this.columns));
      this.reveal();
    } else if (steps[event.key] && this.rows && this.columns) {
      event.preventDefault();
      const [down, across] = steps[event.key];
      const first = this.row === null && this.column === null;
      const next = (place, step, size) => {
        const moved = Math.min((place ?? -1) + step, size - 1);
        return moved < 0 ? null : moved;
      };
      const row = first ? 0 : next(this.row, down, this.rows);
      const column = first ? 0 : next(this.column, across, this.columns);
      if (row === null && column === null) return;
      this.point(row, column);
      this.reveal();
    }
  }

  /** Scrolls to the chosen cell, or to the headers of its row and column. */
  reveal() {
    const { row, column, table } = this;
    const names = [row !== null && `[data-row="${row}"]`, column !== null && `[data-column="${column}"]`]
      .filter(Boolean);
    const found = table.querySelector(names.join("")) ? [names.join("")] : names;
    for (const selector of found) {
      table.querySelector(selector)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }
}

/**
 * Draws a small map of weights, a pixel for each.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number[][]} weights
 * @param {number[]} ink Red, green and blue of weight 1; weight 0 is transparent.
 */
export function drawSmallMap(canvas, weights, ink) {
  const [height, width] = [Math.max(weights.length, 1), Math.max(weights[0]?.length ?? 0, 1)];
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  weights.flat().forEach((weight, i) => {
    picture.data.set([...ink, Math.round(255 * Math.min(weight, 1))], 4 * i);
  });
  context.putImageData(picture, 0, 0);
}

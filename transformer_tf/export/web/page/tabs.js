import { element } from "../../../attention_maps/browser/dom.js";

/** The row of views, one of which is open. */
export class Tabs {
  /**
   * @param {HTMLElement} row Filled with a button for each panel of the page.
   * @param {() => void} onChange
   */
  constructor(row, onChange) {
    this.panels = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[role=tabpanel]")]);
    this.onChange = onChange;
    this.active = this.panels[0].id;
    this.buttons = this.panels.map(({ id, dataset }) => element("button", {
      type: "button", role: "tab", id: `tab-${id}`, "aria-controls": id,
      click: () => this.open(id),
    }, dataset.title));
    this.panels.forEach((panel) => panel.setAttribute("aria-labelledby", `tab-${panel.id}`));
    row.append(...this.buttons);
    row.addEventListener("keydown", (event) => this.move(event));
    this.mark();
  }

  /** @param {string} id Of a panel. */
  open(id) {
    this.active = id;
    this.mark();
    this.onChange();
  }

  mark() {
    this.panels.forEach((panel, i) => {
      const chosen = panel.id === this.active;
      panel.hidden = !chosen;
      this.buttons[i].setAttribute("aria-selected", String(chosen));
      this.buttons[i].tabIndex = chosen ? 0 : -1;
    });
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const count = this.panels.length;
    const place = this.panels.findIndex(({ id }) => id === this.active);
    const next = (place + step + count) % count;
    this.open(this.panels[next].id);
    this.buttons[next].focus();
  }
}

/** The language of the page's own texts: the browser's, or the one that was chosen. */

import { byId, element } from "../../../attention_maps/browser/dom.js";
import { lookUp, setTexts } from "../../../attention_maps/browser/texts.js";

const STORED = "transformer-tf-language"; // its name in the browser's storage
const ATTRIBUTES = ["aria-label", "title", "placeholder"];

export class InterfaceLanguage {
  /**
   * @param {Record<string, Record<string, string>>} texts By language; English has none.
   * @param {() => void} onChange Called after another one was chosen.
   */
  constructor(texts, onChange) {
    /** @type {Record<string, Record<string, string>|null>} */
    this.texts = { en: null, ...texts };
    this.places = placesOf(document.documentElement);
    const menu = byId("language");
    menu.append(...Object.keys(this.texts).map((code) =>
      element("option", { value: code, lang: code }, nameInItself(code))));
    menu.addEventListener("change", () => {
      store(menu.value);
      this.choose(menu.value);
      onChange();
    });
    const wanted = [stored(), ...navigator.languages.map((code) => code.split("-")[0])];
    this.choose(wanted.find((code) => code !== null && code in this.texts) ?? "en");
  }

  /** @param {string} code */
  choose(code) {
    setTexts(code, this.texts[code]);
    byId("language").value = code;
    document.documentElement.lang = code;
    this.write();
  }

  /** Writes the texts that are in the page from the start. */
  write() {
    for (const { english, write } of this.places) write(lookUp(english));
  }
}

/**
 * The texts of the page, in English, and what replaces each.
 *
 * @param {Element} root
 * @returns {{english: string, write: (text: string) => void}[]}
 */
function placesOf(root) {
  const places = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    const inner = node.data.trim();
    if (!/\p{L}/u.test(inner) || node.parentElement.closest("script, style, noscript, [translate=no]")) continue;
    const [before, after] = node.data.split(inner);
    const write = (text) => { node.data = before + text + after; };
    places.push({ english: inner.replace(/\s+/g, " "), write });
  }
  for (const name of ATTRIBUTES) {
    for (const each of root.querySelectorAll(`[${name}]`)) {
      places.push({ english: each.getAttribute(name), write: (text) => each.setAttribute(name, text) });
    }
  }
  return places;
}

/** @param {string} code */
function nameInItself(code) {
  const name = new Intl.DisplayNames([code], { type: "language" }).of(code);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function stored() {
  try {
    return localStorage.getItem(STORED);
  } catch { /* The browser stores nothing: its own language counts. */
    return null;
  }
}

/** @param {string} code */
function store(code) {
  try {
    localStorage.setItem(STORED, code);
  } catch { /* The browser stores nothing: the choice ends with the visit. */ }
}

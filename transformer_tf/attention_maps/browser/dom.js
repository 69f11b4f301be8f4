/** Small helpers for the page's elements; text is always set as text, never as markup. */

/**
 * @param {string} id
 * @returns {any} The element.
 */
export const byId = (id) => document.getElementById(id);

/**
 * Makes an element.
 *
 * @param {string} name A tag, or `svg:` and a tag.
 * @param {Record<string, any>} [attributes] Null and false leave an attribute out; functions listen
 *   to the event of that name.
 * @param {...(string|Node|null)} children
 * @returns {any}
 */
export function element(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/**
 * Replaces the children of an element. The focus stays on the child with the same `data-key`.
 *
 * @param {HTMLElement} parent
 * @param {...(string|Node|null)} children
 */
export function fill(parent, ...children) {
  const focused = parent.contains(document.activeElement)
    ? /** @type {HTMLElement} */ (document.activeElement).dataset.key : undefined;
  parent.replaceChildren(...children.filter((child) => child !== null));
  if (focused === undefined) return;
  /** @type {HTMLElement|null} */ (parent.querySelector(`[data-key="${focused}"]`))?.focus();
}

const THEME = "transformer-tf-theme"; // its name in the browser's storage

/** Shows the theme that was chosen on an earlier visit, if there is one. */
export function restoreTheme() {
  try {
    const saved = localStorage.getItem(THEME);
    if (saved) document.documentElement.dataset.theme = saved;
  } catch { /* The browser stores nothing: the system's setting stays. */ }
}

/** Switches between light and dark; the system's setting comes first. */
export function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem(THEME, root.dataset.theme);
  } catch { /* The browser stores nothing: the choice ends with the visit. */ }
}

/**
 * A color of the current theme. With forced colors it is one of the system's.
 *
 * @param {"ink"|"accent"} name
 * @returns {number[]} Red, green and blue.
 */
export function themeColor(name) {
  const probe = element("span", { class: `probe-${name}` });
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color.match(/\d+/g).slice(0, 3).map(Number);
}

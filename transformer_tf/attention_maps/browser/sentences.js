/** What the rows, columns and cells of a map say, in words. */

import { decimal, localize } from "./texts.js";

const LISTED = 3; // strongest weights of a row or column
const SMALLEST = 0.005; // weight; less would be shown as 0.00

/** @typedef {import("./tokens.js").Entry|import("./tokens.js").Step} Row */

/**
 * Where a query of the decoder stands, and what it chooses.
 *
 * @param {import("./tokens.js").Step} row
 */
const standing = ({ read, said, noun }) => ({
  moment: read.special ? localize("At the start") : localize("After “{read}”", { read: read.label }),
  next: noun === "word" ? localize("the next word") : localize("the next piece"),
  said: said.label,
});

/**
 * @param {Row} row
 * @param {import("./tokens.js").Entry[]} keys
 * @param {number[]} weights
 * @param {number} rest The weight of the keys that are not shown.
 */
export function describeRow(row, keys, weights, rest) {
  const listed = listing(largest(keys, weights));
  const list = rest < SMALLEST ? listed
    : localize("{list}; elsewhere, at start and end: {rest}", { list: listed, rest: decimal(rest, 2) });
  return "read" in row
    ? localize("{moment}, choosing {next} (it will be “{said}”), the model looks at: {list}", { ...standing(row), list })
    : localize("“{word}” looks at: {list}", { word: row.label, list });
}

/**
 * @param {import("./tokens.js").Entry} key
 * @param {Row[]} rows
 * @param {number[]} weights
 */
export function describeColumn(key, rows, weights) {
  return localize("“{word}” is looked at by: {list}",
    { word: key.label, list: listing(largest(rows, weights)) });
}

/**
 * Who looks at what in a cell. In self-attention it may be a token that looks at itself.
 *
 * @param {string} kind
 * @param {Row} row
 * @param {import("./tokens.js").Entry} key
 */
export function describeCell(kind, row, key) {
  const [word, other] = ["read" in row ? row.read.label : row.label, key.label];
  if (!("read" in row)) {
    return row.positions[0] === key.positions[0] ? localize("“{word}” looks at itself", { word })
      : localize("“{word}” looks at “{other}”", { word, other });
  }
  const where = standing(row);
  if (kind === "cross") {
    return localize("{moment}, choosing {next} (it will be “{said}”), the model looks at “{other}”", { ...where, other });
  }
  if (key.positions[0] > row.positions.at(-1)) {
    return localize("“{word}” cannot look at “{other}”, which comes later", { word, other });
  }
  return row.read.positions[0] === key.positions[0]
    ? localize("“{word}” looks at itself, choosing {next} (it will be “{said}”)", { ...where, word })
    : localize("“{word}” looks at “{other}”, choosing {next} (it will be “{said}”)", { ...where, word, other });
}

/**
 * The largest weights, with the labels of what they belong to.
 *
 * @param {Row[]} entries
 * @param {number[]} weights
 */
export function largest(entries, weights) {
  return entries.map(({ label }, i) => ({ label, weight: weights[i] }))
    .filter(({ weight }) => weight >= SMALLEST)
    .sort((one, other) => other.weight - one.weight)
    .slice(0, LISTED);
}

/** @param {{label: string, weight: number}[]} listed */
export function listing(listed) {
  return listed.map(({ label, weight }) => `${label} ${decimal(weight, 2)}`).join(", ")
    || localize("nothing that is shown here");
}

/** What the rows, columns and cells of a map say, in words. */

const LISTED = 3; // strongest weights of a row or column
const SMALLEST = 0.005; // weight; less would be shown as 0.00

/** @typedef {import("./tokens.js").Entry|import("./tokens.js").Step} Row */

/**
 * Where a query of the decoder stands, and what it chooses.
 *
 * @param {import("./tokens.js").Step} row
 */
function standing({ read, ...step }) {
  return `${read.special ? "At the start" : `After “${read.label}”`}, ${choosing(step)}`;
}

/** @param {Pick<import("./tokens.js").Step, "said"|"noun">} step */
function choosing({ said, noun }) {
  return `choosing the next ${noun} (it will be “${said.label}”)`;
}

/**
 * @param {Row} row
 * @param {import("./tokens.js").Entry[]} keys
 * @param {number[]} weights
 * @param {number} rest The weight of the keys that are not shown.
 */
export function describeRow(row, keys, weights, rest) {
  const shown = listing(largest(keys, weights))
    + (rest >= SMALLEST ? `; elsewhere, at start and end: ${rest.toFixed(2)}` : "");
  return `${"read" in row ? `${standing(row)}, it` : `“${row.label}”`} looks at: ${shown}`;
}

/**
 * @param {import("./tokens.js").Entry} key
 * @param {Row[]} rows
 * @param {number[]} weights
 */
export function describeColumn(key, rows, weights) {
  return `“${key.label}” is looked at by: ${listing(largest(rows, weights))}`;
}

/**
 * Who looks at what in a cell. In self-attention it may be a token that looks at itself.
 *
 * @param {string} kind
 * @param {Row} row
 * @param {import("./tokens.js").Entry} key
 */
export function describeCell(kind, row, key) {
  const target = (self) => (self ? "itself" : `“${key.label}”`);
  if (!("read" in row)) {
    return `“${row.label}” looks at ${target(row.positions[0] === key.positions[0])}`;
  }
  if (kind === "cross") return `${standing(row)}, it looks at ${target(false)}`;
  const { label, positions } = row.read;
  if (key.positions[0] > row.positions.at(-1)) {
    return `“${label}” cannot look at ${target(false)}, which comes later`;
  }
  return `“${label}” looks at ${target(positions[0] === key.positions[0])}, ${choosing(row)}`;
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
  return listed.map(({ label, weight }) => `${label} ${weight.toFixed(2)}`).join(", ")
    || "nothing shown here";
}

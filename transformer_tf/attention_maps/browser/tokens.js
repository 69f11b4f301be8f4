/** Makes sub-words readable, and groups them into words. */

const MARK_OF_WORD = "▁"; // SentencePiece puts it where a word begins
const START = "<start>";
const ADDED = [START, "<end>", "<pad>"];
const BLANKS = ["<0x09>", "<0x0A>", "<0x0B>", "<0x0C>", "<0x0D>", "<0x20>"];

/**
 * A row or column of a map: some tokens under one label.
 *
 * @typedef {object} Entry
 * @property {string} label
 * @property {number[]} positions The positions of the tokens.
 * @property {boolean} special Whether it is not part of the text, such as `<start>`.
 * @property {boolean} joined Whether it continues the word before it.
 */

/**
 * A row of a map of the decoder, whose query stands after one token and chooses the next one.
 *
 * @typedef {Entry & {read: Entry, said: Entry, noun: "word"|"piece"}} Step The noun is what is chosen:
 *   a whole word, or a part of one, or a sign.
 */

/** @param {string} token */
export const isSpecial = (token) => ADDED.includes(token);

/** @param {string[]} tokens */
const isBlank = (tokens) =>
  tokens.every((token) => BLANKS.includes(token) || /^▁*$/.test(token));

/** @param {string} token */
const byteOf = (token) => (/^<0x[0-9A-F]{2}>$/.test(token) ? parseInt(token.slice(3, 5), 16) : null);

/**
 * Joins the tokens of a word; bytes become characters.
 *
 * @param {string[]} tokens
 */
export function writeWord(tokens) {
  if (tokens.length === 1 && (isSpecial(tokens[0]) || tokens[0] === "<unk>")) return tokens[0];
  let [text, bytes] = ["", []];
  for (const token of [...tokens, ""]) {
    const byte = byteOf(token);
    if (byte !== null) {
      bytes.push(byte);
      continue;
    }
    text += new TextDecoder().decode(Uint8Array.from(bytes)) + token;
    bytes = [];
  }
  return text.replaceAll(MARK_OF_WORD, "").trim() || MARK_OF_WORD;
}

/**
 * The text of tokens, with spaces between words.
 *
 * @param {string[]} tokens
 */
export function writeText(tokens) {
  return groupWords(tokens).map((group) => writeWord(group.map((i) => tokens[i]))).join(" ");
}

/**
 * The positions of the tokens that make each word.
 *
 * @param {string[]} tokens Sub-words, with `▁` where a word begins.
 * @returns {number[][]} Each position is in one word.
 */
export function groupWords(tokens) {
  const groups = [];
  let closed = true; // whether the last group is complete
  tokens.forEach((token, position) => {
    const apart = isSpecial(token) || token === "<unk>";
    const begins = apart || token.startsWith(MARK_OF_WORD) || BLANKS.includes(token);
    const pending = !closed && isBlank(groups.at(-1).map((i) => tokens[i]));
    if (closed || (begins && !pending) || isSpecial(token)) groups.push([position]);
    else groups.at(-1).push(position);
    closed = apart;
  });
  // Blanks at the end of a text belong to the word before them.
  return groups.reduce((kept, group) => {
    const before = kept.at(-1);
    const blank = isBlank(group.map((i) => tokens[i]));
    if (before && blank && !isSpecial(tokens[before.at(-1)])) before.push(...group);
    else kept.push(group);
    return kept;
  }, []);
}

/** The positions of single tokens; the bytes of a character stay together. */
function groupCharacters(tokens) {
  const groups = [];
  tokens.forEach((token, position) => {
    const byte = byteOf(token);
    const continues = byte !== null && byte >= 0x80 && byte < 0xc0;
    if (continues && groups.length) groups.at(-1).push(position);
    else groups.push([position]);
  });
  return groups;
}

/**
 * The rows or columns of a map.
 *
 * @param {string[]} tokens
 * @param {{words: boolean, special: boolean}} options Whether to join sub-words into words, and
 *   whether to include start and end.
 * @returns {Entry[]}
 */
export function entriesOf(tokens, { words, special }) {
  return (words ? groupWords(tokens) : groupCharacters(tokens))
    .filter(([first]) => special || !isSpecial(tokens[first]))
    .map((positions) => {
      const first = tokens[positions[0]];
      const label = writeWord(positions.map((i) => tokens[i]));
      const joined = positions[0] > 0 && !first.startsWith(MARK_OF_WORD) && !isSpecial(first)
        && !isSpecial(tokens[positions[0] - 1]);
      return { label, positions, special: isSpecial(first), joined };
    });
}

/**
 * The rows of a map of the decoder.
 *
 * @param {string[]} said The tokens that the queries choose.
 * @param {{words: boolean, special: boolean, byRead: boolean}} options `byRead`: a row is a token
 *   that was read, instead of one that is chosen. This matters for words of several tokens.
 * @returns {Step[]} Their labels have both tokens: `Vater ▸ hat`.
 */
export function stepsOf(said, { words, special, byRead }) {
  const read = [START, ...said.slice(0, -1)];
  const [before, after] = [read, said].map((tokens) => entriesOf(tokens, { words, special: true }));
  const indexAt = (entries, position) =>
    entries.findIndex(({ positions }) => positions.includes(position));
  return entriesOf(byRead ? read : said, { words, special }).map((entry) => {
    const index = indexAt(after, entry.positions.at(-1));
    const [from, to] = [before[indexAt(before, entry.positions[0])], after[index]];
    const noun = nounOf(to, after[index + 1]);
    return { ...entry, read: from, said: to, noun, label: `${from.label} ▸ ${to.label}` };
  });
}

/**
 * @param {Entry} entry
 * @param {Entry} [next] The entry after it.
 * @returns {Step["noun"]}
 */
function nounOf(entry, next) {
  const hasLetters = ({ label }) => /[\p{L}\p{N}]/u.test(label);
  const isPart = entry.joined || (next?.joined && hasLetters(next));
  return entry.special || !hasLetters(entry) || isPart ? "piece" : "word";
}

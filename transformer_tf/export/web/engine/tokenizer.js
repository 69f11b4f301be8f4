const MARK = "▁"; // SentencePiece puts it where a word begins
const OPENING_MARKS = "¡¿"; // Spanish writes them before a word without a space
const BYTE = /^<0x([0-9A-F]{2})>$/;

/** Text ↔ sub-word ids: byte-pair encoding, with bytes for unknown characters. */
export class Tokenizer {
  /**
   * @param {object} settings
   * @param {string[]} settings.pieces The pieces; merged ones come last, in the order of merging.
   * @param {number} settings.first_merge The index of the first merged piece.
   * @param {number} settings.unk_id
   * @param {boolean} settings.space_after_opening_marks Whether a space is read after "¡" and "¿".
   */
  constructor({ pieces, first_merge: firstMerge, unk_id: unkId, space_after_opening_marks: spaced }) {
    this.pieces = pieces;
    this.openingMarks = spaced ? OPENING_MARKS : "";
    this.unkId = unkId;
    this.startId = pieces.length;
    this.endId = pieces.length + 1;
    /** @type {Map<string, number>} Merged pieces, and symbols of one character. */
    this.ranks = new Map(pieces.map((piece, i) => /** @type {[string, number]} */ ([piece, i]))
      .filter(([piece, i]) => i >= firstMerge || [...piece].length === 1));
    /** @type {Map<string, number>} */
    this.bytes = new Map(pieces.slice(0, firstMerge).map((piece, i) => [piece, i]));
  }

  /**
   * The ids of a text, without start and end.
   *
   * @param {string} text
   * @returns {number[]}
   */
  encode(text) {
    return this.words(text).flatMap((word) => this.merge([...word]).at(-1))
      .flatMap((piece) => this.idsOf(piece));
  }

  /**
   * The words of a text, each beginning with "▁". SentencePiece drops "▁" at the end of a text like
   * a space, even if the user typed it.
   *
   * @param {string} text
   */
  words(text) {
    for (const mark of this.openingMarks) text = text.replaceAll(mark, `${mark} `);
    const marked = (MARK + text.replace(/^ +/, "").replace(/ +/g, MARK)).replace(/▁+$/, "");
    return marked.match(/▁?[^▁]*/g).filter(Boolean);
  }

  /**
   * Merges neighbors, the earliest learned pair first, until no known pair is left.
   *
   * @param {string[]} symbols The characters of a word.
   * @returns {string[][]} The symbols before the first merge and after each one.
   */
  merge(symbols) {
    const steps = [symbols];
    for (;;) {
      let [best, where] = [Infinity, -1];
      for (let i = 0; i + 1 < symbols.length; i++) {
        const rank = this.ranks.get(symbols[i] + symbols[i + 1]) ?? Infinity;
        if (rank < best) [best, where] = [rank, i];
      }
      if (where < 0) return steps;
      const merged = symbols[where] + symbols[where + 1];
      symbols = [...symbols.slice(0, where), merged, ...symbols.slice(where + 2)];
      steps.push(symbols);
    }
  }

  /** The id of a piece; for a character that is not a piece, the ids of its bytes. */
  idsOf(piece) {
    const id = this.ranks.get(piece);
    if (id !== undefined) return [id];
    return Array.from(new TextEncoder().encode(piece), (byte) =>
      this.bytes.get(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`));
  }

  /**
   * A label for each id, with a leading `▁` where a word begins.
   *
   * @param {number[]} ids
   */
  tokens(ids) {
    const special = new Map([
      [0, "<pad>"], [this.unkId, "<unk>"], [this.startId, "<start>"], [this.endId, "<end>"],
    ]);
    return ids.map((id, i) => {
      const piece = special.get(id) ?? this.pieces[id];
      const before = this.pieces[ids[i - 1]]?.at(-1);
      return before && this.openingMarks.includes(before) ? piece.replace(MARK, "") : piece;
    });
  }

  /**
   * The text of ids; padding, start and end are left out.
   *
   * @param {number[]} ids
   */
  decode(ids) {
    let [text, bytes] = ["", []];
    for (const id of [...ids, this.endId]) {
      const byte = BYTE.exec(this.pieces[id] ?? "");
      if (byte) {
        bytes.push(parseInt(byte[1], 16));
        continue;
      }
      text += charactersOf(bytes);
      bytes = [];
      if (id === this.unkId) text += " ⁇ ";
      else if (id && id < this.startId) text += this.pieces[id];
    }
    text = text.replaceAll(MARK, " ");
    for (const mark of this.openingMarks) text = text.replaceAll(`${mark} `, mark);
    return text.replace(/^ /, "").replaceAll("\ufffd", "");
  }
}

/**
 * Decodes UTF-8; a byte that belongs to no character becomes U+FFFD.
 *
 * @param {number[]} bytes
 */
function charactersOf(bytes) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let begin = 0; begin < bytes.length;) {
    const size = bytes[begin] < 0x80 ? 1 : bytes[begin] < 0xe0 ? 2 : bytes[begin] < 0xf0 ? 3 : 4;
    try {
      text += decoder.decode(Uint8Array.from(bytes.slice(begin, begin + size)));
      begin += size;
    } catch {
      text += "\ufffd";
      begin += 1;
    }
  }
  return text;
}

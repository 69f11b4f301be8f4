/** The page of finished translations: their attention, without a model. */

import { AttentionView } from "./attention_view.js";
import { TokenStrips } from "./chips.js";
import { byId, element, restoreTheme, switchTheme } from "./dom.js";
import { entriesOf } from "./tokens.js";

const data = JSON.parse(byId("data").textContent);
const strips = new TokenStrips({
  source: byId("source-tokens"), target: byId("target-tokens") });
const view = new AttentionView({ onPoint: (lit) => strips.light(lit) });

/** Decodes the scores in the maps of a sentence. */
function unpack(maps) {
  return Object.fromEntries(Object.entries(maps).map(([kind, map]) => {
    const scores = Float32Array.from(atob(map.scores), (byte) => byte.charCodeAt(0) / 255);
    return [kind, { ...map, scores }];
  }));
}

/** @param {number} index */
function choose(index) {
  const { source, translation, languages, alignmentHeads, alignmentQuery, ...sentence } =
    data.sentences[index];
  const maps = unpack(sentence.maps);
  byId("source").textContent = source;
  byId("translation").textContent = translation;
  byId("source-language").textContent = languages.source;
  byId("target-language").textContent = languages.target;
  const options = { words: false, special: true };
  const entries = {
    source: entriesOf((maps.cross ?? maps.encoder)?.keys ?? [], options),
    target: entriesOf((maps.cross ?? maps.decoder)?.queries ?? [], options),
  };
  for (const side of /** @type {const} */ (["source", "target"])) {
    strips.draw(side, entries[side], (entry) => view.pointing(entry, side));
  }
  view.show({
    maps, languages, alignmentHeads, alignmentQuery, rows: null, silenced: new Set(),
  });
}

byId("theme").addEventListener("click", () => {
  switchTheme();
  view.draw();
});
byId("sentence-choice").hidden = data.sentences.length < 2;
byId("sentence").append(...data.sentences.map(({ source }, index) =>
  element("option", { value: index }, source)));
byId("sentence").addEventListener("change", ({ target }) => choose(Number(target.value)));
restoreTheme();
choose(0);

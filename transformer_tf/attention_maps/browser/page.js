/** The page of finished sentences: their attention, and no model. */

import { AttentionView } from "./attention_view.js";
import { chipsOf, lightChips } from "./chips.js";
import { byId, element, fill, switchTheme } from "./dom.js";
import { entriesOf } from "./tokens.js";

const data = JSON.parse(byId("data").textContent);
const strips = { source: byId("source-tokens"), target: byId("target-tokens") };
let entries = { source: [], target: [] };

const view = new AttentionView({ onPoint: light });

/** The maps of a sentence, with their scores as numbers. */
function unpack(maps) {
  return Object.fromEntries(Object.entries(maps).map(([kind, map]) => {
    const scores = Float32Array.from(atob(map.scores), (byte) => byte.charCodeAt(0) / 255);
    return [kind, { ...map, scores }];
  }));
}

/** @param {number} index */
function choose(index) {
  const sentence = data.sentences[index];
  const maps = unpack(sentence.maps);
  byId("source").textContent = sentence.source;
  byId("translation").textContent = sentence.translation;
  const options = { words: false, special: true };
  entries = {
    source: entriesOf((maps.cross ?? maps.encoder)?.keys ?? [], options),
    target: entriesOf((maps.cross ?? maps.decoder)?.queries ?? [], options),
  };
  for (const side of ["source", "target"]) {
    fill(strips[side], ...chipsOf(entries[side], ({ positions }) => ({
      pointerenter: () => view.pointAtToken(positions[0], side),
      pointerleave: () => view.map.point(null, null),
      click: () => view.pointAtToken(positions[0], side),
    })));
  }
  view.show({ maps, languages: data.languages, rows: null, silenced: new Set() });
}

/** @param {import("./attention_view.js").Pointed|null} pointed */
function light(pointed) {
  const sides = { encoder: ["source", "source"], decoder: ["target", "target"],
    cross: ["target", "source"] }[pointed?.kind ?? "cross"];
  for (const side of ["source", "target"]) {
    const weights = pointed && (side === sides[1] ? pointed.keys : side === sides[0]
      ? pointed.queries : null);
    lightChips(strips[side], weights, entries[side]);
  }
}

byId("theme").addEventListener("click", () => {
  switchTheme();
  view.draw();
});
byId("sentence-choice").hidden = data.sentences.length < 2;
byId("sentence").append(...data.sentences.map(({ source }, index) =>
  element("option", { value: index }, source)));
byId("sentence").addEventListener("change", ({ target }) => choose(Number(target.value)));
choose(0);

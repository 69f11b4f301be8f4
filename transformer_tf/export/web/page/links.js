/** Links: the address holds what is shown. */

import { AttentionView } from "../../../attention_maps/browser/attention_view.js";
import { Session } from "./session.js";

const numbersOf = (text) => (text.match(/\d+/g) ?? []).map(Number);

/**
 * Reads the address.
 *
 * @returns {{text: string, model: string|null, fields: URLSearchParams}}
 */
export function readLink() {
  const fields = new URLSearchParams(location.hash.slice(1));
  return { text: fields.get("s") ?? "", model: fields.get("m"), fields };
}

/**
 * Writes the text, the model, the view with its head, the part of the text that is shown, and the
 * changes into the address.
 *
 * @param {string} text
 * @param {string|null} model Null for the only one.
 * @param {string} view
 * @param {AttentionView["state"]} head
 * @param {Session} session
 */
export function writeLink(text, model, view, { kind, layer, head }, session) {
  const { silenced, hidden, padding, positions, future, prefix, chosen } = session;
  const fields = {
    m: model, s: text, view,
    part: chosen > 0 && chosen + 1,
    head: kind === view && `${layer + 1}.${head + 1}`,
    silent: [...silenced].join(),
    hidden: [...hidden].join(),
    padding,
    positions: !positions && "none",
    future: future && 1,
    begin: prefix.join(),
  };
  location.hash = Object.entries(fields).filter(([, value]) => value)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

/**
 * Makes the changes of a link, as far as the model has what they name.
 *
 * @param {URLSearchParams} fields
 * @param {Session} session
 * @param {AttentionView} view
 */
export function applyLink(fields, session, view) {
  const { model: { num_heads: heads, num_layers: layers, num_decoder_layers: decoderLayers }, vocabulary } =
    session.model;
  const layersOf = { encoder: layers, decoder: decoderLayers, cross: decoderLayers };
  const has = (kind, layer, head) => layer < layersOf[kind] && head < heads;
  session.isTyping = false;
  session.chosen = Math.max((numbersOf(fields.get("part") ?? "")[0] ?? 1) - 1, 0);
  session.silenced = new Set((fields.get("silent") ?? "").split(",").filter((name) => {
    const [kind, layer, head] = name.split(".");
    return has(kind, Number(layer), Number(head));
  }));
  session.hidden = new Set(numbersOf(fields.get("hidden") ?? ""));
  session.padding = Math.min(numbersOf(fields.get("padding") ?? "")[0] ?? 0, 16);
  session.positions = fields.get("positions") !== "none";
  session.future = fields.get("future") === "1";
  const ids = numbersOf(fields.get("begin") ?? "");
  session.prefix = ids.every((id) => id < vocabulary) ? ids : [];
  const [layer, head] = numbersOf(fields.get("head") ?? "").map((number) => number - 1);
  const kind = fields.get("view");
  if (!has(kind, layer, head) || layer < 0 || head < 0) return;
  Object.assign(view.state, { kind, layer, head });
  view.chosen = true;
}

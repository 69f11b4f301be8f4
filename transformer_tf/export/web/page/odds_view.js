import { byId, element, fill } from "../../../attention_maps/browser/dom.js";
import { decimal, localize, textLanguage } from "../../../attention_maps/browser/texts.js";
import { writeText, writeWord } from "../../../attention_maps/browser/tokens.js";
import { bar } from "./bars.js";

/** @typedef {ReturnType<typeof import("../engine/inspection.js").oddsOf>} Odds */

const percent = (share) =>
  (share < 0.001 ? `< ${decimal(0.1, 1)} %`
  : `${decimal(100 * share, share < 0.1 ? 1 : 0)} %`);

/**
 * What the tokens share that are not listed.
 *
 * @param {Odds} odds
 */
function restOf({ tokens, count }) {
  const rest = tokens.reduce((left, { probability }) => left - probability, 1);
  return localize("the other {count} share {share}", {
    count: (count - tokens.length).toLocaleString(textLanguage()), share: percent(Math.max(rest, 0)),
  });
}

/**
 * Says why a token is said that is not the likeliest; "" if it is.
 *
 * @param {Odds} odds
 * @param {import("./session.js").Session} session
 */
function reasonOf({ tokens: [likeliest], forbidden }, { result, position, prefix }) {
  if (likeliest.id === result.ids[position]) return "";
  if (position === result.ids.length) {
    return localize("The translation ends here because it has reached its greatest length.");
  }
  const word = writeWord([result.maps.cross.queries[position]]);
  if (position < prefix.length) {
    return localize("You chose “{word}”, which is not the likeliest piece here.", { word });
  }
  return forbidden
    ? localize("“{word}” is not the likeliest piece here. The likeliest one is forbidden: a translation has each value exactly once.", { word })
    : localize("“{word}” is not the likeliest piece here. Beam search compared whole beginnings, not single pieces, and this one won: see the step “Say”.", { word });
}

/**
 * The likeliest tokens at a position, and how the softmax makes probabilities of their logits.
 *
 * @param {Odds} odds
 * @param {import("./session.js").Session} session
 * @param {number} temperature
 * @param {(id: number) => void} onForce
 */
export function showOdds(odds, session, temperature, onForce) {
  const { result, position, prefix } = session;
  const before = result.maps.decoder.keys.slice(1, position + 1);
  byId("next-title").textContent = before.length
    ? localize("Piece {number}, after “… {words}”", { number: position + 1, words: writeText(before.slice(-3)) })
    : localize("Piece 1, at the beginning");
  byId("next-reason").textContent = reasonOf(odds, session);
  byId("unforce").disabled = !prefix.length;
  fill(byId("next-tokens"), ...odds.tokens.map(({ id, token, probability }, rank) =>
    bar(writeWord([token]), probability, {
      key: `next-${rank}`, chosen: result.ids[position] === id, click: () => onForce(id),
    })));
  byId("next-rest").textContent = `${restOf(odds)}.`;
  byId("temperature-value").textContent = decimal(temperature, 1);
  const row = ({ token, logit, power, probability }) => element("tr", {},
    element("th", { scope: "row" }, writeWord([token])),
    ...[logit, (logit - odds.highest) / temperature, power, probability].map((number) =>
      element("td", {}, decimal(number, 4))));
  const titles = [localize("piece"), localize("score"), localize("(score − highest) ÷ T"), localize("e to that"),
    localize("÷ sum")];
  fill(byId("arithmetic"), element("thead", {}, element("tr", {},
    ...titles.map((title) => element("th", { scope: "col" }, title)))),
  element("tbody", {}, ...odds.tokens.map(row)),
  element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, localize("all")),
    element("td"), element("td"), element("td", {}, decimal(odds.sum, 4)), element("td", {}, "1"))));
}

/**
 * The likeliest words at a place of the translation, to choose from.
 *
 * @param {HTMLElement} list
 * @param {Odds} odds
 * @param {number} current The id at this place.
 * @param {(id: number) => void} onChoose
 */
export function showAlternatives(list, odds, current, onChoose) {
  fill(list, ...odds.tokens.map(({ id, token, rest, probability }, rank) => {
    const word = bar(writeWord([token]), probability, {
      key: `alternative-${rank}`, chosen: id === current, click: () => onChoose(id),
    });
    const [label, , share] = word.children;
    if (rest.length) label.append(element("span", { class: "meta" }, writeWord(rest)));
    share.textContent = percent(probability);
    return word;
  }), element("p", { class: "meta" }, restOf(odds)));
}

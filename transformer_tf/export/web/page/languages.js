/** Names of languages, and example sentences. */

import { textLanguage } from "../../../attention_maps/browser/texts.js";

/**
 * The name of a language in that of the reader, or the code itself if it is unknown.
 *
 * @param {string} code
 */
export function languageName(code) {
  try {
    return new Intl.DisplayNames([textLanguage()], { type: "language", fallback: "code" }).of(code);
  } catch {
    return code;
  }
}

/** @type {Record<string, string[]>} By language code. */
export const EXAMPLES = {
  en: [
    "My father bought a new car last week.",
    "I went to the shop to buy something to drink.",
    "The old man who lives next door has two dogs.",
    "If it rains tomorrow, we will stay at home.",
    "She gave her brother the book she had bought in Berlin.",
    "Tom has never been to Boston.",
  ],
  de: [
    "Ich habe meine Schlüssel zu Hause vergessen.",
    "Wenn es morgen regnet, bleiben wir zu Hause.",
    "Der alte Mann von nebenan hat zwei Hunde.",
    "Sie hat ihrem Bruder ein Buch geschenkt.",
  ],
  es: [
    "He olvidado las llaves en casa.",
    "Si mañana llueve, nos quedaremos en casa.",
    "El anciano de al lado tiene dos perros.",
    "Ella le regaló un libro a su hermano.",
  ],
};

/** @type {Record<string, string[]>} The sentence of each step of the tour, by language code. */
export const TOURED = {
  en: [
    "The photographer remembers an unforgettable afternoon.", "The man bit the dog.",
    "My father bought a new car last week.", "The old man who lives next door has two dogs.",
    "I went to the shop to buy something to drink.", "If it rains tomorrow, we will stay at home.",
  ],
  de: [
    "Die Straßenbahnhaltestelle ist am Hauptbahnhof.", "Der Mann biss den Hund.",
    "Ich habe meine Schlüssel zu Hause vergessen.", "Der alte Mann von nebenan hat zwei Hunde.",
    "Sie hat ihrem Bruder ein Buch geschenkt.", "Wenn es morgen regnet, bleiben wir zu Hause.",
  ],
  es: [
    "El fotógrafo recuerda una tarde inolvidable.", "El hombre mordió al perro.",
    "He olvidado las llaves en casa.", "El anciano de al lado tiene dos perros.",
    "Ella le regaló un libro a su hermano.", "Si mañana llueve, nos quedaremos en casa.",
  ],
};

"""LibreTranslate's requests and answers: https://docs.libretranslate.com."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from transformer_tf.serve.shared_batches import SharedBatches
from transformer_tf.translation import Translation
from transformer_tf.translator import Translator
from transformer_tf.utils.languages import common_words, language_code, language_name

Fields = Mapping[str, Any]


class RequestError(Exception):
    """A request that gets no translation: one line that says why, and an HTTP status."""

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status


class Api:
    """Answers requests with translators.

    Args:
        translators: The translators by the codes of their languages, such as `("en", "de")`.
        char_limit: Maximum number of characters of a request.
    """

    def __init__(self, translators: Mapping[tuple[str, str], Translator], char_limit: int):
        self.translators = translators
        self.char_limit = char_limit
        self.batches = SharedBatches()

    def languages(self) -> list[dict[str, Any]]:
        """Answers `GET /languages`: each source language and its targets."""
        targets: dict[str, list[str]] = {}
        for source, target in self.translators:
            targets.setdefault(source, []).append(target)
        return [{**_language(code), "targets": targets[code]} for code in targets]

    def settings(self) -> dict[str, Any]:
        """Answers `GET /frontend/settings`."""
        source, target = next(iter(self.translators))
        return {
            "apiKeys": False,
            "charLimit": self.char_limit,
            "filesTranslation": False,
            "frontendTimeout": 500,  # milliseconds between typing and a request
            "keyRequired": False,
            "language": {"source": _language(source), "target": _language(target)},
            "suggestions": False,
            "supportedFilesFormat": [],
        }

    def translate(self, fields: Fields) -> dict[str, Any]:
        """Answers `POST /translate`.

        Args:
            fields: `q`, a text or a list of texts; `source`, the code of its language or `auto`;
                `target`; `alternatives`, the number of further translations, of which there are
                fewer than the beam size; `hypotheses`, whether to add tokens, scores and word
                alignment of texts of one line. Others, such as `api_key`, are ignored.

        Returns:
            `translatedText`, with `detectedLanguage` for `auto`, and `alternatives` and
            `hypotheses` if requested. For a list of texts, each is a list.

        Raises:
            RequestError: If a field is missing or wrong.
        """
        texts, details = self._texts(fields), fields.get("hypotheses", False)
        alternatives = fields.get("alternatives", 0)
        if isinstance(alternatives, str) and re.fullmatch("[0-9]{1,9}", alternatives):  # of a form
            alternatives = int(alternatives)
        if type(alternatives) is not int or alternatives < 0:
            raise RequestError("alternatives must be a number, 0 or more")
        if not isinstance(details, bool):
            raise RequestError("hypotheses must be true or false")
        if fields.get("format", "text") != "text":
            raise RequestError("format must be text: markup is not supported")
        source, target = _code(fields, "source"), _code(fields, "target")
        detected = self._detect(target, texts) if source == "auto" else None
        source = detected["language"] if detected else source
        translator = self.translators.get((source, target))
        if translator is None:
            pairs = ", ".join(map("-".join, self.translators))
            raise RequestError(f"{source} is not translated to {target} here, only: {pairs}")
        lines = [text.split("\n") for text in texts]
        if details and any(len(each) > 1 for each in lines):
            raise RequestError("hypotheses are for texts of one line")
        ranks = range(min(1 + alternatives, translator.options.beam_size))
        found = iter(
            self.batches.search(translator, list(chain(*lines)), len(ranks), alignment=details)
        )
        ranked = [[next(found) for _ in each] for each in lines]  # by text and line
        said = [list(dict.fromkeys(_text(each, rank) for rank in ranks)) for each in ranked]
        answer: dict[str, Any] = {"translatedText": [best for best, *_ in said]}
        if detected:
            answer["detectedLanguage"] = [detected] * len(texts)
        if alternatives:
            answer["alternatives"] = [others for _, *others in said]
        if details:
            answer["hypotheses"] = [list(map(dataclasses.asdict, line)) for (line,) in ranked]
        if isinstance(fields["q"], str):
            return {name: value for name, (value,) in answer.items()}
        return answer

    def _texts(self, fields: Fields) -> list[str]:
        texts = fields.get("q")
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise RequestError("q must be a text or a list of texts")
        size = sum(map(len, texts))
        if size > self.char_limit:
            raise RequestError(f"q has {size} characters; at most {self.char_limit} are allowed")
        try:
            "".join(texts).encode()
        except UnicodeEncodeError as error:
            raise RequestError("q has half of a character: a lone surrogate") from error
        return texts

    def _detect(self, target: str, texts: list[str]) -> dict[str, Any]:
        """Guesses the language of texts from its common words, among those with the target."""
        words = " ".join(texts).lower().split()
        counts = {
            source: 1 + sum(words.count(word) for word in common_words(source))
            for source, to in self.translators
            if to == target
        }
        source = max(counts, key=counts.__getitem__, default="auto")
        return {
            "language": source,
            "confidence": 100 * counts.get(source, 0) // max(sum(counts.values()), 1),
        }


def _text(lines: Sequence[Sequence[Translation]], rank: int) -> str:
    """Joins the translations of lines, where a line with fewer ranks gives its last one."""
    return "\n".join(ranked[min(rank, len(ranked) - 1)].text for ranked in lines)


def _language(code: str) -> dict[str, Any]:
    return {"code": code, "name": language_name(code)}


def _code(fields: Fields, name: str) -> str:
    code = fields.get(name)
    if not isinstance(code, str) or not code:
        raise RequestError(f"{name} must be the code of a language, such as de")
    return language_code(code)

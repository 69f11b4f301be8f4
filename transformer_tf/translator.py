"""Text → text: a search engine and two tokenizers, as a checkpoint's folder holds them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np
from tqdm import tqdm

from transformer_tf.alignment import (
    AlignmentHeads,
    Link,
    Query,
    attention_of_words,
    link_words,
    mean_of_heads,
)
from transformer_tf.attention import Attention
from transformer_tf.config import Config, DecodingConfig
from transformer_tf.errors import ConfigError, TransformerTFError
from transformer_tf.text.cleaning import normalize_text
from transformer_tf.text.sentences import split_text
from transformer_tf.text.tokenizer import Tokenizer

if TYPE_CHECKING:  # the back end is imported when there is something to translate with
    from transformer_tf.hypothesis import Hypothesis
    from transformer_tf.transformer import Transformer


ATTENDED_AT_A_TIME = 256  # attention scores of many sentences take much memory
SHORTEST_SHOUT = 4  # letters; "USA" is no shout
PARTS_APART = 2**24  # between the numbers of two parts of a text, that they draw differently
T = TypeVar("T")


class Engine(Protocol):
    """What a translator asks of a search engine."""

    def search(
        self,
        sources: Sequence[Sequence[int]],
        options: DecodingConfig,
        prefixes: Sequence[Sequence[int]] | None = None,
        progress: Callable[[int], object] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> list[list[Hypothesis]]:
        """For each sentence of ids its hypotheses, the best first."""

    def attend(
        self, sources: Sequence[Sequence[int]], target_inputs: Sequence[Sequence[int]]
    ) -> list[dict[str, np.ndarray]]:
        """For each pair of source and target ids the attention scores, as `Attention.scores`."""


@dataclasses.dataclass(frozen=True)
class Translation:
    """A translation with what is known of it.

    Attributes:
        text: The translation.
        tokens: Labels of its sub-words, without start and end.
        score: What translations are ranked by, see `Hypothesis`; None if it is not known.
        log_prob: Natural logarithm of its probability.
        token_log_probs: That of each token, and of the end if there is one.
        alignment: Which words belong together: (source word, target word), from 0. None if it was
            not asked for.
    """

    text: str
    tokens: list[str]
    score: float | None = None
    log_prob: float | None = None
    token_log_probs: list[float] | None = None
    alignment: list[Link] | None = None


class Translator:
    """Translates text with a trained model.

    Args:
        engine: What searches for translations of token ids: a `KerasEngine`, or a
            `CTranslate2Engine`.
        source_tokenizer: Cuts the source sentences.
        target_tokenizer: Puts the translations together.
        options: How to search, unless a call says otherwise.
        max_source_length: Longer sentences are cut into parts that are translated one by one;
            None for no limit.
    """

    def __init__(
        self,
        engine: Engine,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        options: DecodingConfig | None = None,
        max_source_length: int | None = 100,
    ):
        self.engine = engine
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.options = options or DecodingConfig()
        self.max_source_length = max_source_length

    @classmethod
    def load(cls, folder: str | Path, overrides: Sequence[str] = ()) -> Translator:
        """Reads a checkpoint: weights, configuration and tokenizers.

        Args:
            folder: The checkpoint's folder.
            overrides: Strings `decoding.key=value` that change its settings.

        Raises:
            CheckpointError: One line that says what is missing or damaged.
            ConfigError: If an override is not valid.
        """
        from transformer_tf.checkpoint import load_checkpoint

        return cls.from_config(*load_checkpoint(Path(folder), overrides))

    @classmethod
    def from_config(
        cls, config: Config, model: Transformer, source: Tokenizer, target: Tokenizer
    ) -> Translator:
        """A translator with the settings of a run."""
        from transformer_tf.decoding import KerasEngine

        engine = KerasEngine(model, target.start_id, target.end_id)
        return cls(engine, source, target, config.decoding, config.data.max_length)

    def translate(
        self,
        texts: str | Sequence[str],
        prefixes: Sequence[str] | None = None,
        on_cut: Callable[[str, int], None] | None = None,
        progress: bool = False,
        **options: Any,
    ) -> Any:
        """Translates a sentence or several.

        Args:
            texts: A sentence, or a list of sentences.
            prefixes: As in `search`, like `on_cut`, `progress` and `options`.
            on_cut: See there.
            progress: See there.
            **options: See there.

        Returns:
            For a sentence its translation, for a list a list of them. With `n_best` above 1 each
            translation is a list, the best first.
        """
        one = isinstance(texts, str)
        found = self.search(
            [cast(str, texts)] if one else texts, prefixes, on_cut, progress, **options
        )
        if options.get("n_best", self.options.n_best) > 1:
            lists = [[translation.text for translation in of_one] for of_one in found]
            return lists[0] if one else lists
        best = [translations[0].text for translations in found]
        return best[0] if one else best

    def search(
        self,
        texts: Sequence[str],
        prefixes: Sequence[str] | None = None,
        on_cut: Callable[[str, int], None] | None = None,
        progress: bool = False,
        first: int = 0,
        **options: Any,
    ) -> list[list[Translation]]:
        """Searches for the translations of sentences.

        A text of nothing but spaces has the translation "". One with more than
        `max_source_length` sub-words is cut, at the ends of its sentences where it has some, and
        the translations of the parts are joined with spaces.

        Args:
            texts: The sentences.
            prefixes: For each sentence what its translation begins with, "" for anything.
            on_cut: Called with a text that is cut and the number of its parts.
            progress: Whether to show a progress bar on stderr.
            first: The number of the first text, where these are a part of many: random draws
                depend on the number of a text.
            **options: What to change in `self.options` for this call, such as `beam_size=4`.

        Returns:
            For each text, in their order, the `n_best` translations, the best first.

        Raises:
            TypeError: If `texts` is one string rather than several.
            ConfigError: If an option is out of its range, or `precision` is among them.
        """
        if isinstance(texts, str):
            raise TypeError(f"`texts` must be a list of sentences. Received: {texts!r}")
        if prefixes is not None and len(prefixes) != len(texts):
            raise ValueError(
                "There must be one prefix for each text. "
                f"Received: {len(texts)} texts, {len(prefixes)} prefixes"
            )
        changed = dataclasses.replace(self.options, **options)
        if changed.precision != self.options.precision:
            raise ConfigError("decoding.precision is chosen when a translator is loaded")
        parts: list[str] = []
        shouts: list[bool] = []
        beginnings: list[list[int]] = []
        cuts: list[list[str]] = []
        reads: list[str] = []
        for index, text in enumerate(texts):
            read, shouted = _as_read(normalize_text(text), changed)
            cut = self._parts(read, shouted, changed)
            if len(cut) > 1 and on_cut and not self._fits(read):
                on_cut(text, len(cut))
            parts += cut
            shouts += [shouted] * len(cut)
            cuts.append(cut)
            reads.append(read)
            if prefixes is not None and cut:
                beginning = self.target_tokenizer.encode(normalize_text(prefixes[index]))
                if len(beginning) >= changed.max_length:
                    raise ConfigError(
                        f"A prefix of {len(beginning)} sub-words needs a larger "
                        f"decoding.max_length than {changed.max_length}"
                    )
                beginnings += [beginning, *[[] for _ in cut[1:]]]
        with tqdm(total=len(parts), desc="translating", unit="line", disable=not progress) as bar:
            sources = [self._encode(part) for part in parts]
            found = self.engine.search(
                sources,
                changed,
                None if prefixes is None else beginnings,
                bar.update,
                [
                    (first + index + PARTS_APART * part) % 2**31
                    for index, cut in enumerate(cuts)
                    for part in range(len(cut))
                ],
            )
        translated = [
            [
                self._translation(hypothesis, ids, part, shouted, changed)
                for hypothesis in hypotheses
            ]
            for hypotheses, ids, part, shouted in zip(found, sources, parts, shouts, strict=True)
        ]
        if changed.alignment:
            translated = self._aligned(translated, found, parts, changed)
        translations = iter(translated)
        return [
            _join([next(translations) for _ in cut], _first_words(read, cut))
            for read, cut in zip(reads, cuts, strict=True)
        ]

    def split(self, text: str, options: DecodingConfig | None = None) -> list[str]:
        """A text as the model reads it, in parts that it can take at a time."""
        options = options or self.options
        return self._parts(*_as_read(normalize_text(text), options), options)

    def _parts(self, read: str, shouted: bool, options: DecodingConfig) -> list[str]:
        parts = split_text(read, self._fits, options.split_sentences)
        return [part[:1].upper() + part[1:] for part in parts] if shouted else parts

    def _fits(self, text: str) -> bool:
        limit = self.max_source_length
        return limit is None or len(self.source_tokenizer.encode(text)) <= limit

    def _encode(self, text: str) -> list[int]:
        ids = self.source_tokenizer.encode_sentence(text)
        if self.max_source_length is None or len(ids) <= self.max_source_length + 2:
            return ids
        # A single word that is longer than any sentence: keep what the model can take.
        return [*ids[: self.max_source_length + 1], ids[-1]]

    def _translation(
        self,
        hypothesis: Hypothesis,
        source_ids: Sequence[int],
        read: str,
        shouted: bool,
        options: DecodingConfig,
    ) -> Translation:
        ids, tokenizer = hypothesis.ids, self.target_tokenizer
        unknowns = None
        if options.replace_unknowns and tokenizer.unk_id in ids:
            unknowns = self._looked_at(source_ids, ids, read)
        # A model may spell a line break in bytes; a translation is always one line.
        translated = normalize_text(tokenizer.decode(ids, unknowns))
        if options.restore:
            translated = tokenizer.restore(translated, read)
        if shouted:
            translated = translated.upper()
        return Translation(
            translated,
            tokenizer.tokens(ids),
            hypothesis.score,
            hypothesis.log_prob,
            hypothesis.token_log_probs,
        )

    def _looked_at(
        self, source_ids: Sequence[int], target_ids: Sequence[int], text: str
    ) -> list[str]:
        """For each unknown token of a translation the source token that was looked at most."""
        tokenizer = self.target_tokenizer
        scores = self.engine.attend([source_ids], [[tokenizer.start_id, *target_ids]])[0]["cross"]
        most = scores.mean(axis=(0, 1))[:, 1:-1].argmax(axis=-1)  # not start, not end
        pieces = self.source_tokenizer.pieces(text)
        return [
            pieces[most[position]]
            for position, token in enumerate(target_ids)
            if token == tokenizer.unk_id
        ]

    def _aligned(
        self,
        translated: list[list[Translation]],
        found: list[list[Hypothesis]],
        texts: Sequence[str],
        options: DecodingConfig,
    ) -> list[list[Translation]]:
        """The same translations, each with its word alignment."""
        choice = AlignmentHeads(
            options.alignment_layer, options.alignment_heads, options.alignment_query
        )
        attended = self.attend_words(
            [text for text, of_one in zip(texts, found, strict=True) for _ in of_one],
            [hypothesis.ids for of_one in found for hypothesis in of_one],
            choice.query,
            options.replace_unknowns,
        )
        return [
            [
                dataclasses.replace(
                    translation,
                    alignment=[
                        (source, target)
                        for source, target in link_words(mean_of_heads(next(attended), choice))
                        # Sub-words may spell control characters, which no text keeps.
                        if target < len(translation.text.split())
                    ],
                )
                for translation in of_one
            ]
            for of_one in translated
        ]

    def attend_words(
        self,
        texts: Sequence[str],
        targets: Sequence[Sequence[int]],
        query: Query,
        replace_unknowns: bool = False,
    ) -> Iterator[np.ndarray]:
        """Cross-attention between the words of sentences and of given translations.

        Args:
            texts: Normalised sentences that the model can take.
            targets: The ids of a translation of each, without start and end.
            query: As in `AlignmentHeads`.
            replace_unknowns: Whether unknown tokens of the translations are written as what they
                look at most.

        Yields:
            For each sentence an array `(num_layers, num_heads, target_words, source_words)`.
        """
        tokenizer = self.target_tokenizer
        for begin in range(0, len(texts), ATTENDED_AT_A_TIME):
            chosen = slice(begin, begin + ATTENDED_AT_A_TIME)
            sources = [self._encode(text) for text in texts[chosen]]
            attended = self.engine.attend(
                sources, [[tokenizer.start_id, *target] for target in targets[chosen]]
            )
            for text, source, target, scores in zip(
                texts[chosen], sources, targets[chosen], attended, strict=True
            ):
                said = tokenizer.tokens([*target, tokenizer.end_id])
                if replace_unknowns and tokenizer.unk_id in target:
                    unknowns = iter(self._looked_at(source, target, text))
                    said = [
                        next(unknowns) if index == tokenizer.unk_id else token
                        for index, token in zip([*target, tokenizer.end_id], said, strict=True)
                    ]
                # What is unknown stands in the text all the same, as a part of its word.
                pieces = self.source_tokenizer.pieces(text)[: len(source) - 2]
                read = ["<start>", *pieces, "<end>"]
                yield attention_of_words(scores["cross"], read, said, query)

    def fits(self, text: str) -> bool:
        """Whether a text has something to translate, and can be taken as one."""
        text = normalize_text(text)
        return bool(text) and self._fits(_as_read(text, self.options)[0])

    def attend(self, text: str, number: int = 0) -> Attention:
        """Translates a sentence and keeps the attention scores.

        The text is taken as one, whatever `decoding.split_sentences` says. The scores are those of
        one pass over the finished translation; a causal decoder sees in it just what it saw step
        by step.

        Args:
            text: A sentence.
            number: Its number, which random draws depend on.

        Raises:
            TransformerTFError: If the text is empty or too long to be taken as one.
        """
        text = normalize_text(text)
        if not text:
            raise TransformerTFError("There is no attention to show for an empty sentence")
        options = dataclasses.replace(self.options, n_best=1)
        read, shouted = _as_read(text, options)
        if not self._fits(read):
            raise TransformerTFError(
                f"Attention is shown for one sentence of at most {self.max_source_length} sub-words"
            )
        source_ids = self._encode(read)
        found = self.engine.search([source_ids], options, numbers=[number])[0][0]
        tokenizer = self.target_tokenizer
        target_input = [tokenizer.start_id, *found.ids]
        return Attention(
            source=text,
            translation=self._translation(found, source_ids, read, shouted, options).text,
            source_tokens=["<start>", *self.source_tokenizer.pieces(read), "<end>"],
            target_input_tokens=tokenizer.tokens(target_input),
            target_output_tokens=tokenizer.tokens([*found.ids, tokenizer.end_id]),
            scores=self.engine.attend([source_ids], [target_input])[0],
        )


def _as_read(text: str, options: DecodingConfig) -> tuple[str, bool]:
    """A text as the model reads it, and whether it was all in capitals: it is in small letters."""
    letters = list(filter(str.isalpha, text))  # those of some scripts are neither small nor capital
    shouted = len(letters) >= SHORTEST_SHOUT and all(map(str.isupper, letters))
    return (text.capitalize(), True) if options.recase and shouted else (text, False)


def _first_words(text: str, parts: Sequence[str]) -> list[int]:
    """For each part of a text the number of the word that it begins with, or within."""
    numbers, place, begun = [], 0, 0
    for part in parts:
        within = place > 0 and not text[place : place + 1].isspace()
        while text[place : place + 1].isspace():
            place += 1
        numbers.append(begun - within)
        begun += len(part.split()) - within
        place += len(part)
    return numbers


def _join(parts: list[list[Translation]], first_words: Sequence[int]) -> list[Translation]:
    """The translations of a text from those of its parts, the n-th from the n-th of each."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return [Translation("", [], 0.0, 0.0, [], [])]
    joined = []
    for rank in range(max(map(len, parts))):
        chosen = [of_part[min(rank, len(of_part) - 1)] for of_part in parts]
        joined.append(
            Translation(
                " ".join(translation.text for translation in chosen),
                [token for translation in chosen for token in translation.tokens],
                _sum([translation.score for translation in chosen]),
                _sum([translation.log_prob for translation in chosen]),
                _chain([translation.token_log_probs for translation in chosen]),
                _chain(_shifted(chosen, first_words)),
            )
        )
    return joined


def _shifted(parts: Sequence[Translation], sources: Sequence[int]) -> list[list[Link] | None]:
    """The alignments of parts, with words counted from the beginning of the whole."""
    targets = np.cumsum([0, *(len(part.text.split()) for part in parts)]).tolist()
    return [
        None
        if part.alignment is None
        else [(source + sources[n], target + targets[n]) for source, target in part.alignment]
        for n, part in enumerate(parts)
    ]


def _sum(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _chain(lists: Sequence[list[T] | None]) -> list[T] | None:
    known = [items for items in lists if items is not None]
    return [item for items in known for item in items] if len(known) == len(lists) else None

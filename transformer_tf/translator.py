"""Translates text: a search engine between two tokenizers, loaded from a checkpoint."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from transformer_tf import checkpoint
from transformer_tf.attention_maps.alignments import Query, align_words, attention_of_words
from transformer_tf.attention_maps.attention_scores import Attention
from transformer_tf.catalog import CatalogEntry, available, find_checkpoint
from transformer_tf.config import AlignmentHeads, Config, DecodingConfig
from transformer_tf.decoding.hypothesis import Engine, Hypothesis
from transformer_tf.decoding.numpy_engine import NumpyEngine
from transformer_tf.errors import ConfigError, TransformerTFError
from transformer_tf.numpy_transformer import NumpyTransformer
from transformer_tf.text.normalization import normalize_text
from transformer_tf.text.placeholders import (
    MAX_VALUES,
    Placeholders,
    make_placeholders,
    placeholder_ids,
    word_map,
)
from transformer_tf.text.segments import (
    Segment,
    list_of_strings,
    read_segments,
    split_sentences,
)
from transformer_tf.text.symbols import SLOTS
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.translation import Translation, finished_text, join_translations
from transformer_tf.utils.languages import language_name
from transformer_tf.utils.startup import import_keras_quietly
from transformer_tf.weights import model_weights

if TYPE_CHECKING:  # importing this module must not import Keras
    from transformer_tf.transformer import Transformer

EngineName = Literal["numpy", "keras", "ctranslate2"]
ATTEND_BLOCK_SIZE = 256  # bounds the memory of the attention scores


class Translator:
    """Translates text with a trained model.

    Args:
        engine: The search engine, such as a `NumpyEngine` or `KerasEngine`.
        source_tokenizer: The tokenizer of the source language.
        target_tokenizer: The tokenizer of the target language.
        options: The default search options.
        max_source_length: Maximum number of sub-words of a segment; a longer text is cut into
            several. None for no limit.
        languages: Names of the source and the target language, for the axes of figures.
        placeholders: Masks the values that the model copies; None for none.

    Attributes:
        config: The configuration of the checkpoint, or that given to `from_model`; else None.
    """

    config: Config | None = None
    _folder: Path | None = None

    def __init__(
        self,
        engine: Engine,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        options: DecodingConfig | None = None,
        max_source_length: int | None = 100,
        languages: tuple[str, str] = ("Source", "Target"),
        placeholders: Placeholders | None = None,
    ):
        self.engine = engine
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.options = options or DecodingConfig()
        self.max_source_length = max_source_length
        self.languages = languages
        self.placeholders = placeholders

    def __repr__(self) -> str:
        return (
            f"Translator(engine={type(self.engine).__name__}, "
            f"source_vocab_size={self.source_tokenizer.vocab_size}, "
            f"target_vocab_size={self.target_tokenizer.vocab_size}, "
            f"beam_size={self.options.beam_size})"
        )

    @staticmethod
    def available() -> list[CatalogEntry]:
        """Lists the translators that can be loaded by name, with direction, size and BLEU.

        Raises:
            CheckpointError: If `$TRANSFORMER_TF_CHECKPOINTS` is set, but no folder.
        """
        return available()

    @classmethod
    def load(
        cls, name: str | Path, overrides: str | Sequence[str] = (), engine: EngineName = "numpy"
    ) -> Translator:
        """Loads a translator from a checkpoint: weights, configuration and tokenizers.

        Args:
            name: The name of a translator, such as `en-de`, or the folder of a checkpoint.
            overrides: A string `decoding.key=value`, or several, that change its search options.
            engine: `"numpy"` starts in a fraction of a second. `"keras"` has greedy search only.
                `"ctranslate2"` needs a folder that `export_ctranslate2` wrote.

        Raises:
            CheckpointError: If the checkpoint is missing, incomplete or damaged. The message lists
                the names.
            ConfigError: If an override is invalid or the engine is unknown.
        """
        if engine not in get_args(EngineName):
            raise ConfigError(
                f"engine must be one of {', '.join(get_args(EngineName))}, not {engine}"
            )
        folder = find_checkpoint(name)
        overrides = [overrides] if isinstance(overrides, str) else overrides
        if engine == "ctranslate2":
            from transformer_tf.decoding.ctranslate2_engine import open_ctranslate2

            return cls._with_settings(*open_ctranslate2(folder, overrides), folder=folder)
        if engine == "keras":
            import_keras_quietly()
            from transformer_tf.decoding.keras_engine import KerasEngine

            config, keras_model, source, target = checkpoint.load_checkpoint(folder, overrides)
            keras_engine = KerasEngine(keras_model, target.start_id, target.end_id)
            translator = cls._with_settings(keras_engine, config, source, target)
            translator.model = keras_model
            return translator
        config, weights, source, target = checkpoint.open_checkpoint(folder, overrides)
        model = checkpoint.load_numpy_model(config, weights, source, target)
        numpy_engine = _numpy_engine(model, config, source, target)
        return cls._with_settings(numpy_engine, config, source, target, folder)

    @classmethod
    def from_model(
        cls, model: Transformer, config: Config, source: Tokenizer, target: Tokenizer
    ) -> Translator:
        """Makes a translator from a Keras model.

        It copies the weights, so a further training does not change the translator.

        Args:
            model: The model.
            config: The configuration of the model.
            source: The source tokenizer.
            target: The target tokenizer.
        """
        copy = NumpyTransformer(model_weights(model), model.num_heads, model.pre_norm, model.pad_id)
        engine = _numpy_engine(copy, config, source, target)
        translator = cls._with_settings(engine, config, source, target)
        translator.model = model
        return translator

    @classmethod
    def _with_settings(
        cls,
        engine: Engine,
        config: Config,
        source: Tokenizer,
        target: Tokenizer,
        folder: Path | None = None,
    ) -> Translator:
        languages = (
            language_name(config.data.source_language),
            language_name(config.data.target_language),
        )
        placeholders = make_placeholders(config.data, source)
        translator = cls(
            engine, source, target, config.decoding, config.data.max_length, languages, placeholders
        )
        translator.config, translator._folder = config, folder
        return translator

    @functools.cached_property
    def model(self) -> Transformer:
        """The Keras model with the weights of the checkpoint, loaded at its first use.

        Training it does not change this translator, except with the Keras engine; `from_model`
        makes a new one.

        Raises:
            CheckpointError: If the checkpoint is an export without Keras weights.
            TransformerTFError: If the translator has no checkpoint.
        """
        if self._folder is None:
            raise TransformerTFError("This translator was not loaded and has no Keras model")
        import_keras_quietly()
        return checkpoint.load_checkpoint(self._folder)[1]

    def translate(
        self,
        texts: str | Iterable[str],
        *,
        prefixes: Iterable[str] | None = None,
        beam_size: int | None = None,
        n_best: int = 1,
        length_penalty: float | None = None,
        max_length: int | None = None,
        split_sentences: bool | None = None,
    ) -> Any:
        """Translates one text or a list of texts.

        Args:
            texts: A text, or a list of texts.
            prefixes: As in `search`, like the options below.
            beam_size: Number of hypotheses in beam search.
            n_best: Number of translations of each text, at most `beam_size`.
            length_penalty: Exponent of the length penalty.
            max_length: Maximum number of sub-words of a translation.
            split_sentences: Whether to translate the sentences of a text one by one.

        Returns:
            A string for one text, a list of strings for a list. With `n_best` above 1, each text
            has a list of translations, the best first.

        Raises:
            TypeError, ValueError, ConfigError, DataError: As in `search`.
        """
        one = isinstance(texts, str)
        found = self.search(
            [texts] if isinstance(texts, str) else texts,
            prefixes=prefixes,
            beam_size=beam_size,
            n_best=n_best,
            length_penalty=length_penalty,
            max_length=max_length,
            split_sentences=split_sentences,
        )
        translations = [
            [each.text for each in ranked] if n_best > 1 else ranked[0].text for ranked in found
        ]
        return translations[0] if one else translations

    def search(
        self,
        texts: Iterable[str],
        *,
        prefixes: Iterable[str] | None = None,
        alignment: bool = False,
        on_cut: Callable[[str, int], None] | None = None,
        progress: bool = False,
        beam_size: int | None = None,
        n_best: int = 1,
        length_penalty: float | None = None,
        max_length: int | None = None,
        split_sentences: bool | None = None,
    ) -> list[list[Translation]]:
        """Searches for translations of texts, with their scores.

        A text of more than `max_source_length` sub-words is cut into segments, if possible between
        sentences, else between clauses or words. Their translations are joined with spaces. The
        translation of an empty text is "".

        Args:
            texts: The texts.
            prefixes: The first words of each translation, "" for none.
            alignment: Whether to align the words of each translation with those of its text.
            on_cut: Called with each text that is too long or has too many values, and its number of
                segments; with `split_sentences`, only if one of its sentences is too long.
            progress: Whether to show a progress bar on stderr, if it is a terminal.
            beam_size: Number of hypotheses; like the options below, by default that of `options`.
            n_best: Number of translations of each text, at most `beam_size`.
            length_penalty: In beam search, log-probabilities are divided by ((5 + length) / 6) to
                this power.
            max_length: Maximum number of sub-words of a translation.
            split_sentences: Whether to translate the sentences of a text one by one.

        Returns:
            For each text its `n_best` translations, the best first.

        Raises:
            TypeError: If an argument is not a list of strings.
            ValueError: If the numbers of texts and prefixes differ.
            ConfigError: If an option has a wrong type or is out of range.
            DataError: If a text has more than 100 000 characters.
        """
        options = self._options(
            beam_size=beam_size,
            length_penalty=length_penalty,
            max_length=max_length,
            split_sentences=split_sentences,
        )
        if not isinstance(n_best, int) or not 1 <= n_best <= options.beam_size:
            raise ConfigError(
                f"n_best must be from 1 to {options.beam_size}, the beam size, not {n_best!r}"
            )
        texts = list_of_strings("texts", texts)
        prefixes = [""] * len(texts) if prefixes is None else list_of_strings("prefixes", prefixes)
        if len(prefixes) != len(texts):
            raise ValueError(
                "There must be one prefix for each text. "
                f"Received: {len(texts)} texts, {len(prefixes)} prefixes"
            )
        groups = [
            self._read(text, options, prefix) for text, prefix in zip(texts, prefixes, strict=True)
        ]
        for text, group in zip(texts, groups, strict=True):
            if on_cut and len(group) > _count_sentences(text, options):
                on_cut(text, len(group))
        segments = [segment for group in groups for segment in group]
        with _progress_bar(len(segments), progress) as update:
            found = self._find(segments, options, n_best, update)
        written = iter(self._write(segments, found, options, alignment))
        return [join_translations(group, [next(written) for _ in group]) for group in groups]

    def fits(self, text: str) -> bool:
        """Returns whether a text is one segment: not empty, and short enough for the model."""
        return len(self._read(text, self._options(split_sentences=False))) == 1

    def attend(self, text: str, *, beam_size: int | None = None) -> Attention:
        """Translates a text and returns the attention scores of every layer and head.

        The text must fit in one segment; `decoding.split_sentences` is ignored. The scores come
        from one pass over the finished translation. They equal those of the search, since the
        decoder is causal.

        Args:
            text: A text.
            beam_size: As in `search`.

        Raises:
            TransformerTFError: If the text is empty or too long.
        """
        options = self._options(beam_size=beam_size, split_sentences=False)
        segments = self._read(text, options)
        if len(segments) != 1:
            raise TransformerTFError(
                f"Attention is shown for one sentence of at most {self.max_source_length} "
                f"sub-words and {MAX_VALUES} values"
                if segments
                else "There is no attention to show for an empty sentence"
            )
        (segment,), tokenizer, heads = segments, self.target_tokenizer, options.alignment
        found = self._find(segments, options)
        ids = found[0][0].ids
        target_input = [tokenizer.start_id, *ids]
        return Attention(
            source=normalize_text(text),
            translation=self._write(segments, found, options)[0][0].text,
            source_tokens=segment.source_tokens(self.source_tokenizer),
            target_input_tokens=segment.target_tokens(target_input, tokenizer),
            target_output_tokens=segment.target_tokens([*ids, tokenizer.end_id], tokenizer),
            scores=self.engine.attend([segment.source_ids], [target_input])[0],
            source_language=self.languages[0],
            target_language=self.languages[1],
            alignment_heads=heads.maps() if heads else (),
            alignment_query=heads.query if heads else "output",
        )

    def attend_words(
        self, texts: Sequence[str], targets: Sequence[Sequence[int]], query: Query
    ) -> Iterator[np.ndarray]:
        """Computes cross-attention between the words of texts and of given translations.

        Args:
            texts: Normalized texts that fit the model.
            targets: The token ids of each translation, without start and end.
            query: As in `AlignmentHeads`.

        Yields:
            For each text an array `(num_layers, num_heads, target_words, source_words)`.
        """
        tokenizer = self.source_tokenizer
        segments = [Segment(text, tokenizer.encode_sentence(text)) for text in texts]
        scores = self._cross_attention(
            [(segment.source_ids, ids) for segment, ids in zip(segments, targets, strict=True)]
        )
        for segment, ids in zip(segments, targets, strict=True):
            target_tokens = [*self.target_tokenizer.tokens(ids), "<end>"]
            yield attention_of_words(
                next(scores), segment.source_tokens(tokenizer), target_tokens, query
            )

    def _options(self, **changes: Any) -> DecodingConfig:
        """Returns the search options of a call; None stands for those of the translator."""
        given = {name: value for name, value in changes.items() if value is not None}
        return dataclasses.replace(self.options, **given)

    def _read(self, text: str, options: DecodingConfig, prefix: str = "") -> list[Segment]:
        """Splits a text into segments and gives the prefix to the first one."""
        segments = read_segments(
            text,
            self.source_tokenizer,
            self.max_source_length,
            options.split_sentences,
            self.placeholders,
        )
        if segments and prefix:
            segments[0] = segments[0].with_prefix(prefix, self.target_tokenizer)
            length = len(segments[0].prefix_ids)
            if length >= options.max_length:
                raise ConfigError(
                    f"A prefix of {length} sub-words needs a larger decoding.max_length than "
                    f"{options.max_length}"
                )
        return segments

    def _find(
        self,
        segments: Sequence[Segment],
        options: DecodingConfig,
        n_best: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> list[list[Hypothesis]]:
        """Searches for the `n_best` hypotheses of each segment, once for equal ones."""
        wanted = [(tuple(segment.source_ids), tuple(segment.prefix_ids)) for segment in segments]
        unique = list(dict.fromkeys(wanted))
        prefixes = [prefix for _, prefix in unique]
        hypotheses = self.engine.search(
            [source for source, _ in unique],
            options,
            prefixes if any(prefixes) else None,
            progress,
            n_best,
        )
        if progress:
            progress(len(wanted) - len(unique))
        found = dict(zip(unique, hypotheses, strict=True))
        return [found[each] for each in wanted]

    def _write(
        self,
        segments: Sequence[Segment],
        found: Sequence[Sequence[Hypothesis]],
        options: DecodingConfig,
        alignment: bool = False,
    ) -> list[list[Translation]]:
        """Converts the hypotheses of each segment to translations."""
        pairs = [
            (segment.source_ids, hypothesis.ids)
            for segment, hypotheses in zip(segments, found, strict=True)
            for hypothesis in hypotheses
        ]
        scores = self._cross_attention(pairs) if alignment else None
        written = []
        for segment, hypotheses in zip(segments, found, strict=True):
            translations = [self._translation(segment, ids) for ids in hypotheses]
            if scores is not None:
                translations = [
                    self._aligned(translation, segment, next(scores), options.alignment)
                    for translation in translations
                ]
            best: dict[str, Translation] = {}
            for translation in translations:  # two of them may read the same
                best.setdefault(translation.text, translation)
            written.append(list(best.values()))
        return written

    def _translation(self, segment: Segment, hypothesis: Hypothesis) -> Translation:
        decoded = self.target_tokenizer.decode(hypothesis.ids)
        # The NumPy engine writes each placeholder once, unless a translation is cut.
        if self.placeholders and not isinstance(self.engine, NumpyEngine):
            slots = sorted(character for character in decoded if character in SLOTS)
            if slots != list(SLOTS[: len(segment.values)]):
                warnings.warn(
                    f"{type(self.engine).__name__} lost, repeated or invented a value in the "
                    f"translation of {segment.unmasked!r}",
                    stacklevel=2,
                )
        return Translation(
            finished_text(decoded, segment, self.placeholders),
            segment.target_tokens(hypothesis.ids, self.target_tokenizer),
            hypothesis.score,
            hypothesis.log_prob,
            hypothesis.token_log_probs,
        )

    def _cross_attention(
        self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]
    ) -> Iterator[np.ndarray]:
        """Yields scores `(num_layers, num_heads, target_len, source_len)` of ids of both sides."""
        start = self.target_tokenizer.start_id
        for begin in range(0, len(pairs), ATTEND_BLOCK_SIZE):
            block = pairs[begin : begin + ATTEND_BLOCK_SIZE]
            sources = [source for source, _ in block]
            for scores in self.engine.attend(sources, [[start, *target] for _, target in block]):
                yield scores["cross"]

    def _aligned(
        self,
        translation: Translation,
        segment: Segment,
        scores: np.ndarray,
        heads: AlignmentHeads | None,
    ) -> Translation:
        """Adds the alignment to a translation, from its cross-attention."""
        target_tokens = [*translation.tokens, "<end>"]
        links = align_words(
            scores, segment.source_tokens(self.source_tokenizer), target_tokens, heads
        )
        if segment.values:
            masked = "".join(token.replace(" ", "_") for token in translation.tokens)
            source = word_map(segment.text, segment.unmasked)
            target = word_map(masked.replace("▁", " "), translation.text)
            found: dict[int, int] = {}
            for one, other in links:  # the words of a value are linked in order
                for place, word in enumerate(target[other]):
                    found.setdefault(word, source[one][min(place, len(source[one]) - 1)])
            links = sorted((one, other) for other, one in found.items())
        # Normalization may have removed words of control characters, which the tokens keep.
        words = len(translation.text.split())
        return dataclasses.replace(
            translation, alignment=[link for link in links if link[1] < words]
        )


def _count_sentences(text: str, options: DecodingConfig) -> int:
    """Returns in how many parts a text is translated if none of them is too long."""
    return len(split_sentences(normalize_text(text))) if options.split_sentences else 1


def _numpy_engine(
    model: NumpyTransformer, config: Config, source: Tokenizer, target: Tokenizer
) -> NumpyEngine:
    copies = placeholder_ids(source, target) if config.data.placeholders else {}
    return NumpyEngine(model, target.start_id, target.end_id, copies=copies)


@contextlib.contextmanager
def _progress_bar(total: int, wanted: bool) -> Iterator[Callable[[int], object] | None]:
    """Shows a progress bar on stderr, if it is a terminal, and yields its update."""
    if not wanted:
        yield None
        return
    from tqdm import tqdm  # imported only if needed: it takes 40 ms

    # None disables the bar unless stderr is a terminal.
    with tqdm(total=total, desc="translating", unit="line", disable=None) as bar:
        yield bar.update

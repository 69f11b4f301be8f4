"""Translates text: a search engine between two tokenizers, loaded from a checkpoint."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from transformer_tf.attention_maps.alignments import (
    AlignmentHeads,
    Query,
    align_words,
    attention_of_words,
    most_attended,
)
from transformer_tf.attention_maps.attention_scores import Attention
from transformer_tf.config import Config, DecodingConfig
from transformer_tf.errors import ConfigError, TransformerTFError
from transformer_tf.numpy_transformer import NumpyTransformer
from transformer_tf.text.normalization import normalize_text
from transformer_tf.text.segments import (
    Segment,
    Translation,
    join_translations,
    list_of_strings,
    read_segments,
)
from transformer_tf.text.slots import Slots, fill, keeps_slots, make_slots
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.utils.languages import language_name
from transformer_tf.utils.startup import import_keras_quietly
from transformer_tf.weights import model_weights

if TYPE_CHECKING:  # importing this module must not import Keras
    from transformer_tf.decoding.hypothesis import Engine, Hypothesis
    from transformer_tf.transformer import Transformer

EngineName = Literal["auto", "numpy", "keras", "ctranslate2"]
ATTEND_BATCH_SIZE = 256  # bounds the memory of the attention scores


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
        slots: Finds the numbers, addresses and names that the model copies; None for none.
    """

    def __init__(
        self,
        engine: Engine,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        options: DecodingConfig | None = None,
        max_source_length: int | None = 100,
        languages: tuple[str, str] = ("Source", "Target"),
        slots: Slots | None = None,
    ):
        self.engine = engine
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.options = options or DecodingConfig()
        self.max_source_length = max_source_length
        self.languages = languages
        self.slots = slots

    def __repr__(self) -> str:
        return (
            f"Translator(engine={type(self.engine).__name__}, "
            f"source_vocab_size={self.source_tokenizer.vocab_size}, "
            f"target_vocab_size={self.target_tokenizer.vocab_size}, "
            f"beam_size={self.options.beam_size})"
        )

    @classmethod
    def load(
        cls, folder: str | Path, overrides: Sequence[str] = (), engine: EngineName = "auto"
    ) -> Translator:
        """Loads a translator from a checkpoint: weights, configuration and tokenizers.

        Args:
            folder: The folder of the checkpoint.
            overrides: Strings `decoding.key=value` that change its search options.
            engine: `"numpy"` starts in a fraction of a second, `"keras"` in seconds. Both find the
                same translations. `"auto"` uses NumPy, except for options that only Keras
                supports: sampling, and precisions other than float32. `"ctranslate2"` needs a
                folder that `export_ctranslate2` wrote.

        Raises:
            CheckpointError: If the checkpoint is missing, incomplete or damaged.
            ConfigError: If an override is invalid, the engine is unknown, or it does not support
                an option.
        """
        if engine not in get_args(EngineName):
            raise ConfigError(
                f"engine must be one of {', '.join(get_args(EngineName))}, not {engine}"
            )
        folder = Path(folder)
        if engine == "ctranslate2":
            from transformer_tf.decoding.ctranslate2_engine import open_ctranslate2

            return cls._with_settings(*open_ctranslate2(folder, overrides))
        from transformer_tf import checkpoint

        config, weights, source, target = checkpoint.open_checkpoint(folder, overrides)

        @functools.cache
        def load_keras_engine() -> Engine:
            import_keras_quietly()
            from transformer_tf.decoding.engine import KerasEngine

            model = checkpoint.build_model(config, source, target, config.decoding.precision)
            checkpoint.load_weights(model, weights)
            return KerasEngine(model, target.start_id, target.end_id)

        loaded: Engine
        if engine == "keras" or (engine == "auto" and config.decoding.precision != "float32"):
            loaded = load_keras_engine()
        else:
            from transformer_tf.decoding.numpy_engine import NumpyEngine, check_supported

            if engine == "numpy":
                check_supported(config.decoding)
            model = checkpoint.load_numpy_model(config, weights, source, target)
            fallback = load_keras_engine if engine == "auto" else None
            loaded = NumpyEngine(model, target.start_id, target.end_id, fallback=fallback)
        return cls._with_settings(loaded, config, source, target)

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
        from transformer_tf.decoding.numpy_engine import NumpyEngine

        copy = NumpyTransformer(model_weights(model), model.num_heads, model.pre_norm, model.pad_id)
        engine = NumpyEngine(copy, target.start_id, target.end_id)
        return cls._with_settings(engine, config, source, target)

    @classmethod
    def _with_settings(
        cls, engine: Engine, config: Config, source: Tokenizer, target: Tokenizer
    ) -> Translator:
        languages = (
            language_name(config.data.source_language),
            language_name(config.data.target_language),
        )
        slots = make_slots(config.data, source.known_words)
        return cls(
            engine, source, target, config.decoding, config.data.max_length, languages, slots
        )

    def translate(self, texts: str | Iterable[str], **arguments: Any) -> Any:
        """Translates one text or a list of texts.

        Args:
            texts: A text, or a list of texts.
            **arguments: The other arguments of `search`, such as `beam_size=4`.

        Returns:
            A string for one text, a list of strings for a list. With `n_best` above 1, each text
            has a list of translations, the best first.

        Raises:
            TypeError: If `texts` is neither, or an option does not exist.
            ValueError: If the numbers of texts and prefixes differ.
            ConfigError: If an option is out of range or has no effect.
        """
        if isinstance(texts, str):
            return self.translate([texts], **arguments)[0]
        if not isinstance(texts, Iterable):
            raise TypeError(f"`texts` must be a string or a list of strings. Received: {texts!r}")
        found = self.search(texts, **arguments)
        if arguments.get("n_best", self.options.n_best) == 1:
            return [translations[0].text for translations in found]
        return [[translation.text for translation in translations] for translations in found]

    def search(
        self,
        texts: Iterable[str],
        prefixes: Iterable[str] | None = None,
        on_cut: Callable[[str, int], None] | None = None,
        progress: bool = False,
        first_number: int = 0,
        **options: Any,
    ) -> list[list[Translation]]:
        """Searches for translations of texts, with their scores.

        A text of more than `max_source_length` sub-words is cut into segments, if possible between
        sentences, else between clauses or words. Their translations are joined with spaces. The
        translation of an empty text is "".

        Args:
            texts: The texts.
            prefixes: The first words of each translation, "" for none.
            on_cut: Called with each text that is too long for the model, and its number of
                segments.
            progress: Whether to show a progress bar on stderr, if it is a terminal.
            first_number: Number of the first text. Random draws depend on a text's number, so for
                a part of a longer list, give the index of its first text.
            **options: Changes to `self.options` for this call, such as `beam_size=4`.

        Returns:
            For each text its `n_best` translations, the best first.

        Raises:
            TypeError: If an argument is not a list of strings, or an option does not exist.
            ValueError: If the numbers of texts and prefixes differ.
            ConfigError: If an option is out of range or has no effect, or if it is `precision`,
                which is fixed when a translator is loaded.
        """
        settings = self.options.change(**options)
        if settings.precision != self.options.precision:
            raise ConfigError("decoding.precision cannot change after a translator is loaded")
        texts = list_of_strings("texts", texts)
        prefixes = [""] * len(texts) if prefixes is None else list_of_strings("prefixes", prefixes)
        if len(prefixes) != len(texts):
            raise ValueError(
                "There must be one prefix for each text. "
                f"Received: {len(texts)} texts, {len(prefixes)} prefixes"
            )
        segments_of = []
        for number, (text, prefix) in enumerate(zip(texts, prefixes, strict=True), first_number):
            segments_of.append(self._read(text, settings, prefix, number))
            if on_cut and len(segments_of[-1]) > 1 and not self.fits(text):
                on_cut(text, len(segments_of[-1]))
        segments = [segment for group in segments_of for segment in group]
        with contextlib.ExitStack() as stack:
            update = None
            if progress:
                from tqdm import tqdm  # imported only if needed: it takes 40 ms

                # None disables the bar unless stderr is a terminal.
                bar = tqdm(total=len(segments), desc="translating", unit="line", disable=None)
                update = stack.enter_context(bar).update
            hypotheses = self._find(segments, settings, any(prefixes), update)
        translations = self._write(segments, hypotheses, settings)
        return [
            join_translations(group, [next(translations) for _ in group]) for group in segments_of
        ]

    def fits(self, text: str) -> bool:
        """Returns whether a text is one segment: not empty, and short enough for the model."""
        return len(self._read(text, dataclasses.replace(self.options, split_sentences=False))) == 1

    def attend(self, text: str, number: int = 0) -> Attention:
        """Translates a text and returns the attention scores of every layer and head.

        The text must fit in one segment; `decoding.split_sentences` is ignored. The scores come
        from one pass over the finished translation. They equal those of the search, since the
        decoder is causal.

        Args:
            text: A text.
            number: Number of the text; random draws depend on it.

        Raises:
            TransformerTFError: If the text is empty or too long.
        """
        options = dataclasses.replace(
            self.options, n_best=1, split_sentences=False, alignment=False
        )
        segments = self._read(text, options, number=number)
        if len(segments) != 1:
            raise TransformerTFError(
                f"Attention is shown for one sentence of at most {self.max_source_length} sub-words"
                if segments
                else "There is no attention to show for an empty sentence"
            )
        (segment,), tokenizer = segments, self.target_tokenizer
        found = self._find(segments, options)
        target_ids = found[0][0].ids
        target_input = [tokenizer.start_id, *target_ids]
        scores = self.engine.attend([segment.source_ids], [target_input])[0]
        heads = AlignmentHeads(
            options.alignment_layer, options.alignment_heads, options.alignment_query
        )
        return Attention(
            source=normalize_text(text),
            translation=next(self._write(segments, found, options))[0].text,
            source_tokens=self._source_tokens(segment.text, segment.source_ids, segment.values),
            target_input_tokens=tokenizer.tokens(target_input, segment.target_values),
            target_output_tokens=tokenizer.tokens(
                [*target_ids, tokenizer.end_id], segment.target_values
            ),
            scores=scores,
            source_language=self.languages[0],
            target_language=self.languages[1],
            alignment_heads=heads.maps(len(scores["cross"])),
            alignment_query=heads.query,
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
        sources = [self.source_tokenizer.encode_sentence(text) for text in texts]
        scores = self._cross_attention(list(zip(sources, targets, strict=True)))
        for text, source, target in zip(texts, sources, targets, strict=True):
            target_tokens = [*self.target_tokenizer.tokens(target), "<end>"]
            source_tokens = self._source_tokens(text, source)
            yield attention_of_words(next(scores), source_tokens, target_tokens, query)

    def _read(
        self, text: str, options: DecodingConfig, prefix: str = "", number: int = 0
    ) -> list[Segment]:
        """Splits a text into segments and gives the prefix to the first one."""
        segments = read_segments(
            text,
            self.source_tokenizer,
            self.max_source_length,
            options.recase,
            options.split_sentences,
            number,
            self.slots,
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
        prefixed: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> list[list[Hypothesis]]:
        """Searches for the `n_best` hypotheses of each segment.

        If the best one has lost a slot, a beam of twice the size is searched, and its hypotheses
        that kept all slots come first.
        """

        def search(
            segments: Sequence[Segment],
            options: DecodingConfig,
            progress: Callable[[int], object] | None = None,
        ) -> list[list[Hypothesis]]:
            return self.engine.search(
                [segment.source_ids for segment in segments],
                options,
                [segment.prefix_ids for segment in segments] if prefixed else None,
                progress,
                [segment.number for segment in segments],
            )

        def loses_slots(segment: Segment, hypothesis: Hypothesis) -> bool:
            text = self.target_tokenizer.decode(hypothesis.ids)
            return bool(segment.values) and not keeps_slots(text, len(segment.values))

        found = search(segments, options, progress)
        if not options.check_slots or options.beam_size == 1:
            return found
        pairs = zip(segments, found, strict=True)
        again = [
            number for number, (segment, each) in enumerate(pairs) if loses_slots(segment, each[0])
        ]
        if again:
            size = 2 * options.beam_size
            beams = search(
                [segments[number] for number in again],
                dataclasses.replace(options, beam_size=size, n_best=size),
            )
            for number, beam in zip(again, beams, strict=True):
                loses = functools.partial(loses_slots, segments[number])
                found[number] = sorted(beam, key=loses)[: options.n_best]
        return found

    def _write(
        self,
        segments: Sequence[Segment],
        found: Sequence[Sequence[Hypothesis]],
        options: DecodingConfig,
    ) -> Iterator[list[Translation]]:
        """Yields the translations of each segment."""
        scores: Iterator[np.ndarray | None] = itertools.repeat(None)
        if options.alignment or options.replace_unknowns:
            pairs = [
                (segment.source_ids, hypothesis.ids)
                for segment, hypotheses in zip(segments, found, strict=True)
                for hypothesis in hypotheses
            ]
            scores = self._cross_attention(pairs)
        for segment, hypotheses in zip(segments, found, strict=True):
            yield [self._translation(segment, each, options, next(scores)) for each in hypotheses]

    def _translation(
        self,
        segment: Segment,
        hypothesis: Hypothesis,
        options: DecodingConfig,
        scores: np.ndarray | None,
    ) -> Translation:
        """Converts a hypothesis to text.

        The replacement of unknown tokens and the alignment need its cross-attention scores.
        """
        ids, tokenizer = hypothesis.ids, self.target_tokenizer
        unk_id, tokens = tokenizer.unk_id, tokenizer.tokens(ids, segment.target_values)
        output_tokens, source_tokens, unknowns, alignment = tokens, [""], None, None
        if scores is not None:
            source_tokens = self._source_tokens(segment.text, segment.source_ids, segment.values)
        if options.replace_unknowns and scores is not None:
            # Replace each unknown token with the source token that it attends to most.
            attended = most_attended(scores, source_tokens)[: len(ids)]
            unknowns = [token for token, id_ in zip(attended, ids, strict=True) if id_ == unk_id]
            output_tokens = [
                source_token if id_ == unk_id else token
                for source_token, id_, token in zip(attended, ids, tokens, strict=True)
            ]
        # Byte tokens can spell a line break, but a translation is one line.
        text = normalize_text(fill(tokenizer.decode(ids, unknowns), segment.target_values))
        if options.restore:
            text = tokenizer.restore(text, segment.text)
        text = segment.restore_case(text)
        if options.alignment and scores is not None:
            heads = AlignmentHeads(
                options.alignment_layer, options.alignment_heads, options.alignment_query
            )
            links = align_words(scores, source_tokens, [*output_tokens, "<end>"], heads)
            # Normalization may have removed words of control characters, which the tokens keep.
            alignment = [link for link in links if link[1] < len(text.split())]
        return Translation(
            text,
            tokens,
            hypothesis.score,
            hypothesis.log_prob,
            hypothesis.token_log_probs,
            alignment,
        )

    def _cross_attention(
        self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]
    ) -> Iterator[np.ndarray]:
        """Yields the scores `(num_layers, num_heads, target_len, source_len)` of each pair."""
        start = self.target_tokenizer.start_id
        for begin in range(0, len(pairs), ATTEND_BATCH_SIZE):
            batch = pairs[begin : begin + ATTEND_BATCH_SIZE]
            sources = [source for source, _ in batch]
            for scores in self.engine.attend(sources, [[start, *target] for _, target in batch]):
                yield scores["cross"]

    def _source_tokens(
        self, text: str, source_ids: Sequence[int], values: Sequence[str] = ()
    ) -> list[str]:
        """Returns the source tokens as the text spells them, with start and end."""
        pieces = self.source_tokenizer.pieces(text, values)[: len(source_ids) - 2]
        return ["<start>", *pieces, "<end>"]

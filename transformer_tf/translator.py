"""Text → text: a model and its two tokenizers, as a checkpoint's folder holds them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from keras import ops
from tqdm import tqdm

from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.config import Config
from transformer_tf.decoding import greedy_search
from transformer_tf.errors import TransformerTFError
from transformer_tf.layers import padding_mask
from transformer_tf.text.batching import pad
from transformer_tf.text.cleaning import normalize_text
from transformer_tf.text.tokenizer import Tokenizer
from transformer_tf.transformer import Transformer

ATTENTION_KINDS = ("encoder", "decoder", "cross")

# Prefixes are padded to a multiple of this, so that a back end that compiles for each shape
# meets few of them.
PREFIX_STEP = 8


@dataclasses.dataclass(frozen=True)
class Attention:
    """A translation and where the model looked while making it.

    Attributes:
        source: The sentence.
        translation: Its translation.
        source_tokens: Labels of the source tokens, start and end included.
        target_input_tokens: Labels of the tokens the decoder read, from start on.
        target_output_tokens: Labels of the tokens the decoder said, the last of them end.
        scores: For each kind (`encoder`, `decoder`, `cross`) an array
            `(num_layers, num_heads, query_len, key_len)`.
    """

    source: str
    translation: str
    source_tokens: list[str]
    target_input_tokens: list[str]
    target_output_tokens: list[str]
    scores: dict[str, np.ndarray]

    @property
    def title(self) -> str:
        """The sentence and its translation, over a picture."""
        return f"{self.source}\n→ {self.translation}"

    def labels(self, kind: str) -> tuple[list[str], list[str]]:
        """The labels of the queries and of the keys of a kind of attention.

        A query of the decoder is labelled with the token it produced, the key with the token
        that was read there.
        """
        return {
            "encoder": (self.source_tokens, self.source_tokens),
            "decoder": (self.target_output_tokens, self.target_input_tokens),
            "cross": (self.target_output_tokens, self.source_tokens),
        }[kind]


class Translator:
    """Translates text with a trained model.

    Args:
        model: The model.
        source_tokenizer: Cuts the source sentences.
        target_tokenizer: Puts the translations together.
        batch_size: Sentences translated at a time.
        max_length: Most sub-words of a translation.
        max_source_length: Longer sentences are cut into parts that are translated one by one;
            None for no limit.
        restore: Whether translations of a model that knows neither capitals nor digits get them
            back.
    """

    def __init__(
        self,
        model: Transformer,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        batch_size: int = 64,
        max_length: int = 100,
        max_source_length: int | None = 100,
        restore: bool = True,
    ):
        self.model = model
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.batch_size = batch_size
        self.max_length = max_length
        self.max_source_length = max_source_length
        self.restore = restore

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
        return cls.from_config(*load_checkpoint(Path(folder), overrides))

    @classmethod
    def from_config(
        cls, config: Config, model: Transformer, source: Tokenizer, target: Tokenizer
    ) -> Translator:
        """A translator with the settings of a run."""
        return cls(
            model,
            source,
            target,
            batch_size=config.decoding.batch_size,
            max_length=config.decoding.max_length,
            max_source_length=config.data.max_length,
            restore=config.decoding.restore,
        )

    def translate(
        self,
        texts: Sequence[str],
        on_cut: Callable[[str, int], None] | None = None,
        progress: bool = False,
    ) -> list[str]:
        """Translates sentences.

        A text of nothing but spaces has the translation "". One with more than
        `max_source_length` sub-words is cut, at the ends of its sentences where it has some, and
        the translations of the parts are joined with spaces.

        Args:
            texts: The sentences.
            on_cut: Called with a text that is cut and the number of its parts.
            progress: Whether to show a progress bar on stderr.

        Returns:
            The translations, in the order of `texts`.

        Raises:
            TypeError: If `texts` is one string rather than several.
        """
        if isinstance(texts, str):
            raise TypeError(f"`texts` must be a list of sentences. Received: {texts!r}")
        parts: list[str] = []
        counts = []
        for text in texts:
            cut = self.split(text)
            if len(cut) > 1 and on_cut:
                on_cut(text, len(cut))
            parts += cut
            counts.append(len(cut))
        translated = iter(self._translate_parts(parts, progress))
        return [" ".join(next(translated) for _ in range(count)) for count in counts]

    def split(self, text: str) -> list[str]:
        """Normalises a text and cuts it into parts that the model can take at a time."""
        text = normalize_text(text)
        if not text:
            return []
        if self._fits(text):
            return [text]
        parts: list[str] = []
        for sentence in re.split(r"(?<=[.!?…])\s+", text):
            if self._fits(sentence):
                parts.append(sentence)
                continue
            begin, words = 0, sentence.split(" ")
            while begin < len(words):
                end = begin + 1
                while end < len(words) and self._fits(" ".join(words[begin : end + 1])):
                    end += 1
                parts.append(" ".join(words[begin:end]))
                begin = end
        return parts

    def _fits(self, text: str) -> bool:
        limit = self.max_source_length
        return limit is None or len(self.source_tokenizer.encode(text)) <= limit

    def _translate_parts(self, texts: Sequence[str], progress: bool) -> list[str]:
        encoded = [self._encode(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda index: len(encoded[index]))
        results = [""] * len(texts)
        batches = range(0, len(order), self.batch_size)
        for begin in tqdm(batches, "translating", unit="batch", disable=not progress):
            indices = order[begin : begin + self.batch_size]
            for index, ids in zip(
                indices, self._search([encoded[i] for i in indices]), strict=True
            ):
                results[index] = self._text(ids, texts[index])
        return results

    def _encode(self, text: str) -> list[int]:
        ids = self.source_tokenizer.encode_sentence(text)
        if self.max_source_length is None or len(ids) <= self.max_source_length + 2:
            return ids
        # A single word that is longer than any sentence: keep what the model can take.
        return [*ids[: self.max_source_length + 1], ids[-1]]

    def _text(self, ids: Sequence[int], source: str) -> str:
        # A model may spell a line break in bytes; a translation is always one line.
        text = normalize_text(self.target_tokenizer.decode(ids))
        return self.target_tokenizer.restore(text, source) if self.restore else text

    def _search(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Greedy translations of one batch of source ids."""
        lengths = np.array([len(source) for source in sources])
        source = pad(sources, _round_up(lengths.max()))
        encoded = self.model.encode(source)
        source_mask = padding_mask(source)

        def step(target: np.ndarray) -> np.ndarray:
            length = target.shape[1]
            prefix = pad(target, _round_up(length))  # the causal mask hides what is to come
            logits = self.model.decode(prefix, encoded, source_mask, position=length - 1)
            return ops.convert_to_numpy(logits)[:, 0]

        max_lengths = np.minimum(2 * lengths + 10, self.max_length)
        tokenizer = self.target_tokenizer
        return greedy_search(step, max_lengths, tokenizer.start_id, tokenizer.end_id)

    def attend(self, text: str) -> Attention:
        """Translates a sentence and keeps the attention scores.

        The scores are those of one pass over the finished translation; a causal decoder sees in
        it just what it saw step by step.

        Args:
            text: A sentence.

        Raises:
            TransformerTFError: If the text is empty or too long to be taken as one.
        """
        text = normalize_text(text)
        if not text:
            raise TransformerTFError("There is no attention to show for an empty sentence")
        if not self._fits(text):
            raise TransformerTFError(
                f"Attention is shown for one sentence of at most {self.max_source_length} sub-words"
            )
        source_ids = self._encode(text)
        target_ids = self._search([source_ids])[0]
        tokenizer = self.target_tokenizer
        target_input = [tokenizer.start_id, *target_ids]
        _, scores = self.model(
            {"source": np.array([source_ids]), "target_input": np.array([target_input])},
            return_attention_scores=True,
        )
        return Attention(
            source=text,
            translation=self._text(target_ids, text),
            source_tokens=_labels(self.source_tokenizer, source_ids),
            target_input_tokens=_labels(tokenizer, target_input),
            target_output_tokens=_labels(tokenizer, [*target_ids, tokenizer.end_id]),
            scores={
                kind: np.stack([ops.convert_to_numpy(layer)[0] for layer in scores[kind]])
                for kind in ATTENTION_KINDS
            },
        )


def _labels(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    """Labels of sub-words as a reader expects them: no mark where a word begins."""
    return [token.removeprefix("▁") or "▁" for token in tokenizer.tokens(ids)]


def _round_up(length: int) -> int:
    return -(-int(length) // PREFIX_STEP) * PREFIX_STEP

"""Exports a translator as a TensorFlow SavedModel, from text to text, without this package.

The graph contains normalization, sub-words (TensorFlow Text), the encoder, the search and the
conversion back to text. Loading it needs only `tensorflow` and `tensorflow_text`.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.config import DecodingConfig, save_config
from transformer_tf.config.schema import MAX_EXTRA_LENGTH, MAX_LENGTH_RATIO
from transformer_tf.decoding.keras_engine import greedy_search
from transformer_tf.errors import TransformerTFError
from transformer_tf.export.folders import check_place, new_folder, without_folders
from transformer_tf.text.normalization import normalize_text
from transformer_tf.text.segments import MIN_CAPITAL_WORDS
from transformer_tf.text.tokenization.tokenizer import OPENING_MARKS, Tokenizer
from transformer_tf.transformer import Transformer
from transformer_tf.utils.startup import quiet_stderr

try:
    import tensorflow_text
except ImportError as error:
    raise TransformerTFError(
        "A SavedModel of text needs TensorFlow Text, which has no package for Windows; elsewhere: "
        "python -m pip install tensorflow-text"
    ) from error

SETTINGS_FILE = "assets.extra/config.yaml"  # TensorFlow reserves this folder for other programs
Tensors = dict[str, tf.Tensor]


def export_saved_model(folder: Path, output: Path) -> None:
    """Writes a checkpoint as a SavedModel with greedy search.

    Args:
        folder: The checkpoint.
        output: The new folder.

    Raises:
        CheckpointError: If the checkpoint cannot be read or the folder cannot be written.
        TransformerTFError: If the backend is not TensorFlow.
    """
    if keras.backend.backend() != "tensorflow":
        raise TransformerTFError(
            "The SavedModel export needs the TensorFlow backend: unset KERAS_BACKEND, "
            f"which is {keras.backend.backend()}"
        )
    check_place(output)
    config, model, source, target = load_checkpoint(folder)
    with quiet_stderr():  # SentencePiece warns about models without normalization
        module = TranslationModule(model, source, target, config.decoding, config.data.max_length)
    with new_folder(output, others=(tf.errors.OpError,)) as partial:
        tf.saved_model.save(
            module,
            str(partial),
            signatures={"serving_default": module.translate, "attend": module.attend},
        )
        (partial / SETTINGS_FILE).parent.mkdir()
        save_config(without_folders(config), partial / SETTINGS_FILE)


class TranslationModule(tf.Module):
    """Translates strings in a TensorFlow graph.

    Args:
        model: The model.
        source: The source tokenizer.
        target: The target tokenizer.
        options: The options of the search: `max_length`.
        max_source_length: Maximum number of sub-words; a longer sentence is truncated.
    """

    def __init__(
        self,
        model: Transformer,
        source: Tokenizer,
        target: Tokenizer,
        options: DecodingConfig,
        max_source_length: int,
    ):
        super().__init__()
        self._weights = [variable.value for variable in model.variables]  # tracked, to be saved
        self._model = lambda: model  # which TensorFlow must not track
        self._source = SubWords(source)
        self._target = SubWords(target)
        self._max_length = options.max_length
        self._max_source_length = max_source_length

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")], autograph=False)
    def translate(self, text: tf.Tensor) -> Tensors:
        """Translates a batch of any size.

        Args:
            text: String tensor `(batch,)`, UTF-8.

        Returns:
            `text`: the translations, `(batch,)`; `score`: their log-probabilities, `(batch,)`;
            `truncated`: whether a sentence was too long and was truncated, `(batch,)`.
        """
        inputs = self._tokenize(text)
        ids, score = self._search(inputs["source"])
        return {
            "text": self._detokenize(ids, inputs),
            "score": tf.where(inputs["empty"], 0.0, score),
            "truncated": inputs["truncated"],
        }

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")], autograph=False)
    def attend(self, text: tf.Tensor) -> Tensors:
        """Translates and returns the attention scores.

        Args:
            text: As in `translate`.

        Returns:
            `text` and `truncated` as in `translate`; `source_tokens` `(batch, source_len)` and
            `target_tokens` `(batch, target_len)`: the tokens with start and end, "" after the end;
            and the scores `encoder`, `decoder` and `cross`,
            `(batch, num_layers, num_heads, query_len, key_len)`. Query t of `decoder` and `cross`
            produced token t + 1 of `target_tokens`; token 0 is the start token.
        """
        inputs = self._tokenize(text)
        ids, _ = self._search(inputs["source"])
        target = self._target.sentence(ids)
        target_input = target[:, :-1].to_tensor(default_value=self._target.pad_id)
        source = inputs["source"].to_tensor(default_value=self._source.pad_id)
        _, scores = self._model()(
            {"source": source, "target_input": target_input}, return_attention_scores=True
        )
        return {
            "text": self._detokenize(ids, inputs),
            "truncated": inputs["truncated"],
            "source_tokens": self._source.tokens(inputs["source"]),
            "target_tokens": self._target.tokens(target),
            **{kind: tf.stack(layers, axis=1, name=kind) for kind, layers in scores.items()},
        }

    def _tokenize(self, text: tf.Tensor) -> dict[str, Any]:
        """Returns the ids of sentences, and flags: truncated, all_caps and empty."""
        text = _normalized(text)
        all_caps = _is_all_caps(text)
        text = tf.where(all_caps, _capitalized(text), text)
        pieces = self._source.encode(text)
        limit = self._max_source_length
        return {
            "source": self._source.sentence(pieces[:, :limit]),
            "truncated": pieces.row_lengths() > limit,
            "all_caps": all_caps,
            "empty": tf.strings.length(text) == 0,
        }

    def _search(self, source: tf.RaggedTensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
        """Returns the ids of the translations, without start and end, and their scores."""
        batch_size = source.nrows()
        # The loop needs a sentence, so an empty batch gets one of padding.
        missing = tf.cast(tf.equal(batch_size, 0), tf.int32)
        source = tf.concat([source, tf.fill([missing, 1], self._source.pad_id)], axis=0)
        limit = MAX_LENGTH_RATIO * tf.cast(source.row_lengths(), tf.int32) + MAX_EXTRA_LENGTH
        limit = tf.minimum(limit, self._max_length)
        found = greedy_search(
            self._model(),
            self._target.start_id,
            self._target.end_id,
            source.to_tensor(default_value=self._source.pad_id),
            limit,
            tf.reduce_max(limit),
        )
        ids, log_probs = (
            tf.RaggedTensor.from_tensor(found[name], found["length"])[:batch_size]
            for name in ("tokens", "log_probs")
        )
        ids = tf.ragged.boolean_mask(ids, ids != self._target.end_id)
        return ids, tf.reduce_sum(log_probs, axis=1)

    def _detokenize(self, ids: tf.RaggedTensor, inputs: Mapping[str, tf.Tensor]) -> tf.Tensor:
        """Returns the text of translations, in capitals for sentences in capitals."""
        text = tf.strings.regex_replace(self._target.decode(ids), "\N{REPLACEMENT CHARACTER}", "")
        text = _normalized(text)
        text = tf.where(inputs["all_caps"], tf.strings.upper(text, encoding="utf-8"), text)
        return tf.where(inputs["empty"], "", text)


class SubWords(tf.Module):
    """A `Tokenizer` as a TensorFlow graph.

    Args:
        tokenizer: The tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer):
        super().__init__()
        # The name of its resource is global in the process, so each model needs its own.
        name = f"sentencepiece_{hashlib.sha256(tokenizer.content).hexdigest()[:16]}"
        self._model = tensorflow_text.SentencepieceTokenizer(tokenizer.content, name=name)
        self._lowercase = tokenizer.lowercase
        self._space_after_opening_marks = tokenizer.space_after_opening_marks
        self.pad_id, self.unk_id = tokenizer.pad_id, tokenizer.unk_id
        self.start_id, self.end_id = tokenizer.start_id, tokenizer.end_id

    def encode(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of normalized texts, without start and end."""
        if self._lowercase:
            text = tf.strings.regex_replace(text, r"\p{Nd}", "0")  # digits of any script
            text = tf.strings.lower(text, encoding="utf-8")
        index = self._model.tokenize(text)
        # SentencePiece's index of unknown pieces is 0, which is the padding id here.
        return index.with_flat_values(
            tf.where(index.flat_values == 0, self.unk_id, index.flat_values)
        )

    def sentence(self, ids: tf.RaggedTensor) -> tf.RaggedTensor:
        """Adds start and end."""
        ones = tf.ones([ids.nrows(), 1], ids.dtype)
        return tf.concat([ones * self.start_id, ids, ones * self.end_id], axis=1)

    def decode(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Converts ids to text, without padding, start and end."""
        ids = tf.ragged.boolean_mask(ids, (ids != self.pad_id) & (ids < self.start_id))
        values = ids.flat_values
        return self._model.detokenize(
            ids.with_flat_values(tf.where(values == self.unk_id, 0, values))
        )

    def tokens(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Returns a label for each id, as `Tokenizer.tokens` does, and "" after the last one."""
        values = ids.flat_values
        known = tf.clip_by_value(values, 0, self.start_id - 1)
        labels = self._model.id_to_string(known)
        for index, name in (
            (self.unk_id, "<unk>"),
            (self.start_id, "<start>"),
            (self.end_id, "<end>"),
        ):
            labels = tf.where(values == index, name, labels)
        labels = ids.with_flat_values(labels).to_tensor(default_value="")
        if not self._space_after_opening_marks:
            return labels
        before = tf.pad(labels[:, :-1], [[0, 0], [1, 0]], constant_values="")
        joins = tf.strings.regex_full_match(before, f".*[{OPENING_MARKS}]")
        return tf.where(joins, tf.strings.regex_replace(labels, "^▁", ""), labels)


def _normalized(text: tf.Tensor) -> tf.Tensor:
    """Computes `normalize_text` in a graph."""
    text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="ignore")
    text = tf.strings.regex_replace(text, "▁", "_")
    text = tf.strings.regex_replace(text, _class_of(_is_removed), "")
    text = tensorflow_text.normalize_utf8(text, "NFC")
    text = tf.strings.regex_replace(text, _class_of(str.isspace) + "+", " ")
    text = tf.strings.regex_replace(text, r"^[\x{200C}\x{200D} ]+$", "")
    return tf.strings.strip(text)


@functools.lru_cache
def _class_of(belongs: Callable[[str], bool]) -> str:
    """Returns a regular expression for the characters for which `belongs` is true."""
    codes = [code for code in range(sys.maxunicode + 1) if belongs(chr(code))]
    codes = [code for code in codes if not 0xD800 <= code < 0xE000]  # surrogates, invalid in UTF-8
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "[" + "".join(f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in ranges) + "]"


def _is_removed(character: str) -> bool:
    """Returns whether normalization removes a character."""
    return normalize_text(f"a{character}b") == "ab"


def _is_all_caps(text: tf.Tensor) -> tf.Tensor:
    """Computes `is_all_caps` in a graph."""
    marked = tf.strings.regex_replace(text, r"[^ ]*\p{L}[^ ]*", "w")  # a "w" for each word
    words = tf.strings.length(tf.strings.regex_replace(marked, "[^w]", ""))
    letters = tf.strings.length(tf.strings.regex_replace(text, r"\P{L}", ""), unit="UTF8_CHAR")
    others = tf.strings.regex_full_match(text, r"(?s).*[\p{Ll}\p{Lt}\p{Lo}\p{Lm}].*")
    exclaimed = tf.strings.regex_full_match(text, r"(?s).*[!?]")
    return (letters > 1) & ((words >= MIN_CAPITAL_WORDS) | exclaimed) & ~others


def _capitalized(text: tf.Tensor) -> tf.Tensor:
    first = tf.strings.regex_replace(text, "(?s)^(.).*$", r"\1")
    rest = tf.strings.regex_replace(text, "(?s)^.", "", replace_global=False)
    return tf.strings.join([first, tf.strings.lower(rest, encoding="utf-8")])

"""A translator as a TensorFlow SavedModel: text in, text out, nothing of this package needed.

Everything is in the graph: normalisation, sub-words (TensorFlow Text), the encoder, the search with
its keys and values, and the way back to text. To load one, `tensorflow` and `tensorflow_text` are
enough.
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
from transformer_tf.decoding.beam import BeamSearch
from transformer_tf.decoding.greedy import GreedySearch
from transformer_tf.decoding.loop import translate_ids
from transformer_tf.decoding.search import IMPOSSIBLE
from transformer_tf.errors import ConfigError, TransformerTFError
from transformer_tf.export.folders import check_place, new_folder, without_folders
from transformer_tf.startup import standard_error_kept_back
from transformer_tf.text.cleaning import normalize_text
from transformer_tf.text.tokenizer import Tokenizer
from transformer_tf.transformer import Transformer
from transformer_tf.translator import SHORTEST_SHOUT

try:
    import tensorflow_text
except ImportError as error:
    raise TransformerTFError(
        "A SavedModel of text needs TensorFlow Text, which has no package for Windows; elsewhere: "
        "python -m pip install tensorflow-text"
    ) from error

MODEL_FILE = "saved_model.pb"
MARK = "assets.extra/config.yaml"  # where TensorFlow leaves room for what others add
LEFT_OUT = (
    "split_sentences", "replace_unknowns", "n_best",
    "alignment", "alignment_layer", "alignment_heads", "alignment_query",
)  # fmt: skip

Tensors = dict[str, tf.Tensor]


def export_saved_model(folder: Path, output: Path, overrides: tuple[str, ...] = ()) -> None:
    """Writes a checkpoint as a SavedModel.

    Args:
        folder: The checkpoint.
        output: The new folder; one that an earlier export wrote is replaced.
        overrides: Strings `decoding.key=value`: how it is to search.

    Raises:
        CheckpointError: If the checkpoint cannot be read, or the folder not be written.
        ConfigError: If it is to draw at random, or to do what a SavedModel does without.
        TransformerTFError: If the back end is not TensorFlow.
    """
    if keras.backend.backend() != "tensorflow":
        raise TransformerTFError(
            "A SavedModel is made under TensorFlow: unset KERAS_BACKEND, "
            f"which is {keras.backend.backend()}"
        )
    check_place(output, MODEL_FILE, MARK)
    for override in overrides:
        key = override.partition("=")[0].strip()
        if key.removeprefix("decoding.") in LEFT_OUT:
            raise ConfigError(f"{key} is for the checkpoint itself: a SavedModel does without it")
    config, model, source, target = load_checkpoint(folder, overrides)
    if config.decoding.temperature:
        raise ConfigError("A SavedModel does not draw at random: set decoding.temperature=0")
    with standard_error_kept_back():  # SentencePiece tells that a model does not normalise
        module = TranslationModule(model, source, target, config.decoding, config.data.max_length)
    with new_folder(output, others=(tf.errors.OpError,)) as partial:
        tf.saved_model.save(
            module,
            str(partial),
            signatures={"serving_default": module.translate, "attend": module.attend},
        )
        (partial / MARK).parent.mkdir()
        save_config(without_folders(config), partial / MARK)


class TranslationModule(tf.Module):
    """Translates strings within a TensorFlow graph.

    Args:
        model: The model.
        source: Cuts the source sentences.
        target: Puts the translations together.
        options: How to search. Draws, unknowns and what a truecaser restores stay outside.
        max_source_length: Most sub-words of a sentence; the rest of a longer one is cut off.
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
        self._weights = [variable.value for variable in model.variables]  # to be saved with it
        self._model = _Untracked(model)
        self._source = SubWords(source)
        self._target = SubWords(target)
        self._options = options
        self._max_source_length = max_source_length
        kind = GreedySearch if options.beam_size == 1 else BeamSearch
        self._search = _Untracked(kind(options, target.end_id, compiled=False))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")], autograph=False)
    def translate(self, text: tf.Tensor) -> Tensors:
        """Translates a batch of sentences of any number.

        Args:
            text: String tensor `(batch,)`, UTF-8.

        Returns:
            `text`: the translations, `(batch,)`; `score`: what they were ranked by, `(batch,)`,
            with greedy search 0 unless `decoding.scores` is set; `truncated`: whether a sentence
            was too long and lost its end, `(batch,)`.
        """
        read = self._read(text)
        ids, score = self._find(read["source"])
        return {
            "text": self._write(ids, read),
            "score": tf.where(read["empty"], 0.0, score),
            "truncated": read["truncated"],
        }

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")], autograph=False)
    def attend(self, text: tf.Tensor) -> Tensors:
        """Translates and tells where the model looked.

        Args:
            text: As in `translate`.

        Returns:
            `text` and `truncated` as in `translate`; `source_tokens` `(batch, source_len)` and
            `target_tokens` `(batch, target_len)`: what was read and what was said, start and end
            included, "" behind the end; and the scores `encoder`, `decoder` and `cross`,
            `(batch, num_layers, num_heads, query_len, key_len)`. The query of a target token is
            the one that said it: the first one belongs to the second of `target_tokens`, which
            begin with the start token.
        """
        read = self._read(text)
        ids, _ = self._find(read["source"])
        said = self._target.sentence(ids)
        target_input = said[:, :-1].to_tensor(default_value=self._target.pad_id)
        source = read["source"].to_tensor(default_value=self._source.pad_id)
        _, scores = self._model.get(
            {"source": source, "target_input": target_input}, return_attention_scores=True
        )
        return {
            "text": self._write(ids, read),
            "truncated": read["truncated"],
            "source_tokens": self._source.tokens(read["source"]),
            "target_tokens": self._target.tokens(said),
            **{kind: tf.stack(layers, axis=1, name=kind) for kind, layers in scores.items()},
        }

    def _read(self, text: tf.Tensor) -> dict[str, Any]:
        """The ids of sentences, and what is to be remembered of their spelling."""
        text = _normalized(text)
        shouted = tf.zeros_like(text, tf.bool)
        if self._options.recase:
            shouted = _shouted(text)
            text = tf.where(shouted, _capitalized(text), text)
        pieces = self._source.encode(text)
        limit = self._max_source_length
        return {
            "source": self._source.sentence(pieces[:, :limit]),
            "truncated": pieces.row_lengths() > limit,
            "shouted": shouted,
            "empty": tf.strings.length(text) == 0,
        }

    def _find(self, source: tf.RaggedTensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
        """The ids of the best translations, without start and end, and their scores."""
        options = self._options
        lengths = tf.cast(source.row_lengths(), tf.int32)
        limit = tf.minimum(
            options.max_length,
            tf.cast(options.max_length_ratio * tf.cast(lengths, tf.float32), tf.int32) + 10,
        )
        order = tf.argsort(lengths, direction="DESCENDING", stable=True)
        padded = source.to_tensor(default_value=self._source.pad_id)
        # A batch of none has one row all the same, which nobody sees.
        missing = tf.cast(tf.equal(tf.shape(padded)[0], 0), tf.int32)
        rows = tf.pad(tf.gather(padded, order), [[0, missing], [0, missing]])
        limit = tf.pad(tf.gather(limit, order), [[0, missing]], constant_values=1)
        count = tf.shape(rows)[0]
        found = translate_ids(
            self._model.get,
            self._search.get,
            self._target.start_id,
            source=rows,
            limit=limit,
            seed=tf.zeros_like(limit),
            count=count,
            batch_size=tf.minimum(count, options.batch_size),
            max_length=tf.reduce_max(limit),
        )
        found = {name: tf.convert_to_tensor(values)[:count] for name, values in found.items()}
        ids, length, score = (
            _best_of_beam(found, options.length_penalty)
            if options.beam_size > 1
            else _greedy(found)
        )
        back = tf.argsort(order)
        ragged = tf.RaggedTensor.from_tensor(ids, length)
        return tf.gather(ragged, back), tf.gather(score, back)

    def _write(self, ids: tf.RaggedTensor, read: Mapping[str, tf.Tensor]) -> tf.Tensor:
        text = _normalized(self._target.decode(ids))
        text = tf.where(read["shouted"], tf.strings.upper(text, encoding="utf-8"), text)
        return tf.where(read["empty"], "", text)


class SubWords(tf.Module):
    """A `Tokenizer` in a TensorFlow graph.

    Args:
        tokenizer: The tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer):
        super().__init__()
        # Its resource is known by this name in the whole process: another model needs another one.
        name = f"sentencepiece_{hashlib.sha256(tokenizer.content).hexdigest()[:16]}"
        self._model = tensorflow_text.SentencepieceTokenizer(tokenizer.content, name=name)
        self._lowercase = tokenizer.lowercase
        self.pad_id, self.unk_id = tokenizer.pad_id, tokenizer.unk_id
        self.start_id, self.end_id = tokenizer.start_id, tokenizer.end_id

    def encode(self, text: tf.Tensor) -> tf.RaggedTensor:
        """The ids of normalised texts, without start and end."""
        if self._lowercase:
            text = tf.strings.regex_replace(text, r"\p{Nd}", "0")  # digits of any script
            text = tf.strings.lower(text, encoding="utf-8")
        index = self._model.tokenize(text)
        # The model's index of unknown pieces is 0, the id of padding here.
        return index.with_flat_values(
            tf.where(index.flat_values == 0, self.unk_id, index.flat_values)
        )

    def sentence(self, ids: tf.RaggedTensor) -> tf.RaggedTensor:
        """With start and end."""
        ones = tf.ones([ids.nrows(), 1], ids.dtype)
        return tf.concat([ones * self.start_id, ids, ones * self.end_id], axis=1)

    def decode(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """The text of ids; padding, start and end have none."""
        ids = tf.ragged.boolean_mask(ids, (ids != self.pad_id) & (ids < self.start_id))
        values = ids.flat_values
        return self._model.detokenize(
            ids.with_flat_values(tf.where(values == self.unk_id, 0, values))
        )

    def tokens(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """A label for each id, as `Tokenizer.tokens`; "" behind the last."""
        values = ids.flat_values
        known = tf.clip_by_value(values, 0, self.start_id - 1)
        labels = self._model.id_to_string(known)
        for index, name in (
            (self.unk_id, "<unk>"),
            (self.start_id, "<start>"),
            (self.end_id, "<end>"),
        ):
            labels = tf.where(values == index, name, labels)
        return ids.with_flat_values(labels).to_tensor(default_value="")


class _Untracked:
    """What a module uses but does not save: TensorFlow looks into attributes of other kinds."""

    def __init__(self, value: Any):
        self.get = value


def _normalized(text: tf.Tensor) -> tf.Tensor:
    """`normalize_text` as a graph."""
    text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="ignore")
    text = tf.strings.regex_replace(text, _class_of(_is_no_text), "")
    text = tensorflow_text.normalize_utf8(text, "NFC")
    text = tf.strings.regex_replace(text, _class_of(str.isspace) + "+", " ")
    text = tf.strings.regex_replace(text, r"^[\x{200C}\x{200D} ]+$", "")
    return tf.strings.strip(text)


@functools.lru_cache
def _class_of(belongs: Callable[[str], bool]) -> str:
    """A character class of a regular expression: exactly those for which Python says so."""
    codes = [code for code in range(sys.maxunicode + 1) if belongs(chr(code))]
    codes = [code for code in codes if not 0xD800 <= code < 0xE000]  # no UTF-8 has these
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "[" + "".join(f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in ranges) + "]"


def _is_no_text(character: str) -> bool:
    """Whether normalisation takes a character out."""
    return normalize_text(f"a{character}b") == "ab"


def _shouted(text: tf.Tensor) -> tf.Tensor:
    letters = tf.strings.length(tf.strings.regex_replace(text, r"\P{L}", ""), unit="UTF8_CHAR")
    others = tf.strings.regex_full_match(text, r"(?s).*[\p{Ll}\p{Lt}\p{Lo}\p{Lm}].*")
    return (letters >= SHORTEST_SHOUT) & ~others


def _capitalized(text: tf.Tensor) -> tf.Tensor:
    first = tf.strings.regex_replace(text, "(?s)^(.).*$", r"\1")
    rest = tf.strings.regex_replace(text, "(?s)^.", "", replace_global=False)
    return tf.strings.join([first, tf.strings.lower(rest, encoding="utf-8")])


def _greedy(found: Tensors) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    ids, length = found["ids"][:, 0], found["length"]
    if "log_probs" not in found:
        return ids, length, tf.zeros_like(length, tf.float32)
    counted = length + tf.cast(found["ended"], tf.int32)
    mask = tf.sequence_mask(counted, tf.shape(ids)[1])
    return ids, length, tf.reduce_sum(tf.where(mask, found["log_probs"][:, 0], 0.0), axis=1)


def _best_of_beam(found: Tensors, length_penalty: float) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """As the first of `BeamSearch.hypotheses`, for all sentences at once."""
    closed = found["closed"][:, 0] > IMPOSSIBLE / 2
    penalty = ((5.0 + tf.cast(found["length"], tf.float32)) / 6.0) ** length_penalty
    score = tf.where(closed, found["closed"][:, 0], found["scores"][:, 0] / penalty)
    length = tf.where(closed, found["closed_length"][:, 0], found["length"])
    beam = tf.where(closed, found["closed_parent"][:, 0], 0)
    slots = tf.shape(found["tokens"])[2]

    def step_back(carry, position):
        _, beam = carry
        here = tf.stack([beam, tf.fill(tf.shape(beam), position)], axis=1)
        token = tf.gather_nd(found["tokens"], here, batch_dims=1)
        parent = tf.gather_nd(found["parents"], here, batch_dims=1)
        return token, tf.where(position < length, parent, beam)

    tokens, _ = tf.scan(
        step_back, tf.range(slots - 1, -1, -1), initializer=(tf.zeros_like(beam), beam)
    )
    return tf.reverse(tf.transpose(tokens), axis=[1]), length, score

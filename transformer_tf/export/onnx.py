"""Exports a checkpoint as two ONNX graphs: the encoder, and one step of the decoder.

Keras's exporter writes them. The search is left to the caller: `examples/translate_onnx.py` has a
greedy search in NumPy.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import keras
from keras import ops

from transformer_tf.checkpoint import load_checkpoint, save_checkpoint
from transformer_tf.config import Config
from transformer_tf.config.schema import MAX_EXTRA_LENGTH, MAX_LENGTH_RATIO
from transformer_tf.errors import TransformerTFError
from transformer_tf.export.folders import check_place, new_folder, without_folders
from transformer_tf.layers import padding_mask
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.transformer import Transformer

try:
    import tf2onnx  # noqa: F401 Keras's exporter needs it
except ImportError as error:
    raise TransformerTFError(
        "tf2onnx is not installed; install it with: python -m pip install tf2onnx onnx"
    ) from error

ENCODER_FILE, STEP_FILE, SETTINGS_FILE = "encoder.onnx", "step.onnx", "translator.json"


def export_onnx(folder: Path, output: Path) -> None:
    """Writes a checkpoint as a folder for an ONNX runtime.

    The folder holds `encoder.onnx` and `step.onnx` (`EncoderGraph`, `StepGraph`), the
    configuration and the tokenizers of the checkpoint, and `translator.json` with the sizes, ids
    and limits that a search needs.

    Args:
        folder: The checkpoint.
        output: The new folder.

    Raises:
        CheckpointError: If the checkpoint cannot be read or the folder cannot be written.
        TransformerTFError: If the backend is not TensorFlow.
    """
    if keras.backend.backend() != "tensorflow":
        raise TransformerTFError(
            "The ONNX export needs the TensorFlow backend: unset KERAS_BACKEND, "
            f"which is {keras.backend.backend()}"
        )
    check_place(output)
    config, model, source, target = load_checkpoint(folder)
    with new_folder(output) as partial:
        save_checkpoint(partial, without_folders(config), source, target)
        for graph, name in (EncoderGraph(model), ENCODER_FILE), (StepGraph(model), STEP_FILE):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the converter uses deprecated NumPy names
                graph.export(
                    partial / name, format="onnx", verbose=False, input_signature=graph.signature()
                )
        (partial / SETTINGS_FILE).write_text(json.dumps(_settings(config, model, source, target)))


def _settings(config: Config, model: Transformer, source: Tokenizer, target: Tokenizer) -> dict:
    return {
        "num_layers": model.num_layers,
        "num_decoder_layers": model.num_decoder_layers,
        "num_heads": model.num_heads,
        "head_dim": model.d_model // model.num_heads,
        "pad_id": target.pad_id,
        "unk_id": target.unk_id,
        "source_start_id": source.start_id,
        "source_end_id": source.end_id,
        "start_id": target.start_id,
        "end_id": target.end_id,
        "lowercase": source.lowercase,
        "max_source_length": config.data.max_length,
        "max_length": config.decoding.max_length,
        "max_length_ratio": MAX_LENGTH_RATIO,
        "max_extra_length": MAX_EXTRA_LENGTH,
    }


class _Graph(keras.Model):
    """A model to export, which calls a Transformer that is already built."""

    def __init__(self, model: Transformer):
        super().__init__()
        self.model = model
        self.built = True
        heads, head_dim = model.num_heads, model.d_model // model.num_heads
        # Keys and values of all decoder layers:
        # (num_decoder_layers, 2, batch, heads, length, head_dim)
        self.cache_shape = (model.num_decoder_layers, 2, None, heads, None, head_dim)


class EncoderGraph(_Graph):
    """Encodes the source and computes the keys and values of cross-attention.

    Call arguments:
        inputs: Dictionary of `"source"`, an `int32` tensor `(batch, source_len)`.

    Returns:
        Dictionary of `"cross_attention_cache"`, a tensor
        `(num_decoder_layers, 2, batch, num_heads, source_len, head_dim)`.
    """

    def signature(self):
        """Returns the names, shapes and types of the inputs."""
        return [{"source": keras.InputSpec(shape=(None, None), dtype="int32", name="source")}]

    def call(self, inputs):
        return {
            "cross_attention_cache": _stack(
                self.model.encode_for_search(inputs["source"])["layers"]
            )
        }


class StepGraph(_Graph):
    """Computes the logits of the next token of each sentence.

    Call arguments:
        inputs: Dictionary with
            `"token"`: `int32` tensor `(batch, 1)`, the newest token;
            `"past"`: tensor `(num_decoder_layers, 2, batch, num_heads, time, head_dim)`, the
                `"present"` of the last step; before the first step its time axis is empty;
            `"cross_attention_cache"`: the output of the encoder graph for `"source"`;
            `"source"`: the source ids, whose padding is masked.

    Returns:
        Dictionary: `"logits"` `(batch, vocab_size)`, and `"present"`
        `(num_decoder_layers, 2, batch, num_heads, time + 1, head_dim)`.
    """

    def signature(self):
        """Returns the names, shapes and types of the inputs."""
        return [
            {
                "token": keras.InputSpec(shape=(None, 1), dtype="int32", name="token"),
                "past": keras.InputSpec(shape=self.cache_shape, dtype="float32", name="past"),
                "cross_attention_cache": keras.InputSpec(
                    shape=self.cache_shape, dtype="float32", name="cross_attention_cache"
                ),
                "source": keras.InputSpec(shape=(None, None), dtype="int32", name="source"),
            }
        ]

    def call(self, inputs):
        past = inputs["past"]
        table = self.model.target_embedding.position_table(ops.shape(past)[4] + 1)
        cross_attention_cache = {
            "layers": _unstack(inputs["cross_attention_cache"]),
            "mask": padding_mask(inputs["source"], self.model.pad_id),
        }
        logits, cache = self.model.step(
            inputs["token"],
            table[None, -1:],
            cross_attention_cache,
            _unstack(past),
            cache_index=None,
        )
        return {"logits": logits, "present": _stack(cache)}


def _stack(layers):
    return ops.stack([ops.stack([layer["key"], layer["value"]]) for layer in layers])


def _unstack(tensor):
    return [{"key": layer[0], "value": layer[1]} for layer in ops.unstack(tensor)]

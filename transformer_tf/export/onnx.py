"""A checkpoint as two ONNX graphs: the encoder, and one step of the decoder.

Keras's own exporter writes them. The search between the steps is the caller's, as is usual with
ONNX: `examples/translate_onnx.py` is one, in NumPy.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import keras
from keras import ops

from transformer_tf.checkpoint import CONFIG_FILE, load_checkpoint, save_checkpoint
from transformer_tf.config import Config
from transformer_tf.errors import TransformerTFError
from transformer_tf.export.folders import check_place, new_folder, without_folders
from transformer_tf.layers import padding_mask
from transformer_tf.text.tokenizer import Tokenizer
from transformer_tf.transformer import Transformer

try:
    import tf2onnx  # noqa: F401 what Keras converts with
except ImportError as error:
    raise TransformerTFError(
        "tf2onnx is not installed; install it with: python -m pip install tf2onnx onnx"
    ) from error

ENCODER_FILE, STEP_FILE, SETTINGS_FILE = "encoder.onnx", "step.onnx", "translator.json"


def export_onnx(folder: Path, output: Path) -> None:
    """Writes a checkpoint as a folder for an ONNX runtime.

    It holds `encoder.onnx` and `step.onnx` (`EncoderGraph`, `StepGraph`), the configuration and
    the tokenizers of the checkpoint, and `translator.json` with what a search must know.

    Args:
        folder: The checkpoint.
        output: The new folder; one that an earlier export wrote is replaced.

    Raises:
        CheckpointError: If the checkpoint cannot be read, or the folder not be written.
        TransformerTFError: If the back end is not TensorFlow.
    """
    if keras.backend.backend() != "tensorflow":
        raise TransformerTFError(
            "ONNX graphs are made under TensorFlow: unset KERAS_BACKEND, "
            f"which is {keras.backend.backend()}"
        )
    check_place(output, STEP_FILE, SETTINGS_FILE, CONFIG_FILE)
    config, model, source, target = load_checkpoint(folder, ("decoding.precision=float32",))
    with new_folder(output) as partial:
        save_checkpoint(partial, without_folders(config), source, target)
        for graph, name in (EncoderGraph(model), ENCODER_FILE), (StepGraph(model), STEP_FILE):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the converter, about NumPy
                graph.export(
                    partial / name, format="onnx", verbose=False, input_signature=graph.signature()
                )
        (partial / SETTINGS_FILE).write_text(json.dumps(_settings(config, model, source, target)))


def _settings(config: Config, model: Transformer, source: Tokenizer, target: Tokenizer) -> dict:
    return {
        "num_layers": model.num_layers,
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
        "max_length_ratio": config.decoding.max_length_ratio,
    }


class _Graph(keras.Model):
    """What is exported: it only calls the model, whose weights are there already."""

    def __init__(self, model: Transformer):
        super().__init__()
        self.model = model
        self.built = True
        heads, head_dim = model.num_heads, model.d_model // model.num_heads
        # Keys and values of all layers, (layers, 2, batch, heads, length, head_dim).
        self.cache_shape = (model.num_layers, 2, None, heads, None, head_dim)


class EncoderGraph(_Graph):
    """Reads sentences.

    Call arguments:
        inputs: Dictionary of `"source"`, an `int32` tensor `(batch, source_len)`.

    Returns:
        Dictionary of `"memory"`, the keys and values of the decoder's cross-attention,
        `(num_layers, 2, batch, num_heads, source_len, head_dim)`.
    """

    def signature(self):
        """Names, shapes and types of the inputs."""
        return [{"source": keras.InputSpec(shape=(None, None), dtype="int32", name="source")}]

    def call(self, inputs):
        return {"memory": _stack(self.model.read(inputs["source"])["layers"])}


class StepGraph(_Graph):
    """Scores the token after the newest one of each sentence.

    Call arguments:
        inputs: Dictionary: `"token"`, an `int32` tensor `(batch, 1)`, the newest token; `"past"`,
            `(num_layers, 2, batch, num_heads, time, head_dim)`, of time 0 at first, then the
            `"present"` of the last step; the `"memory"` that the encoder made of `"source"`, and
            `"source"` itself, of which no padding is looked at.

    Returns:
        Dictionary: `"logits"` `(batch, vocab_size)`, and `"present"`
        `(num_layers, 2, batch, num_heads, time + 1, head_dim)`.
    """

    def signature(self):
        """Names, shapes and types of the inputs."""
        return [
            {
                "token": keras.InputSpec(shape=(None, 1), dtype="int32", name="token"),
                "past": keras.InputSpec(shape=self.cache_shape, dtype="float32", name="past"),
                "memory": keras.InputSpec(shape=self.cache_shape, dtype="float32", name="memory"),
                "source": keras.InputSpec(shape=(None, None), dtype="int32", name="source"),
            }
        ]

    def call(self, inputs):
        past = inputs["past"]
        table = self.model.target_embedding.position_table(ops.shape(past)[4] + 1)
        memory = {
            "layers": _unstack(inputs["memory"]),
            "mask": padding_mask(inputs["source"], self.model.pad_id),
        }
        logits, cache, _ = self.model.step(
            inputs["token"], table[None, -1:], memory, _unstack(past), slot=None
        )
        return {"logits": logits[:, 0], "present": _stack(cache)}


def _stack(layers):
    return ops.stack([ops.stack([layer["key"], layer["value"]]) for layer in layers])


def _unstack(tensor):
    return [{"key": layer[0], "value": layer[1]} for layer in ops.unstack(tensor)]

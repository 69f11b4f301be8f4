"""Exports a checkpoint for CTranslate2, an engine in C++.

See https://opennmt.net/CTranslate2.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from transformer_tf.checkpoint import (
    load_checkpoint,
    save_checkpoint,
)
from transformer_tf.export.folders import check_place, new_folder, without_folders
from transformer_tf.hashes import record_hashes
from transformer_tf.text.tokenization.tokenizer import Tokenizer

if TYPE_CHECKING:  # only the export needs these modules, which import PyTorch if installed
    from ctranslate2.specs import common_spec, transformer_spec

    from transformer_tf.transformer import Transformer

# CTranslate2 needs a table of positions; this is its minimum length.
MIN_POSITIONS = 1024


def export_ctranslate2(folder: Path, target: Path, quantization: str | None = None) -> None:
    """Writes a checkpoint as a folder for CTranslate2.

    The folder holds CTranslate2's `model.bin`, `config.json` and vocabularies, and the
    checkpoint's configuration and tokenizers. CTranslate2's own `Translator` translates the
    sub-words of the SentencePiece models with it, `Translator.load(target, engine="ctranslate2")`
    text.

    Args:
        folder: The checkpoint.
        target: The new folder.
        quantization: `int8`, `int16`, `float16` or `bfloat16`; None for float32.

    Raises:
        CheckpointError: If the checkpoint cannot be read or the folder cannot be written.
    """
    check_place(target)
    config, model, source_tokenizer, target_tokenizer = load_checkpoint(folder)
    longest = max(config.data.max_length, config.decoding.max_length) + 2  # start and end
    specification = transformer_specification(
        model, source_tokenizer, target_tokenizer, max(MIN_POSITIONS, longest)
    )
    specification.validate()
    specification.optimize(quantization=quantization)
    with new_folder(target, others=(RuntimeError,)) as partial:
        save_checkpoint(partial, without_folders(config), source_tokenizer, target_tokenizer)
        specification.save(str(partial))
        record_hashes(partial)


def transformer_specification(
    model: Transformer,
    source: Tokenizer,
    target: Tokenizer,
    positions: int = MIN_POSITIONS,
) -> transformer_spec.TransformerSpec:
    """Copies the weights of a model into a CTranslate2 specification.

    Args:
        model: The model.
        source: Its source tokenizer.
        target: Its target tokenizer.
        positions: Length of the table of sinusoidal positions. Learned positions keep theirs.

    Returns:
        A specification to validate, quantize and save.
    """
    from ctranslate2.specs import transformer_spec

    spec = transformer_spec.TransformerSpec.from_config(
        (model.num_layers, model.num_decoder_layers), model.num_heads, pre_norm=model.pre_norm
    )
    _set_embedding(spec.encoder.embeddings[0], model.source_embedding)
    _set_embedding(spec.decoder.embeddings, model.target_embedding)
    spec.encoder.position_encodings.encodings = _positions(model.source_embedding, positions)
    spec.decoder.position_encodings.encodings = _positions(model.target_embedding, positions)
    if model.pre_norm:
        _set_norm(spec.encoder.layer_norm, model.encoder.norm)
        _set_norm(spec.decoder.layer_norm, model.decoder.norm)
    for layer_spec, layer in zip(spec.encoder.layer, model.encoder.layers, strict=True):
        _set_self_attention(layer_spec.self_attention, layer)
        _set_feed_forward(layer_spec.ffn, layer)
    for layer_spec, layer in zip(spec.decoder.layer, model.decoder.layers, strict=True):
        _set_self_attention(layer_spec.self_attention, layer)
        _set_cross_attention(layer_spec.attention, layer)
        _set_feed_forward(layer_spec.ffn, layer)
    kernel, bias = model.projection_weights()
    spec.decoder.projection.weight = _numpy(kernel).T.copy()
    if bias is not None:
        spec.decoder.projection.bias = _numpy(bias)

    spec.register_source_vocabulary(source.vocabulary)
    spec.register_target_vocabulary(target.vocabulary)
    spec.config.unk_token = "<unk>"
    spec.config.bos_token = "<start>"
    spec.config.eos_token = "<end>"
    spec.config.decoder_start_token = "<start>"
    # The model reads start and end as in training; CTranslate2 adds them.
    spec.config.add_source_bos = True
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = model.encoder.layers[0].feed_forward_norm.epsilon
    return spec


def _numpy(tensor) -> np.ndarray:
    from keras import ops

    return np.asarray(ops.convert_to_numpy(tensor), dtype="float32")


def _set_embedding(spec, embedding) -> None:
    spec.weight = _numpy(embedding.embeddings)
    spec.multiply_by_sqrt_depth = True


def _positions(embedding, positions: int) -> np.ndarray:
    if embedding.position == "learned":
        return _numpy(embedding.position_embeddings)
    return _numpy(embedding.position_table(positions))


def _set_norm(spec, norm) -> None:
    spec.gamma, spec.beta = _numpy(norm.gamma), _numpy(norm.beta)


def _linear(dense) -> common_spec.LinearSpec:
    from ctranslate2.specs import common_spec

    spec = common_spec.LinearSpec()
    _set_linear(spec, dense)
    return spec


def _set_linear(spec, dense) -> None:
    spec.weight, spec.bias = _numpy(dense.kernel).T.copy(), _numpy(dense.bias)


def _fuse(spec, projections) -> None:
    from ctranslate2.converters.utils import fuse_linear

    fuse_linear(spec, [_linear(projection) for projection in projections])


def _set_self_attention(spec, layer) -> None:
    attention = layer.self_attention
    projections = attention.query_projection, attention.key_projection, attention.value_projection
    _fuse(spec.linear[0], projections)
    _set_linear(spec.linear[1], attention.output_projection)
    _set_norm(spec.layer_norm, layer.self_attention_norm)


def _set_cross_attention(spec, layer) -> None:
    attention = layer.cross_attention
    _set_linear(spec.linear[0], attention.query_projection)
    projections = attention.key_projection, attention.value_projection
    _fuse(spec.linear[1], projections)
    _set_linear(spec.linear[2], attention.output_projection)
    _set_norm(spec.layer_norm, layer.cross_attention_norm)


def _set_feed_forward(spec, layer) -> None:
    _set_linear(spec.linear_0, layer.feed_forward.hidden)
    _set_linear(spec.linear_1, layer.feed_forward.output_projection)
    _set_norm(spec.layer_norm, layer.feed_forward_norm)

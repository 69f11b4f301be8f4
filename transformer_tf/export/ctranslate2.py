"""A checkpoint as a folder for CTranslate2, the C++ engine (https://opennmt.net/CTranslate2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from transformer_tf.checkpoint import (
    CONFIG_FILE,
    SOURCE_MODEL,
    TARGET_MODEL,
    load_checkpoint,
    save_checkpoint,
)
from transformer_tf.config import DecodingConfig, load_config
from transformer_tf.errors import CheckpointError, ConfigError, TransformerTFError
from transformer_tf.export.folders import check_place, new_folder, without_folders
from transformer_tf.hypothesis import Hypothesis
from transformer_tf.startup import command_line, processors
from transformer_tf.text.tokenizer import Tokenizer
from transformer_tf.translator import Translator

try:
    import ctranslate2
except ImportError as error:
    raise TransformerTFError(
        "CTranslate2 is not installed; install it with: python -m pip install ctranslate2"
    ) from error

if TYPE_CHECKING:  # an export needs them, and they import PyTorch where it is installed
    from ctranslate2.specs import common_spec, transformer_spec

    from transformer_tf.transformer import Transformer

# CTranslate2 wants a table; the sinusoidal positions themselves have no end.
FEWEST_POSITIONS = 1024
MODEL_FILE = "model.bin"


def export_ctranslate2(folder: Path, target: Path, quantization: str | None = None) -> None:
    """Writes a checkpoint as a folder for CTranslate2.

    It holds CTranslate2's `model.bin`, `config.json` and vocabularies, and the configuration and
    the tokenizers of the checkpoint: it is enough by itself, for CTranslate2's own `Translator`
    on sub-words and for `load_translator` on text.

    Args:
        folder: The checkpoint.
        target: The new folder; one that an earlier export wrote is replaced.
        quantization: `int8`, `int16`, `float16` or `bfloat16`; None for float32.

    Raises:
        CheckpointError: If the checkpoint cannot be read, or the folder not be written.
    """
    check_place(target, MODEL_FILE, CONFIG_FILE, SOURCE_MODEL, TARGET_MODEL)
    config, model, source_tokenizer, target_tokenizer = load_checkpoint(folder)
    longest = max(config.data.max_length, config.decoding.max_length) + 2  # start and end
    specification = transformer_specification(
        model, source_tokenizer, target_tokenizer, max(FEWEST_POSITIONS, longest)
    )
    specification.validate()
    specification.optimize(quantization=quantization)
    with new_folder(target, others=(RuntimeError,)) as partial:
        save_checkpoint(partial, without_folders(config), source_tokenizer, target_tokenizer)
        specification.save(str(partial))


def load_translator(folder: Path, overrides: Sequence[str] = ()) -> Translator:
    """A translator that searches with CTranslate2.

    Args:
        folder: What `export_ctranslate2` wrote.
        overrides: Strings `decoding.key=value` that change its settings.

    Raises:
        CheckpointError: If the folder holds no exported model, or a damaged one.
        ConfigError: If an override is not valid, or the settings ask for attention.
    """
    if not (folder / MODEL_FILE).is_file():
        raise CheckpointError(
            f"{folder} is not a model for CTranslate2; make one with: {command_line('export')} "
            "--format ctranslate2 --output DIR"
        )
    try:
        config = load_config(folder / CONFIG_FILE, overrides)
        source = Tokenizer.load(folder / SOURCE_MODEL)
        target = Tokenizer.load(folder / TARGET_MODEL)
        for key in ("alignment", "replace_unknowns"):
            if getattr(config.decoding, key):
                raise ConfigError(
                    f"decoding.{key} needs attention, which CTranslate2 does not tell: use the "
                    "checkpoint itself, or set it to false"
                )
        engine = CTranslate2Engine(folder, source, target)
    except RuntimeError as error:
        raise CheckpointError(f"{folder} is damaged: {' '.join(str(error).split())}") from error
    return Translator(engine, source, target, config.decoding, config.data.max_length)


def transformer_specification(
    model: Transformer,
    source: Tokenizer,
    target: Tokenizer,
    positions: int = FEWEST_POSITIONS,
) -> transformer_spec.TransformerSpec:
    """The weights of a model as CTranslate2 names them.

    Args:
        model: The model.
        source: Its source tokenizer.
        target: Its target tokenizer.
        positions: Length of the table of sinusoidal positions; learned ones have their own.

    Returns:
        A specification that can be validated, quantised and saved.
    """
    from ctranslate2.specs import transformer_spec

    spec = transformer_spec.TransformerSpec.from_config(
        model.num_layers, model.num_heads, pre_norm=model.pre_norm
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

    spec.register_source_vocabulary(source.tokens(range(source.vocab_size)))
    spec.register_target_vocabulary(target.tokens(range(target.vocab_size)))
    spec.config.unk_token = "<unk>"
    spec.config.bos_token = "<start>"
    spec.config.eos_token = "<end>"
    spec.config.decoder_start_token = "<start>"
    # Start and end of the source come with its ids, as in training.
    spec.config.add_source_bos = False
    spec.config.add_source_eos = False
    spec.config.layer_norm_epsilon = model.encoder.layers[0].feed_forward_residual.norm.epsilon
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
    _set_norm(spec.layer_norm, layer.self_attention_residual.norm)


def _set_cross_attention(spec, layer) -> None:
    attention = layer.cross_attention
    _set_linear(spec.linear[0], attention.query_projection)
    projections = attention.key_projection, attention.value_projection
    _fuse(spec.linear[1], projections)
    _set_linear(spec.linear[2], attention.output_projection)
    _set_norm(spec.layer_norm, layer.cross_attention_residual.norm)


def _set_feed_forward(spec, layer) -> None:
    _set_linear(spec.linear_0, layer.feed_forward.hidden)
    _set_linear(spec.linear_1, layer.feed_forward.output_projection)
    _set_norm(spec.layer_norm, layer.feed_forward_residual.norm)


class CTranslate2Engine:
    """Searches for translations with CTranslate2.

    Its beam search differs from this package's in details, so that with a beam the hypotheses
    need not be the same: it divides by length ^ α instead of ((5 + length) / 6) ^ α, and stops when
    enough hypotheses have ended.

    Args:
        folder: What `export_ctranslate2` wrote.
        source: The source tokenizer.
        target: The target tokenizer.
    """

    def __init__(self, folder: Path, source: Tokenizer, target: Tokenizer):
        self._source_tokens = source.tokens(range(source.vocab_size))
        self._target_tokens = target.tokens(range(target.vocab_size))
        self._target_ids = {token: index for index, token in enumerate(self._target_tokens)}
        # One batch a thread: several threads in one batch spend their time waiting.
        self._translator = ctranslate2.Translator(
            str(folder), device="cpu", inter_threads=processors(), intra_threads=1
        )

    def search(
        self,
        sources: Sequence[Sequence[int]],
        options: DecodingConfig,
        prefixes: Sequence[Sequence[int]] | None = None,
        progress: Callable[[int], object] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> list[list[Hypothesis]]:
        """As `KerasEngine.search`, but for draws: CTranslate2 repeats them in a new process only.

        Raises:
            ConfigError: If the options ask for what CTranslate2 does otherwise or not at all.
        """
        if options.coverage_penalty and options.beam_size == 1:
            raise ConfigError("decoding.coverage_penalty needs decoding.beam_size above 1")
        if options.temperature:
            ctranslate2.set_random_seed(options.seed)
        beam = options.beam_size > 1
        given = [0] * len(sources) if prefixes is None else [len(prefix) for prefix in prefixes]
        limits = [
            options.limit(len(source), known) for source, known in zip(sources, given, strict=True)
        ]
        longest = max(limits, default=1)
        results = self._translator.translate_batch(
            [[self._source_tokens[i] for i in source] for source in sources],
            None if prefixes is None else [self._names(prefix) for prefix in prefixes],
            max_batch_size=options.batch_size,
            beam_size=options.beam_size,
            num_hypotheses=options.n_best,
            length_penalty=options.length_penalty if beam else 0,
            coverage_penalty=options.coverage_penalty,
            max_decoding_length=longest,
            min_decoding_length=min(options.min_length, longest),
            return_scores=beam or options.scores,
            sampling_topk=options.top_k if options.temperature else 1,
            sampling_topp=options.top_p,
            sampling_temperature=options.temperature or 1,
        )
        found = []
        for result, limit in zip(results, limits, strict=True):
            scores = result.scores or [None] * len(result.hypotheses)
            found.append(
                [
                    Hypothesis(
                        [self._target_ids[token] for token in tokens[:limit]],
                        score,
                        None if beam else score,
                    )
                    for tokens, score in zip(result.hypotheses, scores, strict=True)
                ]
            )
        if progress:
            progress(len(found))
        return found

    def _names(self, ids: Sequence[int]) -> list[str]:
        return [self._target_tokens[i] for i in ids]

    def attend(
        self, sources: Sequence[Sequence[int]], target_inputs: Sequence[Sequence[int]]
    ) -> list[dict[str, np.ndarray]]:
        """CTranslate2 tells no scores of single heads.

        Raises:
            TransformerTFError: Always.
        """
        raise TransformerTFError("Attention needs the checkpoint itself, not an exported model")

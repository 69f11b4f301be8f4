"""Translates with CTranslate2, an engine in C++: https://opennmt.net/CTranslate2."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from transformer_tf.checkpoint import read_settings
from transformer_tf.config import Config, DecodingConfig
from transformer_tf.decoding.hypothesis import BATCH_SIZE, Hypothesis, TokenIds
from transformer_tf.errors import CheckpointError, TransformerTFError
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.utils.startup import available_cpus, command_line

try:
    import ctranslate2
except ImportError as error:
    raise TransformerTFError(
        "CTranslate2 is not installed; install it with: python -m pip install ctranslate2"
    ) from error

MODEL_FILE, SETTINGS_FILE = "model.bin", "config.json"


def open_ctranslate2(
    folder: Path, overrides: Sequence[str] = ()
) -> tuple[CTranslate2Engine, Config, Tokenizer, Tokenizer]:
    """Opens a folder that `export_ctranslate2` wrote.

    Args:
        folder: The folder.
        overrides: Strings `decoding.key=value` to change in its settings.

    Returns:
        The engine, the configuration, the source tokenizer and the target tokenizer.

    Raises:
        CheckpointError: If the folder holds no export, or a damaged one.
        ConfigError: If an override is invalid.
    """
    try:
        settings = json.loads((folder / SETTINGS_FILE).read_text(encoding="utf-8"))
        current = settings["add_source_bos"] and (folder / MODEL_FILE).is_file()
    except (OSError, ValueError, KeyError, TypeError):
        current = False
    if not current:  # an older export has no such setting
        raise CheckpointError(
            f"{folder} is not a model for CTranslate2; make one with: {command_line('export')} "
            "--format ctranslate2 --output DIR"
        )
    try:
        config, source, target = read_settings(folder, folder / MODEL_FILE, overrides)
        return CTranslate2Engine(folder, source, target), config, source, target
    except RuntimeError as error:
        raise CheckpointError(f"{folder} is damaged: {' '.join(str(error).split())}") from error


class CTranslate2Engine:
    """Searches for translations with CTranslate2.

    Its beam search differs from this package's, so the hypotheses may differ: it divides a score by
    length ^ α instead of ((5 + length) / 6) ^ α, and stops when enough hypotheses have ended.

    Args:
        folder: A folder that `export_ctranslate2` wrote.
        source: The source tokenizer.
        target: The target tokenizer.
    """

    def __init__(self, folder: Path, source: Tokenizer, target: Tokenizer):
        self._source_tokens, self._target_tokens = source.vocabulary, target.vocabulary
        self._target_ids = {token: index for index, token in enumerate(self._target_tokens)}
        # One batch for each thread: threads that share a batch mostly wait for each other.
        self._translator = ctranslate2.Translator(
            str(folder), device="cpu", inter_threads=available_cpus(), intra_threads=1
        )

    def search(
        self,
        sources: TokenIds,
        options: DecodingConfig,
        prefixes: TokenIds | None = None,
        progress: Callable[[int], object] | None = None,
        n_best: int = 1,
    ) -> list[list[Hypothesis]]:
        """Translates sentences: see `Engine.search`."""
        beam = options.beam_size > 1
        limits = [
            options.limit(len(source), len(prefix))
            for source, prefix in zip(sources, prefixes or [()] * len(sources), strict=True)
        ]
        results = self._translator.translate_batch(
            [[self._source_tokens[i] for i in source[1:-1]] for source in sources],
            None
            if prefixes is None
            else [[self._target_tokens[i] for i in prefix] for prefix in prefixes],
            max_batch_size=BATCH_SIZE,
            beam_size=options.beam_size,
            num_hypotheses=n_best,
            length_penalty=options.length_penalty if beam else 0,
            max_decoding_length=max(limits, default=1),
            min_decoding_length=0,
            return_scores=True,
        )
        found = []
        for result, limit in zip(results, limits, strict=True):
            found.append(
                [
                    Hypothesis(
                        [self._target_ids[token] for token in tokens[:limit]],
                        score,
                        None if beam else score,
                    )
                    for tokens, score in zip(result.hypotheses, result.scores, strict=True)
                ]
            )
        if progress:
            progress(len(found))
        return found

    def attend(self, sources: TokenIds, target_inputs: TokenIds) -> list[dict[str, np.ndarray]]:
        """Not supported: CTranslate2 does not return the scores of each head.

        Raises:
            TransformerTFError: Always.
        """
        raise TransformerTFError("Attention needs the checkpoint itself, not an exported model")

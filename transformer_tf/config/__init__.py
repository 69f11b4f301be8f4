"""The configuration of a run: its schema, and how it is read and written."""

from transformer_tf.config.help import help_text
from transformer_tf.config.loading import (
    known_keys,
    load_config,
    load_run_config,
    load_saved_config,
    save_config,
)
from transformer_tf.config.schema import (
    AlignmentHeads,
    Config,
    DataConfig,
    DecodingConfig,
    MixConfig,
    ModelConfig,
    TokenizerConfig,
    TrainingConfig,
)

__all__ = [
    "AlignmentHeads",
    "Config",
    "DataConfig",
    "DecodingConfig",
    "MixConfig",
    "ModelConfig",
    "TokenizerConfig",
    "TrainingConfig",
    "help_text",
    "known_keys",
    "load_config",
    "load_run_config",
    "load_saved_config",
    "save_config",
]

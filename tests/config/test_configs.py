"""Every configuration that ships starts, and takes a step, from a local file."""

from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ENGLISH, GERMAN
from transformer_tf.config import load_config
from transformer_tf.runs.trainer import Trainer

CONFIGS = Path(__file__).parents[2] / "configs"
SMALL = [
    "data.corpus=files",
    "data.held_out_size=9",
    "tokenizer.kind=trained",
    "tokenizer.vocab_size=326",
    "model.d_model=16",
    "model.num_heads=2",
    "model.d_ff=16",
    "model.num_layers=1",
    "training.warmup_steps=0.1",
    "training.cooldown_steps=0",
    "training.tokens_per_batch=256",
    "training.samples=[]",
]


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_configuration_takes_a_step(path, tmp_path):
    table = tmp_path / "pairs.tsv"
    table.write_text("".join(f"{a}\t{b}\n" for a, b in zip(ENGLISH, GERMAN, strict=True)))
    config = load_config(path, [*SMALL, f"data.files=[[{table}]]"])
    with Trainer(config, tmp_path / "run").prepare() as trainer:
        before = trainer.model.get_weights()
        logs = trainer.training_model.train_on_batch(*trainer.data.train[0], return_dict=True)
    assert np.isfinite(logs["loss"])
    assert any((a != b).any() for a, b in zip(before, trainer.model.get_weights(), strict=True))


def test_samples_are_in_the_source_language():
    """A configuration for any language pair takes them from the validation pairs."""
    one_pair = {"article", "tutorial_pt_en"}
    for path in [None, *(path for path in CONFIGS.glob("*.yaml") if path.stem not in one_pair)]:
        assert load_config(path, ["training.start_from=null"]).training.samples is None, path

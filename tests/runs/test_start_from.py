"""Runs that start from a checkpoint: its tokenizers, sizes and weights."""

import shutil

import numpy as np
import pytest

from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.config import load_config, load_run_config
from transformer_tf.errors import CheckpointError, ConfigError
from transformer_tf.hashes import record_hashes
from transformer_tf.runs.reports import summary_table
from transformer_tf.runs.trainer import Trainer
from transformer_tf.text.tokenization.tokenizer import Tokenizer

# Without the sizes, which the checkpoint has.
SETTINGS = [
    "data.corpus=tatoeba",
    "data.held_out_size=9",
    "training.tokens_per_batch=300",
    "training.max_buckets=2",
    "training.validate_every=1000",
    "training.samples=[]",
]


def fine_tune(checkpoint, *overrides):
    return load_config(None, [*SETTINGS, f"training.start_from={checkpoint}", *overrides])


def test_the_sizes_are_those_of_the_checkpoint(data, checkpoint):
    theirs = load_config(checkpoint / "config.yaml")
    config = fine_tune(checkpoint, "model.dropout_rate=0.3", "model.d_model=8")
    assert (config.model.d_model, config.model.num_heads, config.model.d_ff) == (8, 2, 16)
    assert config.tokenizer == theirs.tokenizer
    assert config.model.dropout_rate == 0.3
    assert config.training.tokens_per_batch == 300
    repeated = vars(theirs.model) | {"num_decoder_layers": "null"}
    fine_tune(checkpoint, *(f"model.{key}={value}" for key, value in repeated.items()))


@pytest.mark.parametrize("override", ["model.d_model=128", "tokenizer.vocab_size=400"])
def test_another_size_is_an_error(data, checkpoint, override, tmp_path):
    """On the command line and in a file, even if it is the default of the key."""
    key, value = override.split("=")
    section, name = key.split(".")
    path = tmp_path / "c.yaml"
    path.write_text(f"{section}:\n  {name}: {value}\ntraining:\n  start_from: {checkpoint}\n")
    for load in (lambda: fine_tune(checkpoint, override), lambda: load_config(path)):
        with pytest.raises(ConfigError, match=f"{override} differs from .*: leave it out"):
            load()


def test_a_folder_that_is_no_checkpoint(data, checkpoint, tmp_path):
    with pytest.raises(ConfigError, match="is not a checkpoint"):
        fine_tune(tmp_path)
    copy = shutil.copytree(checkpoint, tmp_path / "copy")
    config = fine_tune(copy)
    (copy / "last.weights.h5").unlink()
    with pytest.raises(CheckpointError, match="has no weights yet"):
        Trainer(config, tmp_path / "run").prepare()


def test_the_weights_and_tokenizers_at_the_start(data, checkpoint, tmp_path):
    """Those of the checkpoint, also after a kill before the first state; the optimizer is new."""
    _, model, source, target = load_checkpoint(checkpoint)
    folder = tmp_path / "run"
    for resume in (False, True):
        config = load_run_config(folder) if resume else fine_tune(checkpoint)
        with Trainer(config, folder, resume).prepare() as trainer:
            for start, theirs in zip(trainer.model.get_weights(), model.get_weights(), strict=True):
                np.testing.assert_array_equal(start, theirs)
        assert trainer.source_tokenizer.fingerprint == source.fingerprint
        assert trainer.target_tokenizer.fingerprint == target.fingerprint
        assert int(trainer.training_model.optimizer.iterations.value) == 0


@pytest.mark.slow
def test_a_run_resumes_without_the_checkpoint(data, checkpoint, tmp_path):
    copy = shutil.copytree(checkpoint, tmp_path / "copy")
    folder = tmp_path / "run"
    Trainer(fine_tune(copy, "training.max_steps=2"), folder).prepare().fit()
    shutil.rmtree(copy)
    trained = load_checkpoint(folder)[1].get_weights()
    longer = load_run_config(folder, ["training.max_steps=3"])
    with Trainer(longer, folder, resume=True).prepare() as trainer:
        for resumed, last in zip(trainer.model.get_weights(), trained, strict=True):
            np.testing.assert_array_equal(resumed, last)
        rows = trainer.fit()
    assert [row["step"] for row in rows] == [0, 2, 3]
    # The first row has the scores of the checkpoint.
    table = summary_table(rows).splitlines()
    assert table[0].split()[:3] == ["step", "epoch", "loss"]
    assert float(table[1].split()[2]) == pytest.approx(rows[0]["val_loss"], abs=1e-3)


def test_the_tags_are_those_of_the_mix(data, checkpoint, tmp_path):
    extra = tmp_path / "extra.tsv"
    extra.write_text("A red dog.\tEin roter Hund.\n")
    for mix, tags in ((f"[{{files: [{extra}], tag: bt}}]", ("bt",)), ("[]", ())):
        config = fine_tune(checkpoint, f"data.mix={mix}")
        with Trainer(config, tmp_path / f"run {tags}").prepare() as trainer:
            assert trainer.source_tokenizer.tags == tags


def test_placeholders_and_known_words_are_those_of_the_checkpoint(data, tmp_path):
    first = tmp_path / "first"
    settings = ["data.placeholders=true", "model.num_layers=1"]
    settings += ["model.d_model=8", "model.num_heads=2", "model.d_ff=16", "training.max_steps=1"]
    settings += ["tokenizer.vocab_size=320"]
    with Trainer(load_config(None, [*SETTINGS, *settings]), first).prepare() as trainer:
        trainer.fit()
    tokenizer = Tokenizer.load(first / "tokenizers" / "source.model")
    tokenizer.known_words = frozenset(["reykjavik"])
    tokenizer.save(first / "tokenizers" / "source.model")
    record_hashes(first)
    config = fine_tune(first, "training.max_steps=1")
    assert config.data.placeholders
    assert not fine_tune(first, "data.placeholders=false").data.placeholders
    with Trainer(config, tmp_path / "second").prepare() as trainer:
        assert "reykjavik" in trainer.source_tokenizer.known_words
    saved = Tokenizer.load(tmp_path / "second" / "tokenizers" / "source.model")
    assert saved.known_words == trainer.source_tokenizer.known_words

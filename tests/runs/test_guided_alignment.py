"""Runs with guided alignment: files with and without links, exact resume, changed links."""

import json
import os
import signal

import keras
import numpy as np
import pytest

from tests.conftest import ENGLISH, GERMAN, configure
from transformer_tf.config import load_run_config
from transformer_tf.errors import ConfigError, DataError, Interrupted
from transformer_tf.runs.state import load_state
from transformer_tf.runs.trainer import Trainer
from transformer_tf.text.symbols import TAGS

LINKS = "0-0 1-1 2-2 3-3 4-4"


@pytest.fixture
def settings(tmp_path):
    """Aligned pairs, a half of them with a tag, and pairs without an alignment."""
    pairs = [f"{a}\t{b}\n" for a, b in zip(ENGLISH, GERMAN, strict=True)]
    parts = {"one": pairs[:50], "two": pairs[50:80], "plain": pairs[80:]}
    for name, lines in parts.items():
        (tmp_path / f"{name}.tsv").write_text("".join(lines))
        if name != "plain":
            (tmp_path / f"{name}.align").write_text(f"{LINKS}\n" * len(lines))
    return [
        "data.corpus=files",
        f"data.files={tmp_path / 'one.tsv'}",
        f"data.mix=[{{files: {tmp_path / 'two.tsv'}, tag: bt}}, {tmp_path / 'plain.tsv'}]",
        "data.placeholders=true",
        "decoding.alignment={layer: 1, heads: [2]}",
        "training.guided_alignment=1",
        "training.max_steps=8",
        "training.max_buckets=3",
        "training.tokens_per_batch=110",
        "training.warmup_steps=1",
    ]


class StopAfterThreeSteps(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 2:
            os.kill(os.getpid(), signal.SIGINT)


def prepare(settings, folder, *overrides):
    return Trainer(configure(*settings, *overrides), folder).prepare()


def aligned_tokens(trainer):
    """For each training pair the target tokens with the source tokens they are aligned with."""
    pairs = trainer.data.train.pairs
    for index in range(len(pairs)):
        source = trainer.source_tokenizer.tokens(pairs.source[index])
        target = trainer.target_tokenizer.tokens(pairs.target[index])
        links = zip(target, pairs.alignment[index], strict=True)
        yield [(token, source[position]) for token, position in links if position]


def test_tags_placeholders_and_pairs_without_links(settings, tmp_path):
    with prepare(settings, tmp_path / "run") as trainer:
        found = list(aligned_tokens(trainer))
        train = trainer.corpus.train
    tagged = [source.startswith(TAGS[0]) for source, _ in train]
    has_links = [bool(links) for links in found]
    plain = [source in ENGLISH[80:] for source, _ in train]
    assert any(tagged) and any(plain)
    assert has_links == [not each for each in plain]
    assert sum(has_links) == json.loads((tmp_path / "run/corpus.json").read_text())["aligned"]
    for links in filter(None, found):
        assert ("▁sehe", "▁see") in links or ("▁s", "▁see") in links
        number = next(source for target, source in links if target in ("<1>", *"0123456789"))
        assert number == "<1>" or number.isdigit()
    assert any(("<1>", "<1>") in links for links in found)


def test_a_resumed_run_ends_like_an_uninterrupted_one(settings, tmp_path):
    whole = prepare(settings, tmp_path / "whole")
    rows = whole.fit()
    assert 0 < rows[-1]["alignment_loss"] < 5
    assert "val_alignment_loss" not in rows[-1]
    folder = tmp_path / "run"
    trainer = prepare(settings, folder)
    fit = trainer.training_model.fit
    trainer.training_model.fit = lambda *arguments, callbacks, **options: fit(
        *arguments, callbacks=[StopAfterThreeSteps(), *callbacks], **options
    )
    with pytest.raises(Interrupted, match="after step 3"):
        trainer.fit()
    Trainer(load_run_config(folder), folder, resume=True).prepare().fit()
    for one, two in zip(load_state(folder)[1], load_state(tmp_path / "whole")[1], strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)

    with pytest.raises(ConfigError, match="decoding.alignment cannot change"):
        load_run_config(folder, ["decoding.alignment={layer: 1, heads: [1]}"])
    (tmp_path / "one.align").write_text("0-0\n" * 50)
    with pytest.raises(DataError, match="not those that the run"):
        Trainer(load_run_config(folder, ["training.max_steps=9"]), folder, resume=True).prepare()


def test_wrong_and_missing_links_are_one_line_that_says_what_to_do(settings, tmp_path):
    with pytest.raises(ConfigError, match="needs decoding.alignment"):
        configure(*settings, "decoding.alignment=null")
    for text, message in (
        (f"{LINKS}\n" * 49, "one.align must have a line for each pair of .*one.tsv"),
        (f"{LINKS}\n" * 51, "one.align must have a line for each pair of .*one.tsv"),
        (f"{LINKS} 5-5\n" * 50, "The alignment of one.tsv does not fit the pair"),
    ):
        (tmp_path / "one.align").write_text(text)
        with pytest.raises(DataError, match=message):
            prepare(settings, tmp_path / "run")
    for path in tmp_path.glob("*.align"):
        path.unlink()
    with pytest.raises(DataError, match="training.guided_alignment needs .*tools.corpora.align"):
        prepare(settings, tmp_path / "run")
    plain = prepare(settings, tmp_path / "run", "training.guided_alignment=0")
    assert plain.corpus.alignments is None and plain.data.train.pairs.alignment is None
    plain.close()

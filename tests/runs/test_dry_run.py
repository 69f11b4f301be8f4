import dataclasses

import keras
import pytest

from tests.conftest import ENGLISH, GERMAN, configure
from transformer_tf.config import DataConfig
from transformer_tf.runs import dry_run
from transformer_tf.runs.trainer import Trainer
from transformer_tf.text.corpora.corpus import load_corpus

TENSORFLOW = keras.backend.backend() == "tensorflow"


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The folder of temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_the_report(data, scratch, tmp_path, monkeypatch):
    """It has real numbers, and nothing is left behind."""
    monkeypatch.chdir(scratch)
    monkeypatch.setattr(dry_run, "seconds_per_step", lambda trainer: 0.5)
    config = configure(
        data, "training.max_steps=100", "training.validate_every=4", "training.max_minutes=0.25"
    )
    with dry_run.scratch_trainer(config) as trainer:
        table, lengths, examples, languages, summary, time = dry_run.report(trainer)
    assert table.split()[:3] == ["pairs", "read", str(len(ENGLISH))]
    assert "on average, 95 % of them at most" in lengths
    assert examples.startswith("10 random pairs")
    assert examples.count("<start> ▁I ▁s") == examples.count("→ <start> ▁I") == 10
    assert languages == f"0 of {len(ENGLISH) - 14} pairs look suspicious"
    assert "100 steps with a validation every 4; the learning rate rises for 10 of 100" in summary
    assert "0.5 s per step, measured over 20 steps: 0:50 for all 100 steps" in time
    assert "after about 30 of 100 steps" in time
    assert "training.max_steps=30 would fit" in time
    assert "peak memory of this process so far: " in time
    assert list(scratch.iterdir()) == []


def test_the_time_of_a_step(data, tmp_path):
    """Measured without the compilation of the first steps."""
    with Trainer(configure(data), tmp_path / "run").prepare() as trainer:
        assert 0 < dry_run.seconds_per_step(trainer) < 2
        assert int(trainer.training_model.optimizer.iterations.value) == (21 if TENSORFLOW else 42)


def write_corpus(path, pairs):
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    settings = DataConfig(corpus="files", files=((str(path),),))
    return dataclasses.replace(settings, validation_size=5, test_size=5)


def test_swapped_columns(tmp_path):
    """The remedy depends on the corpus."""
    english = [f"{text} and the dog that was in it is not of" for text in ENGLISH]
    german = [f"{text} und der Hund ist nicht das die zu er" for text in GERMAN]
    settings = write_corpus(tmp_path / "a.tsv", zip(german, english, strict=True))
    corpus = load_corpus(settings)
    assert "The columns look swapped: set data.swap=true" in dry_run.check_languages(
        corpus, settings
    )
    swapped = dataclasses.replace(settings, swap=True)
    assert "look swapped" not in dry_run.check_languages(load_corpus(swapped), swapped)
    named = dataclasses.replace(settings, source_language="fr", target_language="en")
    report = dry_run.check_languages(corpus, named)
    assert "The source looks like German, not French: set data.source_language=de" in report
    other = dataclasses.replace(settings, corpus="tatoeba", files=())
    remedy = "set data.source_language=de data.target_language=en"
    assert remedy in dry_run.check_languages(corpus, other)


def test_suspicious_pairs_are_shown(tmp_path):
    pairs = [*zip(ENGLISH, GERMAN, strict=True), ("Ich sehe rote Bäume.", "I see red trees.")]
    settings = write_corpus(tmp_path / "a.tsv", pairs)
    corpus = load_corpus(settings)
    lines = dry_run.check_languages(corpus, settings).splitlines()
    assert lines[0].startswith("1 of ")
    assert lines[1:] == ["  swapped:", "    Ich sehe rote Bäume.", "    I see red trees."]

"""Small runs, from a corpus in a ZIP file to a checkpoint that translates."""

import csv
import json

import keras
import numpy as np
import pytest
from bpemb import BPEmb

from tests.conftest import ENGLISH, GERMAN, configure
from transformer_tf.checkpoint import load_checkpoint, save_weights
from transformer_tf.config import load_config
from transformer_tf.decoding.hypothesis import Hypothesis
from transformer_tf.errors import ConfigError, DataError
from transformer_tf.runs.reports import summary_table
from transformer_tf.runs.trainer import Trainer
from transformer_tf.text.corpora.corpus import load_held_out
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.training.callbacks import StepCounter
from transformer_tf.translator import Translator


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    """A finished run of two epochs: the trainer, its metrics and its folder."""
    folder = tmp_path_factory.mktemp("runs") / "first"
    options = ["training.max_epochs=2", "training.validate_every=3", "training.warmup_steps=3"]
    options.append("training.learning_rate_scale=30")
    config = configure("training.label_smoothing=0.1", *options)
    trainer = Trainer(config, folder).prepare()
    return trainer, trainer.fit(lambda: make_translator(trainer)), folder


def make_translator(trainer):
    return Translator.from_model(
        trainer.model, trainer.config, trainer.source_tokenizer, trainer.target_tokenizer
    )


def test_the_files_of_a_run(run):
    trainer, metrics, folder = run
    assert load_config(folder / "config.yaml") == trainer.config
    for name in ("validation", "test"):
        assert load_held_out(folder, name) == list(getattr(trainer.corpus, name))
    counts = json.loads((folder / "corpus.json").read_text())
    assert sum(counts["pairs"].values()) + sum(counts["removed"].values()) == len(ENGLISH)
    assert (folder / "curves.png").is_file()
    assert "over 100 sub-words: 0 train, 0 validation" in trainer.data.table()
    samples = (folder / "samples.txt").read_text()
    assert samples.count("I see 5 red cars.") == len(metrics)
    assert all(f"after step {row['step']}\n" in samples for row in metrics)


def test_metrics_of_every_epoch(run):
    trainer, metrics, folder = run
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [{name: str(value) for name, value in row.items()} for row in metrics] == rows
    steps, every = trainer.plan.max_steps, trainer.plan.validate_every
    assert [int(row["step"]) for row in rows] == [*range(every, steps, every), steps]
    assert float(rows[-1]["epoch"]) == 2
    assert float(rows[-1]["loss"]) < float(rows[0]["loss"])
    assert float(rows[-1]["val_perplexity"]) < float(rows[0]["val_perplexity"])
    assert all(float(row["tokens_per_second"]) > 0 for row in rows)
    assert all(0 <= float(row["val_chrf"]) <= 100 for row in rows)
    # The rate is that of the next update, number steps + 1 in the paper.
    highest = 30 * (16 * 4000) ** -0.5
    expected = highest * min((3 / (steps + 1)) ** 0.5, (steps + 1) / 3)
    assert float(rows[-1]["learning_rate"]) == pytest.approx(expected, rel=1e-5)
    assert int(trainer.training_model.optimizer.iterations.value) == steps
    assert "BLEU" in summary_table(metrics).splitlines()[0]


def set_scores(monkeypatch, perplexity):
    """Replaces the perplexities of the validations, and draws no curves.

    Returns:
        The weights at each validation.
    """
    values, weights = iter(perplexity), []

    def next_score(training_model, _):
        weights.append(training_model.transformer.get_weights())
        return {"loss": 1.0, "accuracy": 0.5, "perplexity": next(values)}

    monkeypatch.setattr("transformer_tf.runs.trainer.evaluate", next_score)
    monkeypatch.setattr("transformer_tf.plots.save_figure", lambda *_: None)
    return weights


def test_patience(data, tmp_path, monkeypatch):
    """The run ends after two validations without a better score."""
    config = configure("training.patience=2", "training.validate_every=1")
    trainer = Trainer(config, tmp_path / "run").prepare()
    set_scores(monkeypatch, perplexity=[9.0, 8.0, 8.5, 7.0, 7.0, 7.5, 1.0])
    assert [row["val_perplexity"] for row in trainer.fit()] == [9.0, 8.0, 8.5, 7.0, 7.0, 7.5]
    assert trainer.progress.best == 7.0


def test_the_best_weights_are_kept(data, tmp_path, monkeypatch):
    """The second of three validations has the lowest perplexity."""
    config = configure("training.max_steps=3", "training.validate_every=1")
    trainer = Trainer(config, tmp_path / "run").prepare()
    weights = set_scores(monkeypatch, perplexity=[6.0, 5.0, 7.0])
    trainer.fit()
    saved = load_checkpoint(tmp_path / "run")[1]
    for model in (trainer.model, saved):
        for weight, best in zip(model.get_weights(), weights[1], strict=True):
            np.testing.assert_array_equal(weight, best)


def test_the_time_limit(data, tmp_path):
    config = configure("training.max_minutes=1e-6")
    trainer = Trainer(config, tmp_path / "run").prepare()
    assert [row["step"] for row in trainer.fit()] == [1]


def test_a_signal_at_the_time_limit(data, tmp_path, monkeypatch):
    """The run is over: it is validated and has weights."""
    monkeypatch.setattr("transformer_tf.runs.trainer.seconds_per_step", lambda *_: 1e-3)
    trainer = Trainer(configure("training.max_minutes=9"), tmp_path / "run").prepare()

    def in_the_last_step(step, logs):
        counter.began_at -= 600
        trainer._signal.received = True

    counter = StepCounter(trainer.progress)
    watch = keras.callbacks.LambdaCallback(on_train_batch_end=in_the_last_step)
    callbacks = trainer._callbacks
    monkeypatch.setattr(trainer, "_callbacks", lambda line: [watch, counter, *callbacks(line)[1:]])
    assert [row["step"] for row in trainer.fit()] == [1]


def test_a_time_limit_plans_the_steps(data, tmp_path, monkeypatch):
    """A run of a minute with steps of two seconds; a resumed run keeps its plan."""
    monkeypatch.setattr("transformer_tf.runs.trainer.seconds_per_step", lambda *_: 2.0)
    settings = ["training.max_minutes=1", "training.max_epochs=99", "training.cooldown_steps=0.2"]
    with Trainer(configure(*settings), tmp_path / "run").prepare() as trainer:
        assert trainer.plan.max_steps > 99
        before = trainer.model.get_weights()
        monkeypatch.setattr(trainer, "_train", lambda *_: trainer._save())
        trainer.fit()
    for weight, start in zip(trainer.model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(weight, start)
    plan = trainer.plan
    assert 20 < plan.max_steps < 30
    assert (plan.warmup, plan.cooldown) == (plan.max_steps // 10, plan.max_steps // 5)
    with Trainer(configure(*settings), tmp_path / "run", resume=True).prepare() as trainer:
        assert trainer.plan == plan


def test_an_automatic_vocabulary_and_samples(data, tmp_path):
    config = configure("tokenizer.vocab_size=auto", "training.samples=null")
    with Trainer(config, tmp_path / "run").prepare() as trainer:
        sizes = [trainer.source_tokenizer.vocab_size, trainer.target_tokenizer.vocab_size]
        assert all(275 < size < 1000 for size in sizes)
        assert f"vocabularies of {sizes[0]} and {sizes[1]}" in trainer.summary()
        sources = [source for source, _ in trainer.corpus.validation]
        assert trainer.samples == (sources[0], sources[1], sources[3])


@pytest.mark.parametrize(
    ("overrides", "error", "message"),
    [
        (["tokenizer.vocab_size=100000"], ConfigError, "tokenizer.vocab_size"),
        (["data.max_length=2"], DataError, "data.max_length=2"),
        (["data.corpus=tatoba"], DataError, "tatoeba"),
        (["data.target_language=fr"], DataError, "fra-eng"),
    ],
)
def test_a_failed_start_leaves_no_folder(data, tmp_path, overrides, error, message):
    with pytest.raises(error, match=message):
        Trainer(configure(*overrides), tmp_path / "runs" / "run").prepare()
    assert list(tmp_path.iterdir()) == []


def test_an_impossible_schedule_is_an_error_before_the_data_are_read(tmp_path):
    options = ["training.max_steps=100", "training.warmup_steps=10", "training.cooldown_steps=0.45"]
    files = ["data.corpus=files", f"data.files={tmp_path}/missing.tsv"]
    config = configure(*files, *options)
    with pytest.raises(ConfigError, match="training.warmup_steps=10 and training.cooldown"):
        Trainer(config, tmp_path / "run").prepare()
    assert not (tmp_path / "run").exists()


def test_a_run_that_fails_in_its_first_step_leaves_no_folder(data, tmp_path, monkeypatch):
    trainer = Trainer(configure(), tmp_path / "run").prepare()
    assert (tmp_path / "run").is_dir()
    monkeypatch.setattr(trainer.training_model, "fit", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        trainer.fit()
    assert list(tmp_path.iterdir()) == []


def test_a_shared_tokenizer_and_mixed_precision(data, tmp_path):
    options = ["tokenizer.shared=true", "model.tie_embeddings=all"]
    config = configure(*options, "training.precision=mixed_bfloat16")
    trainer = Trainer(config, tmp_path / "run").prepare()
    assert trainer.source_tokenizer.encode("5") == trainer.target_tokenizer.encode("5")
    logs = trainer.training_model.train_on_batch(*trainer.data.train[0], return_dict=True)
    assert np.isfinite(logs["loss"])
    assert trainer.model.encoder.compute_dtype == "bfloat16"
    assert keras.config.dtype_policy().name == "float32"  # that of models made later


def write_official_models(data, folder):
    """Writes small models in place of the official files."""
    for language, sentences in (("en", ENGLISH), ("de", GERMAN)):
        directory = folder / "bpemb" / language
        directory.mkdir(parents=True)
        name = f"{language}.wiki.bpe.vs1000"
        lower = [BPEmb.preprocess(sentence) for sentence in sentences]
        Tokenizer.train(lower, 326, directory / f"{name}.model")
    (folder / "tatoeba").symlink_to(data / "tatoeba")


def test_translations_of_official_models_are_in_lower_case(data, tmp_path, monkeypatch):
    write_official_models(data, tmp_path)
    monkeypatch.setenv("TRANSFORMER_TF_DATA", str(tmp_path))
    config = configure("tokenizer.kind=bpemb", "tokenizer.vocab_size=1000")
    trainer = Trainer(config, tmp_path / "run").prepare()
    save_weights(trainer.model, tmp_path / "run" / "best.weights.h5")
    translator = Translator.load(tmp_path / "run")
    found = [Hypothesis(trainer.target_tokenizer.encode("Ich sehe 25 rote Häuser."), 0.0)]
    translator.engine.search = lambda sources, *_: [found for _ in sources]
    assert translator.translate(["I see 25 red houses."]) == ["ich sehe 00 rote häuser."]


@pytest.mark.slow
def test_long_samples(data, tmp_path):
    """A sample that is too long for the model is translated in parts."""
    long = "I see 5 red cars. " * 20
    config = configure(
        "training.max_epochs=1",
        f"training.samples=['{long}', 'A tree.', '']",
        "data.max_length=20",
        "decoding.beam_size=2",
    )
    trainer = Trainer(config, tmp_path / "run").prepare()
    rows = trainer.fit(lambda: make_translator(trainer))
    assert rows[-1]["val_bleu"] >= 0
    assert (tmp_path / "run" / "samples.txt").read_text().count("→") == 3 * len(rows)

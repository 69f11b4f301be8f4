"""Every configuration that ships starts, and takes steps, from local files and with no network."""

import gzip
import hashlib
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ENGLISH, GERMAN
from transformer_tf.config import load_config
from transformer_tf.runs.trainer import Trainer
from transformer_tf.text.corpora import sources
from transformer_tf.text.tokenization.tokenizer import Tokenizer

CONFIGS = Path(__file__).parents[2] / "configs"
REAL_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SMALL = [
    "data.validation_size=9",
    "data.test_size=5",
    "data.max_pairs=90",
    "model.d_ff=16",
    "model.num_layers=1",
    "training.max_epochs=1",
    "training.validate_every=1000",
    "training.warmup_steps=0.1",
    "training.cooldown_steps=0",
    "training.tokens_per_batch=256",
    "training.samples=[]",
]


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a download was tried")

    monkeypatch.setattr("requests.get", refuse)
    monkeypatch.setattr("requests.head", refuse)


def write_tatoeba(directory, code):
    (directory / "tatoeba").mkdir(parents=True)
    lines = "".join(f"{a}\t{b}\tCC-BY\n" for a, b in zip(ENGLISH, GERMAN, strict=True))
    with zipfile.ZipFile(directory / "tatoeba" / f"{code}-eng.zip", "w") as archive:
        archive.writestr(f"{code}.txt", lines)


def prepare_article(directory, monkeypatch):
    write_tatoeba(directory, "deu")
    for language, sentences in (("en", ENGLISH), ("de", GERMAN)):
        path = directory / "bpemb" / language / f"{language}.wiki.bpe.vs10000.model"
        path.parent.mkdir(parents=True)
        Tokenizer.train([sentence.lower() for sentence in sentences], 326, path)
    monkeypatch.setattr("transformer_tf.text.tokenization.tokenizer.BPEMB_HASHES", {})


def prepare_multi30k(directory, monkeypatch):
    (directory / "multi30k").mkdir()
    parts = {"train": slice(0, 90), "val": slice(90, 100), "test_2016_flickr": slice(100, 110)}
    for language, sentences in (("en", ENGLISH), ("de", GERMAN)):
        for stem, part in parts.items():
            content = gzip.compress("".join(f"{line}\n" for line in sentences[part]).encode())
            path = directory / "multi30k" / f"{stem}.{language}.gz"
            path.write_bytes(content)
            known_hash = f"sha256:{hashlib.sha256(content).hexdigest()}"
            monkeypatch.setitem(sources.MULTI30K_HASHES, path.name, known_hash)


def prepare_tutorial(directory, monkeypatch):
    tfds = pytest.importorskip("tensorflow_datasets", reason="needs tensorflow-datasets")
    import tensorflow as tf

    def as_dataset(self, split, **_):
        part = {"train": slice(0, 90), "validation": slice(90, 100), "test": slice(100, 110)}[split]
        return tf.data.Dataset.from_tensor_slices({"pt": GERMAN[part], "en": ENGLISH[part]})

    mock = tfds.testing.mock_data(as_dataset_fn=as_dataset)
    mock.__enter__()
    return lambda: mock.__exit__(None, None, None)


PREPARE = {
    "quickstart": lambda directory, monkeypatch: None,
    "tatoeba": lambda directory, monkeypatch: write_tatoeba(directory, "deu"),
    "english_spanish": lambda directory, monkeypatch: write_tatoeba(directory, "spa"),
    "article": prepare_article,
    "multi30k": prepare_multi30k,
    "tutorial_pt_en": prepare_tutorial,
    "own": lambda directory, monkeypatch: write_tatoeba(directory, "deu"),
    "fine_tune": lambda directory, monkeypatch: write_tatoeba(directory, "deu"),
}


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_configuration_trains_a_few_steps(path, tmp_path, monkeypatch):
    directory = tmp_path / "data"
    directory.mkdir()
    close = PREPARE[path.stem](directory, monkeypatch)
    overrides = [*SMALL, f"data.directory={directory}"]
    if path.stem in ("own", "fine_tune"):
        overrides.append("data.corpus=tatoeba")
    if path.stem != "article":
        overrides.append(f"tokenizer.vocab_size={400 if path.stem == 'quickstart' else 326}")
    config = load_config(path, overrides)
    trainer = Trainer(config, tmp_path / "run").prepare()
    before = trainer.model.get_weights()
    rows = trainer.fit()
    if close:
        close()
    assert np.isfinite(rows[0]["loss"])
    steps = int(trainer.training_model.optimizer.iterations.value)
    assert steps == len(trainer.data.train) >= 3
    assert any((a != b).any() for a, b in zip(before, trainer.model.get_weights(), strict=True))


def test_samples_are_in_the_source_language():
    """A configuration for any language pair takes them from the validation pairs."""
    one_pair = {"article", "tutorial_pt_en"}
    for path in [None, *(path for path in CONFIGS.glob("*.yaml") if path.stem not in one_pair)]:
        assert load_config(path, ["training.start_from=null"]).training.samples is None, path


@pytest.mark.parametrize(("name", "folder"), [("multi30k", "multi30k"), ("tatoeba", "tatoeba")])
def test_real_corpora_train_a_few_steps(name, folder, tmp_path):
    if not (REAL_DATA / folder).is_dir():
        pytest.skip(f"needs {folder} in ../shared/data beside the repository")
    overrides = [*SMALL, "data.max_pairs=2000", "tokenizer.vocab_size=1000"]
    config = load_config(CONFIGS / f"{name}.yaml", [*overrides, f"data.directory={REAL_DATA}"])
    trainer = Trainer(config, tmp_path / "run").prepare()
    first = trainer.training_model.train_on_batch(*trainer.data.train[0], return_dict=True)
    assert np.isfinite(first["loss"])
    if name == "multi30k":
        assert len(trainer.corpus.test) == 1000  # whole, whatever data.test_size says

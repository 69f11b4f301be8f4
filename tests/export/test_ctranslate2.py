"""The same weights under CTranslate2, on a model that has learned something."""

import shutil

import numpy as np
import pytest

from tests.conftest import ENGLISH, GERMAN, make_model
from transformer_tf.checkpoint import (
    LAST_WEIGHTS,
    build_model,
    load_checkpoint,
    save_checkpoint,
    save_weights,
)
from transformer_tf.config import load_config, save_config
from transformer_tf.errors import CheckpointError, ConfigError, TransformerTFError
from transformer_tf.text.symbols import SLOTS
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.translator import Translator

ctranslate2 = pytest.importorskip("ctranslate2", reason='pip install ".[ctranslate2]"')

from transformer_tf.export.ctranslate2 import (  # noqa: E402
    export_ctranslate2,
    transformer_specification,
)

SENTENCES = [f"I see {n} {color}{thing}." for n in range(2, 60) for color in ("", "red ")
             for thing in ("cars", "house", "trees and cars")]  # fmt: skip


@pytest.fixture(scope="module", params=["post-norm", "pre-norm, learned positions"])
def folders(request, tmp_path_factory):
    """A checkpoint with random weights, and the same exported."""
    import keras

    keras.utils.set_random_seed(5)
    folder = tmp_path_factory.mktemp("checkpoint")
    changes = ["model.num_layers=2", "model.d_model=24", "model.num_heads=2", "model.d_ff=48",
               "decoding.max_length=20", "data.max_length=30"]  # fmt: skip
    if request.param != "post-norm":
        changes += ["model.pre_norm=true", "model.position=learned", "model.num_decoder_layers=3"]
    config = load_config(None, changes)
    (folder / "tokenizers").mkdir()
    source = Tokenizer.train(ENGLISH, 326, folder / "tokenizers" / "source.model")
    target = Tokenizer.train(GERMAN, 331, folder / "tokenizers" / "target.model")
    save_checkpoint(folder, config, source, target)
    model = build_model(config, source, target)
    random = np.random.default_rng(3)
    model.set_weights([w + random.normal(0, 0.15, w.shape) for w in model.get_weights()])
    save_weights(model, folder / LAST_WEIGHTS)
    exported = tmp_path_factory.mktemp("exported") / "model"
    export_ctranslate2(folder, exported)
    return folder, exported


def load_export(folder, overrides=()):
    return Translator.load(folder, overrides, engine="ctranslate2")


def test_greedy_hypotheses_and_log_probabilities_are_the_same(folders):
    ours = Translator.load(folders[0]).search(SENTENCES)
    theirs = load_export(folders[1]).search(SENTENCES)
    # It does not say the same to everything.
    assert len({tuple(row[0].tokens) for row in ours}) > 20
    same = [a[0].tokens == b[0].tokens for a, b in zip(ours, theirs, strict=True)]
    assert np.mean(same) >= 0.995
    for a, b in zip(ours, theirs, strict=True):
        if a[0].tokens == b[0].tokens:
            assert abs(a[0].log_prob - b[0].log_prob) < 1e-3


def test_its_own_translator_takes_the_pieces(folders):
    """Without start and end, and with placeholders as SentencePiece spells them."""
    ours = Translator.load(folders[0])
    texts = [*SENTENCES, *(text.replace(".", SLOTS[0]) for text in SENTENCES)]
    sources = ours.source_tokenizer.processor.encode(texts, out_type=str)
    options = {"beam_size": 1, "max_decoding_length": ours.options.max_length}
    found = ctranslate2.Translator(str(folders[1])).translate_batch(sources, **options)
    ids = [ours.source_tokenizer.encode_sentence(text) for text in texts]
    expected = ours.engine.search(ids, ours.options)
    tokens = ours.target_tokenizer.vocabulary
    same = [
        theirs.hypotheses[0] == [tokens[i] for i in best.ids]
        for theirs, (best,) in zip(found, expected, strict=True)
    ]
    assert np.mean(same) >= 0.995


def test_prefix_and_empty_lines(folders):
    translator = load_export(folders[1])
    prefix = "Ich sehe"
    found = translator.translate(["I see 3 cars.", "", "A tree."], prefixes=[prefix] * 3)
    assert [text.startswith(prefix) for text in found] == [True, False, True]
    assert found[1] == ""
    assert translator.translate([]) == []


def test_int8(folders, tmp_path):
    export_ctranslate2(folders[0], tmp_path / "int8", "int8")
    exact = load_export(folders[1]).search(SENTENCES[:20])
    coarse = load_export(tmp_path / "int8").search(SENTENCES[:20])
    sizes = [folder / "model.bin" for folder in (folders[1], tmp_path / "int8")]
    whole, quantized = (file.stat().st_size for file in sizes)
    assert quantized < 0.6 * whole  # the table of positions stays as it is
    pairs = zip(exact, coarse, strict=True)
    assert np.mean([a[0].tokens[0] == b[0].tokens[0] for a, b in pairs]) > 0.5


def test_errors(folders, tmp_path):
    with pytest.raises(CheckpointError, match="--format ctranslate2"):
        load_export(folders[0])
    translator = load_export(folders[1])
    with pytest.raises(TransformerTFError, match="Attention"):
        translator.attend("A tree.")
    with pytest.raises(CheckpointError, match="--engine"):
        load_checkpoint(folders[1])
    export_ctranslate2(folders[0], tmp_path / "model")
    (tmp_path / "model" / "model.bin").write_bytes(b"not a model")
    with pytest.raises(CheckpointError, match="model"):
        load_export(tmp_path / "model")
    with pytest.raises(ConfigError, match="Only decoding.key=value"):
        load_export(folders[1], ["data.max_length=9"])
    (tmp_path / "model" / "tokenizers" / "source.model").unlink()
    with pytest.raises(CheckpointError, match="not a complete checkpoint"):
        load_export(tmp_path / "model")
    (tmp_path / "model" / "config.json").write_text("[]")
    with pytest.raises(CheckpointError, match="--format ctranslate2"):
        load_export(tmp_path / "model")


def test_a_specification_is_valid(folders):
    """For every way to tie embeddings."""
    source = Tokenizer.load(folders[0] / "tokenizers" / "source.model")
    for tie in ("none", "target", "all"):
        sizes = {"source_vocab_size": source.vocab_size, "target_vocab_size": source.vocab_size}
        model = make_model(tie_embeddings=tie, **sizes)
        specification = transformer_specification(model, source, source)
        specification.validate()


def test_the_table_of_positions_is_long_enough(checkpoint, tmp_path):
    run = shutil.copytree(checkpoint, tmp_path / "run")
    config = load_config(run / "config.yaml", ["decoding.max_length=1500"])
    save_config(config, run / "config.yaml")
    export_ctranslate2(run, tmp_path / "model")
    translator = Translator.load(tmp_path / "model", engine="ctranslate2")
    prefix = "Ich sehe rote Autos. " * 240
    length = len(translator.target_tokenizer.encode(prefix))
    assert 1024 < length < 1500
    assert len(translator.search(["A tree."], prefixes=[prefix])[0][0].tokens) >= length

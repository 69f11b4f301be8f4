"""Tests that the systems of the decoding benchmark give the same results."""

import pytest

from benchmarks.decode_worker import ours
from benchmarks.process import WorkerProcess
from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.config import DecodingConfig
from transformer_tf.decoding.keras_engine import KerasEngine
from transformer_tf.errors import TransformerTFError


@pytest.fixture(scope="module")
def sentences(checkpoint):
    source = load_checkpoint(checkpoint)[2]
    return source.encode_sentences([f"I see {n} red cars." for n in range(3)])


@pytest.mark.slow
def test_tutorial_loop_finds_the_greedy_translations(checkpoint, sentences):
    from benchmarks.baselines.tutorial import make_translate

    _, model, _, target = load_checkpoint(checkpoint)
    translate = make_translate(model, target.start_id, target.end_id, 12)
    options = DecodingConfig(max_length=12)
    found = KerasEngine(model, target.start_id, target.end_id).search(sentences, options)
    for sentence, (best,) in zip(sentences, found, strict=True):
        assert [i for i in translate(sentence) if i != target.end_id] == best.ids


@pytest.mark.slow
def test_systems_count_the_same_tokens(checkpoint, sentences):
    options = DecodingConfig(max_length=12)
    expected = ours(checkpoint, 0)(sentences, options)
    assert expected > len(sentences)
    ctranslate2 = pytest.importorskip("ctranslate2")
    assert ctranslate2.__version__
    from benchmarks.decode_worker import ctranslate2 as theirs
    from transformer_tf.export.ctranslate2 import export_ctranslate2

    exported = checkpoint.parent / "exported"
    export_ctranslate2(checkpoint, exported)
    assert theirs(exported, 2)(sentences, options) == expected


def test_error_of_a_worker_names_its_last_line():
    with (
        WorkerProcess("nobody", ["benchmarks.decode_worker", "x", "y", "0"]) as worker,
        pytest.raises(TransformerTFError, match="nobody.*KeyError"),
    ):
        worker.ask(1)

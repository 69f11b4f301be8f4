"""The ONNX graphs under ONNX Runtime, in a process that has nothing of ours."""

import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.errors import CheckpointError
from transformer_tf.translator import Translator

onnxruntime = pytest.importorskip("onnxruntime", reason='pip install ".[onnx]"')

from transformer_tf.export import onnx as export  # noqa: E402

if keras.backend.backend() != "tensorflow":
    pytest.skip("needs the TensorFlow backend", allow_module_level=True)

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/translate_onnx.py"
SHIPPED = ROOT / "checkpoints/en-de"
LONG = "tree " * 100  # of at most 60 sub-words


@pytest.fixture(scope="module")
def exported(decided, tmp_path_factory):
    folder = tmp_path_factory.mktemp("onnx") / "model"
    export.export_onnx(decided, folder)
    return folder


@pytest.mark.parametrize("batch", [1, 3])
def test_steps_equal_the_model(decided, exported, batch):
    _, model, source_tokenizer, _ = load_checkpoint(decided)
    random = np.random.default_rng(batch)
    source = random.integers(2, source_tokenizer.vocab_size, (batch, 7)).astype("int32")
    source[-1, 5:] = 0
    target = random.integers(2, model.target_vocab_size, (batch, 5)).astype("int32")
    expected = np.asarray(model({"source": source, "target_input": target}))
    encoder = onnxruntime.InferenceSession(exported / export.ENCODER_FILE)
    step = onnxruntime.InferenceSession(exported / export.STEP_FILE)
    (cross_cache,) = encoder.run(["cross_attention_cache"], {"source": source})
    past = np.zeros((*cross_cache.shape[:4], 0, cross_cache.shape[5]), "float32")
    for position in range(target.shape[1]):
        token = target[:, [position]]
        inputs = {
            "token": token,
            "past": past,
            "cross_attention_cache": cross_cache,
            "source": source,
        }
        logits, past = step.run(["logits", "present"], inputs)
        np.testing.assert_allclose(logits, expected[:, position], rtol=1e-4, atol=1e-4)
    assert past.shape[4] == target.shape[1]


@pytest.mark.slow
def test_the_example_translates_the_same(tmp_path):
    """The translator that ships, greedily."""
    export.export_onnx(SHIPPED, tmp_path / "model")
    lines = (SHIPPED / "test.tsv").read_text(encoding="utf-8").splitlines()
    texts = [*[line.split("\t")[0] for line in lines[::50]], "e\u0301te\u0301  x", "Äß 😀 中", ""]
    spy = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], {}, '__main__')"
    spy += "; assert not {'transformer_tf', 'keras', 'tensorflow'} & set(sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", spy, str(EXAMPLE), "model", *texts, LONG],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    found = result.stdout.splitlines()
    greedy = ("decoding.beam_size=1", "decoding.split_sentences=false")
    translator = Translator.load(SHIPPED, greedy)
    translator.placeholders = None  # the example has none
    kept = translator.source_tokenizer.encode(LONG)[: translator.max_source_length]
    expected = translator.translate([*texts, translator.source_tokenizer.decode(kept)])
    assert len(set(expected)) > 38
    same = [ours == theirs for ours, theirs in zip(expected, found, strict=True)]
    plain = len(lines[::50])
    assert all(same[plain:]), list(zip(expected, found, strict=True))[plain:]
    # Another engine rounds otherwise: where two words are almost as likely, either may be said.
    assert sum(same[:plain]) >= plain - 1


def test_an_export_is_not_a_checkpoint(exported):
    with pytest.raises(CheckpointError, match="exported for ONNX"):
        load_checkpoint(exported)

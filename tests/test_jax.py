"""Checkpoints and training under JAX. With `check.sh --all` the model's tests run under it, too."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("jax") is None, reason='needs JAX: pip install -e ".[jax]"'
    ),
    pytest.mark.skipif(
        os.environ.get("KERAS_BACKEND") == "jax", reason="these tests run under JAX already"
    ),
]


def run(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=550,
        cwd=ROOT,
        env={**os.environ, "KERAS_BACKEND": "jax"},
    )


@pytest.mark.slow
def test_a_checkpoint_gives_the_same_logits_and_hypotheses_under_jax(checkpoint, tmp_path):
    from transformer_tf.translator import Translator

    translator = Translator.load(checkpoint, engine="keras")
    source = [translator.source_tokenizer.encode_sentence("I see 3 red cars.")]
    target = [translator.target_tokenizer.encode_sentence("Ich sehe 3 rote Autos.")]
    inputs = {"source": np.array(source), "target_input": np.array(target)}
    np.savez(tmp_path / "inputs.npz", **inputs)
    sentences = [f"I see {n} red cars." for n in range(40)]
    code = (
        "import sys, json, numpy as np, keras; from transformer_tf.translator import Translator\n"
        "assert keras.backend.backend() == 'jax'\n"
        "folder, file, sentences = sys.argv[1:]\n"
        "t = Translator.load(folder, engine='keras'); inputs = dict(np.load(file))\n"
        "np.save(file + '.npy', np.asarray(t.engine.model(inputs)))\n"
        "found = t.search(json.loads(sentences))\n"
        "print(json.dumps([[[h.tokens, h.log_prob] for h in row] for row in found]))"
    )
    result = run("-c", code, checkpoint, tmp_path / "inputs.npz", json.dumps(sentences))
    assert result.returncode == 0, result.stderr
    logits = np.load(tmp_path / "inputs.npz.npy")
    np.testing.assert_allclose(logits, translator.engine.model(inputs), atol=1e-4)
    found = json.loads(result.stdout)
    for ours, theirs in zip(translator.search(sentences), found, strict=True):
        assert [translation.tokens for translation in ours] == [row[0] for row in theirs]
        log_probs = [translation.log_prob for translation in ours]
        np.testing.assert_allclose(log_probs, [row[1] for row in theirs], atol=1e-3)


@pytest.mark.slow
def test_compiled_programs_are_kept_for_the_next_process(checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_TF_CACHE", str(tmp_path))
    code = (
        "import sys; from transformer_tf.utils.startup import import_keras_quietly\n"
        "import_keras_quietly()\n"
        "from transformer_tf.translator import Translator\n"
        "print(Translator.load(sys.argv[1], engine='keras').translate('A tree.'))"
    )

    def searches():
        # JAX keeps small programs, too, if the machine was slow to compile them.
        names = [path.name for path in (tmp_path / "jax").iterdir()]
        return {n for n in names if n.startswith("jit_with_weights") and n.endswith("-cache")}

    first = run("-c", code, checkpoint)
    kept = searches()
    assert kept
    second = run("-c", code, checkpoint)
    # JAX's cache may import TensorFlow, if it is installed, which writes its log to stderr.
    assert (second.stdout, second.returncode) == (first.stdout, 0)
    assert searches() == kept


@pytest.mark.slow
def test_a_run_without_tensorflow(tmp_path):
    """Training, validation, translation and attention where only JAX is installed."""
    code = (
        "import runpy, sys; sys.modules['tensorflow'] = sys.modules['tensorflow_text'] = None; "
        "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, ROOT / "scripts" / "train.py"]
        + ["data.held_out_size=9"]
        + ["tokenizer.vocab_size=400", "model.num_layers=1", "training.max_buckets=1"]
        + ["training.max_epochs=1", "training.max_steps=3", "--name", tmp_path / "run"],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"KERAS_BACKEND": "jax"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "run" / "attention.png").is_file()

"""The same layers, model, loss and training loop with the other back end."""

import importlib.util
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


def test_the_models_tests_pass_under_jax():
    result = run(
        *("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"),
        *("tests/layers", "tests/test_transformer.py", "tests/training/test_schedule.py"),
        *("tests/training/test_losses_and_metrics.py", "tests/training/test_copy_task.py"),
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-1000:]
    assert " passed" in result.stdout
    assert "skipped" not in result.stdout


def test_a_checkpoint_gives_the_same_logits_under_jax(checkpoint, tmp_path):
    from transformer_tf.translator import Translator

    translator = Translator.load(checkpoint)
    source = [translator.source_tokenizer.encode_sentence("I see 3 red cars.")]
    target = [translator.target_tokenizer.encode_sentence("Ich sehe 3 rote Autos.")]
    inputs = {"source": np.array(source), "target_input": np.array(target)}
    np.savez(tmp_path / "inputs.npz", **inputs)
    result = run(
        "-c",
        "import sys, numpy as np, keras; from transformer_tf.translator import Translator\n"
        "assert keras.backend.backend() == 'jax'\n"
        "folder, file = sys.argv[1:]\n"
        "t = Translator.load(folder); inputs = dict(np.load(file))\n"
        "np.save(file + '.npy', np.asarray(t.model(inputs)))\n"
        "print(t.translate(['I see 3 red cars.'])[0])",
        checkpoint,
        tmp_path / "inputs.npz",
    )
    assert result.returncode == 0, result.stderr
    logits = np.load(tmp_path / "inputs.npz.npy")
    np.testing.assert_allclose(logits, translator.model(inputs), atol=1e-4)
    assert result.stdout.strip() == translator.translate(["I see 3 red cars."])[0].strip()


def test_a_run_without_tensorflow(tmp_path):
    """Training, validation, translation and attention where only JAX is installed."""
    code = (
        "import runpy, sys; sys.modules['tensorflow'] = sys.modules['tensorflow_text'] = None; "
        "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, ROOT / "scripts" / "train.py"]
        + ["data.max_pairs=300", "data.validation_size=9", "data.test_size=9"]
        + ["tokenizer.vocab_size=400", "model.num_layers=1", "training.max_shapes=1"]
        + ["training.max_epochs=1", "training.max_steps=3", f"training.directory={tmp_path}/run"],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"KERAS_BACKEND": "jax"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "run" / "attention.png").is_file()

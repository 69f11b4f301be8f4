"""What every export refuses, before it writes anything."""

import keras
import pytest

from transformer_tf.errors import CheckpointError, TransformerTFError

pytest.importorskip("tensorflow_text", reason="python -m pip install tensorflow-text")
pytest.importorskip("tf2onnx", reason='pip install ".[onnx]"')

from transformer_tf.export.onnx import export_onnx  # noqa: E402
from transformer_tf.export.saved_model import export_saved_model  # noqa: E402

if keras.backend.backend() != "tensorflow":
    pytest.skip("needs the TensorFlow backend", allow_module_level=True)

EXPORTS = pytest.mark.parametrize("export", [export_saved_model, export_onnx])


@EXPORTS
def test_another_folder_is_left_alone(checkpoint, tmp_path, export):
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(CheckpointError, match=str(tmp_path)):
        export(checkpoint, tmp_path)
    assert (tmp_path / "mine").read_text() == "kept"


@EXPORTS
def test_another_backend(checkpoint, tmp_path, monkeypatch, export):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(TransformerTFError, match="KERAS_BACKEND"):
        export(checkpoint, tmp_path / "model")
    assert not (tmp_path / "model").exists()

import gzip
import json
import shutil
import struct
import subprocess

import numpy as np
import pytest
import sentencepiece

from tests.conftest import ENGLISH
from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.errors import CheckpointError
from transformer_tf.export.web.pack import pack_checkpoint, tokenizer_header
from transformer_tf.export.web.site import FILES
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.weights import quantize


def read_pack(pack):
    content = gzip.decompress(pack)
    (length,) = struct.unpack_from("<I", content)
    header = json.loads(content[4 : 4 + length])

    def tensor(name):
        entry = header["tensors"][name]
        size = entry["rows"] * entry["stride"]
        values = np.frombuffer(content, entry["type"], size, 4 + length + entry["offset"])
        return values.reshape(entry["rows"], entry["stride"])

    return header, tensor


def test_rows_come_back_within_half_a_step(random):
    matrix = random.normal(size=(5, 7)).astype("float32")
    matrix[3] = 0
    steps, scales = quantize(matrix)
    assert steps.dtype == np.int8
    assert np.abs(steps).max(axis=1).tolist() == [127, 127, 127, 0, 127]
    error = np.abs(steps * scales - matrix)
    assert (error <= scales / 2 + 1e-7).all()


def test_float16_matrices_are_the_models(checkpoint):
    header, tensor = read_pack(pack_checkpoint(checkpoint, "float16"))
    _, model, _, _ = load_checkpoint(checkpoint)
    kernel = np.asarray(model.decoder.layers[1].cross_attention.query_projection.kernel)
    stored = tensor("decoder/layer_2/cross_attention/query_projection/kernel")
    np.testing.assert_array_equal(stored[:, : kernel.shape[0]], kernel.T.astype("float16"))
    assert not stored[:, kernel.shape[0] :].any()
    assert header["tensors"]["decoder/layer_2/feed_forward/hidden/kernel"]["stride"] % 16 == 0
    assert (header["model"]["num_layers"], header["model"]["num_decoder_layers"]) == (2, 2)


def test_the_same_checkpoint_makes_the_same_pack(checkpoint):
    assert pack_checkpoint(checkpoint) == pack_checkpoint(checkpoint)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"normalization_rule_name": "nmt_nfkc"}, "normalizes text"),
        ({"model_type": "unigram"}, "is no BPE model"),
        ({"byte_fallback": False}, "has no pieces for bytes"),
    ],
)
def test_other_tokenizers_are_refused(tmp_path, options, reason):
    path = tmp_path / "source.model"
    settings = {
        **{"model_type": "bpe", "vocab_size": 310, "byte_fallback": True, "minloglevel": 2},
        **{"normalization_rule_name": "identity", "hard_vocab_limit": False, **options},
    }
    if not settings["byte_fallback"]:
        settings["vocab_size"] = 60
    with path.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(ENGLISH), model_writer=file, **settings
        )
    Tokenizer(path).save(path)
    with pytest.raises(CheckpointError) as caught:
        tokenizer_header(Tokenizer.load(path))
    assert str(caught.value).endswith(reason)
    assert "\n" not in str(caught.value)


def test_a_tokenizer_with_further_rules_is_refused(tmp_path):
    path, rules = tmp_path / "source.model", tmp_path / "rules.tsv"
    rules.write_text("A1\tA1 20\nBF\tBF 20\nFB01\t66 69\n")  # "ﬁ" becomes "fi"
    with path.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(ENGLISH),
            model_writer=file,
            model_type="bpe",
            vocab_size=310,
            byte_fallback=True,
            normalization_rule_tsv=str(rules),
            minloglevel=2,
        )
    tokenizer = Tokenizer(path)
    assert tokenizer.space_after_opening_marks
    with pytest.raises(CheckpointError, match="normalizes text$"):
        tokenizer_header(tokenizer)


def test_a_lower_casing_tokenizer_is_refused(checkpoint):
    tokenizer = Tokenizer(checkpoint / "tokenizers" / "source.model", lowercase=True)
    with pytest.raises(CheckpointError, match="lower-cases$"):
        tokenizer_header(tokenizer)


def test_the_kernel_is_its_text(tmp_path):
    compiler = shutil.which("wat2wasm")
    if compiler is None:
        pytest.skip("wat2wasm is not installed (Debian: wabt)")
    subprocess.run(
        [compiler, FILES / "engine" / "kernel.wat", "-o", tmp_path / "kernel.wasm"], check=True
    )
    assert (tmp_path / "kernel.wasm").read_bytes() == (
        FILES / "engine" / "kernel.wasm"
    ).read_bytes()

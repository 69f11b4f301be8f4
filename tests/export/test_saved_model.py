"""The SavedModel in a process that has TensorFlow and TensorFlow Text and nothing of ours."""

import json
import subprocess
import sys

import keras
import numpy as np
import pytest

from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.translator import Translator

tf = pytest.importorskip("tensorflow", reason="a SavedModel is TensorFlow's")
pytest.importorskip("tensorflow_text", reason="python -m pip install tensorflow-text")

from transformer_tf.export.saved_model import SubWords, export_saved_model  # noqa: E402

if keras.backend.backend() != "tensorflow":
    pytest.skip("needs the TensorFlow backend", allow_module_level=True)

SENTENCES = [f"I see {n} red {thing}." for n in range(2, 33) for thing in ("cars", "house", "tree")]
STRANGE = [
    "",
    "   ",
    "A TREE. 3 RED CARS!",
    "NATO",
    "HTML CSS.",
    "STOP!",
    "I?",
    "3 + 4 = 7!",
    "I LOVE YOU",
    "Äß 😀 中",
    "a\u00adb\ufeff \x00c\x1fd\u3000e\u2028f\tg\u0085h",
    "e\u0301te\u0301",
    "i see 3",
    "彼はCDを買った。",
    "CD أنا أحب",
    "\u200d \u200c",
]
LONG = "tree " * 100  # of at most 30 sub-words

# What somebody else would write; the tests read its answers.
SCRIPT = """
import json, sys
import numpy as np
import tensorflow as tf
import tensorflow_text

folder, texts = json.loads(sys.stdin.read())
signatures = tf.saved_model.load(folder).signatures
found = signatures["serving_default"](text=tf.constant(texts, tf.string))
one = signatures["serving_default"](text=tf.constant(texts[:1]))
none = signatures["serving_default"](text=tf.constant([], tf.string))
attended = signatures["attend"](text=tf.constant(texts[:3]))
assert not [name for name in sys.modules if name.startswith("transformer_tf")]
print(json.dumps({
    "text": [text.decode() for text in found["text"].numpy()],
    "score": found["score"].numpy().tolist(),
    "truncated": found["truncated"].numpy().tolist(),
    "one": one["text"].numpy()[0].decode(),
    "none": none["text"].shape.as_list(),
    "attend": {
        name: [label.decode() for label in value.numpy().ravel()] if value.dtype == tf.string
        else value.numpy().tolist() for name, value in attended.items()
    },
}))
"""


@pytest.fixture(scope="module")
def exported(decided, tmp_path_factory):
    """A translator, and what the SavedModel of it says in a process of its own."""
    folder = tmp_path_factory.mktemp("saved") / "model"
    export_saved_model(decided, folder)
    texts = [*SENTENCES, *STRANGE, LONG]
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps([str(folder), texts]),
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder.parent,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return Translator.load(decided), json.loads(result.stdout.splitlines()[-1])


def test_the_same_translations(exported):
    translator, found = exported
    texts = [*SENTENCES, *STRANGE]
    expected = [best for (best,) in translator.search(texts)]
    assert len({best.text for best in expected}) >= 3
    assert found["text"][: len(texts)] == [best.text for best in expected]
    scores = [best.score for best in expected]
    assert found["score"][: len(texts)] == pytest.approx(scores, abs=1e-3)
    german = {"Ich", "sehe", "rote", "Autos", "Häuser", "Bäume"}
    said = {word for text in found["text"] for word in text.split() if len(word) >= 3}
    assert any(word.startswith(start) for word in german for start in said)
    assert found["one"] == found["text"][0]
    assert found["none"] == [0]


def test_long_texts_are_truncated_and_flagged(exported):
    translator, found = exported
    assert found["truncated"] == [False] * (len(SENTENCES) + len(STRANGE)) + [True]
    limit = translator.max_source_length
    kept = translator.source_tokenizer.encode(LONG)[:limit]
    assert found["text"][-1] == translator.translate(translator.source_tokenizer.decode(kept))


def test_the_same_attention(exported):
    translator, found = exported
    attended = found["attend"]
    for row, text in enumerate(SENTENCES[:3]):
        expected = translator.attend(text)
        for kind, scores in expected.scores.items():
            _, _, queries, keys = scores.shape
            ours = np.array(attended[kind][row])[:, :, :queries, :keys]
            np.testing.assert_allclose(ours, scores, atol=1e-4)
        said = ["<start>", *expected.target_output_tokens]
        for name, tokens in (("source_tokens", expected.source_tokens), ("target_tokens", said)):
            width = len(attended[name]) // 3
            ours = attended[name][row * width : (row + 1) * width]
            assert ours == tokens + [""] * (width - len(tokens))


@pytest.mark.parametrize("lowercase", [False, True])
def test_sub_words_are_those_of_the_tokenizer(checkpoint, lowercase):
    tokenizer = Tokenizer(checkpoint / "tokenizers" / "source.model", lowercase=lowercase)
    words = SubWords(tokenizer)
    texts = [*SENTENCES[:9], "A TREE", "25 cats", "٣ ３ cats", "Äß 😀", "¡¿Red cars? ¡ see"]
    expected = [tokenizer.encode(text) for text in texts]
    assert words.encode(tf.constant(texts)).to_list() == expected
    zeros = tokenizer.encode("00 cats")
    assert (tokenizer.encode("25 cats") == zeros) == lowercase
    special = [tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id]
    ids = [[*special[1:], *expected[0], *special], expected[-1]]
    found = words.decode(tf.ragged.constant(ids)).numpy()
    assert [text.decode() for text in found] == [tokenizer.decode(row) for row in ids]


def test_labels_after_opening_marks_are_those_of_the_tokenizer(tmp_path):
    spanish = ["¡Hola! ¿Un coche?"] * 9
    tokenizer = Tokenizer.train([*SENTENCES, *spanish], 330, tmp_path / "es.model")
    assert tokenizer.space_after_opening_marks
    words = SubWords(tokenizer)
    ids = [tokenizer.encode(text) for text in ("¡Hola ¿¡Un coche", "car", "¿", "¡xyz")]
    assert words.encode(tf.constant(["¡Hola ¿¡Un coche"])).to_list() == ids[:1]
    found = words.tokens(tf.ragged.constant(ids)).numpy()
    for row, expected in zip(found, ids, strict=True):
        labels = [label.decode() for label in row[: len(expected)]]
        assert labels == tokenizer.tokens(expected)
    texts = words.decode(tf.ragged.constant(ids)).numpy()
    assert [text.decode() for text in texts] == [tokenizer.decode(row) for row in ids]

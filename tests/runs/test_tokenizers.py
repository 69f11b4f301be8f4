from types import SimpleNamespace

from tests.conftest import configure
from transformer_tf.runs.tokenizers import make_tokenizers

PAIRS = [(f"I see {word} trees.", f"Ich sehe {word} Bäume.") for word in ("old", "new", "red")] * 20


def test_only_the_source_of_a_shared_vocabulary_has_known_words(data, tmp_path):
    config = configure(
        "tokenizer.shared=true", "data.placeholders=true", "tokenizer.vocab_size=auto"
    )
    corpus = SimpleNamespace(train=PAIRS)
    source, target = make_tokenizers(config.tokenizer, config.data, corpus, tmp_path)
    assert {"trees", "red"} <= source.known_words
    assert target.known_words is None
    assert target.encode("Bäume") == source.encode("Bäume")

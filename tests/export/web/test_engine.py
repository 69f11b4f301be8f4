"""The engine of the page beside the Keras model, in a real browser."""

from pathlib import Path

import keras
import numpy as np
import pytest

from transformer_tf.checkpoint import (
    LAST_WEIGHTS,
    build_model,
    load_checkpoint,
    save_checkpoint,
    save_weights,
)
from transformer_tf.config import load_config
from transformer_tf.export.web.pack import pack_checkpoint
from transformer_tf.text.normalization import normalize_text
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.translator import Translator
from transformer_tf.weights import quantize

SHIPPED = Path(__file__).parents[3] / "checkpoints" / "en-de"
ODD_TEXTS = [
    *("", " ", "  two   spaces  ", "Zürich, 25 °C", "😀 emoji 👩‍👩‍👧 family", "don’t", "İstanbul"),
    *("▁ mark ▁▁ itself", "a ▁", " ▁ ", "<s> </s> <unk> <0x41>", "日本語です。", "\u200b"),
    *("tabs\tand\nlines", "ffi ﬃ ligature", "A" * 300, "1234567890", "שלום עולם", "e\u0301"),
]
CAPITALS = "I SEE 7 RED TREES."
SENTENCES = ["I see 2 red cars.", "I see 39 red houses.", "trees I see", "see", CAPITALS]
GERMAN = ["Ich sehe 2 rote Autos.", "Häuser sehe ich", "¡Häuser! ¿Autos?"]


def halve(model):
    """Rounds the weights as a float16 pack does."""
    model.set_weights(
        [w.astype("float16").astype("float32") if w.ndim > 1 else w for w in model.get_weights()]
    )


def make_checkpoint(folder, known_words=None, **options):
    """A checkpoint of a small model with large weights, whose choices no rounding changes."""
    sizes = {"num_layers": 2, "d_model": 24, "num_heads": 3, "d_ff": 40, **options}
    overrides = [f"model.{name}={str(value).lower()}" for name, value in sizes.items()]
    overrides += ["decoding.max_length=12", "data.max_length=30", "decoding.beam_size=4"]
    shared = options.get("tie_embeddings") == "all"
    overrides.append(f"data.placeholders={str(known_words is not None).lower()}")
    config = load_config(None, [*overrides, f"tokenizer.shared={str(shared).lower()}"])
    (folder / "tokenizers").mkdir(parents=True)
    texts = SENTENCES * 9 + (GERMAN if shared else [])
    source = Tokenizer.train(texts, 320, folder / "tokenizers" / "source.model")
    source.known_words = known_words
    target = source
    if not shared:
        target = Tokenizer.train(GERMAN, 315, folder / "tokenizers" / "target.model")
    save_checkpoint(folder, config, source, target)
    model = build_model(config, source, target)
    random = np.random.default_rng(5)
    model.set_weights([w + random.normal(0, 0.3, w.shape) for w in model.get_weights()])
    halve(model)
    save_weights(model, folder / LAST_WEIGHTS)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return make_checkpoint(tmp_path_factory.mktemp("small") / "small")


def assert_same_attention(found, expected):
    for kind, scores in expected.items():
        shape = scores.shape
        own = np.array(found["maps"][kind]["scores"], "float32").reshape(shape)
        np.testing.assert_allclose(own, scores, atol=1e-5, rtol=0)


def assert_same(ask, translator, texts, search, attention=True):
    """Translations, scores and attention of the page are those of the translator."""
    beam = 1 if search == "greedy" else translator.options.beam_size
    expected = translator.search(texts, beam_size=beam)
    for text, (translation,) in zip(texts, expected, strict=True):
        found = ask("translate", {"text": text, "search": search})
        assert found["text"] == translation.text
        assert found["score"] == pytest.approx(translation.score, abs=1e-4)
        assert found["logProb"] == pytest.approx(translation.log_prob, abs=2e-4)
        if attention:
            assert_same_attention(found, attend(translator, found, text))


def attend(translator, found, text):
    ids = [i for i in found["ids"] if i != translator.target_tokenizer.end_id]
    if translator.placeholders:
        text, _ = translator.placeholders.mask(text)
    source = translator.source_tokenizer.encode_sentence(text)
    return translator.engine.attend([source], [[translator.target_tokenizer.start_id, *ids]])[0]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pre_norm": True, "tie_embeddings": "all"},
        {"position": "learned", "tie_embeddings": "target"},
    ],
    ids=["post-norm, untied", "pre-norm, one vocabulary", "learned positions, tied target"],
)
def test_every_kind_of_model(start_engine, tmp_path, options):
    folder = make_checkpoint(tmp_path / "small", **options)
    ask = start_engine(pack_checkpoint(folder, "float16"))
    translator = Translator.load(folder)
    texts = SENTENCES[:4]
    assert_same(ask, translator, texts, "greedy")
    assert_same(ask, translator, texts, "beam")
    assert ask("translate", {"text": CAPITALS})["text"] == translator.translate(
        CAPITALS, beam_size=1
    )


def test_the_first_tokens_can_be_forced(start_engine, small):
    ask = start_engine(pack_checkpoint(small, "float16"))
    translator = Translator.load(small)
    prefix = "Häuser"
    ids = translator.target_tokenizer.encode(prefix)
    for search, beam in ("greedy", 1), ("beam", 4):
        found = ask("translate", {"text": SENTENCES[0], "search": search, "prefix": ids})
        expected = translator.translate([SENTENCES[0]], prefixes=[prefix], beam_size=beam)
        assert found["ids"][: len(ids)] == ids
        assert [found["text"]] == expected


def test_opening_marks(start_engine, small):
    """The page reads a space after "¡" and "¿", and writes none."""
    ask = start_engine(pack_checkpoint(small, "float16"))
    translator = Translator.load(small)
    for prefix in "¡Häuser ¿Autos", "sehe ¡¿Ich", "¡":
        ids = translator.target_tokenizer.encode(prefix)
        found = ask("translate", {"text": SENTENCES[0], "prefix": ids})
        (translation,) = translator.translate([SENTENCES[0]], prefixes=[prefix], beam_size=1)
        assert found["text"] == translation
        assert translation.startswith(prefix)
        labels = found["maps"]["cross"]["queries"]
        assert labels[: len(found["ids"])] == translator.target_tokenizer.tokens(found["ids"])
        assert "".join(labels).replace("▁", " ").strip().startswith(prefix)
    byte = translator.target_tokenizer.processor.piece_to_id("<0xC3>")  # alone, no character
    (mark,) = translator.target_tokenizer.encode("¡")
    found = ask("translate", {"text": SENTENCES[0], "prefix": [mark, byte, ids[0]]})
    assert found["text"] == normalize_text(translator.target_tokenizer.decode(found["ids"]))


def test_plain_javascript_says_the_same(start_engine, small):
    for quantization in ("int8", "float16"):
        pack = pack_checkpoint(small, quantization)
        wasm, plain = start_engine(pack), start_engine(pack, plain=True)
        for text in SENTENCES:
            one, other = (ask("translate", {"text": text}) for ask in (wasm, plain))
            assert one["ids"] == other["ids"]
            np.testing.assert_allclose(
                one["maps"]["cross"]["scores"], other["maps"]["cross"]["scores"], atol=1e-5
            )


def test_padding_does_not_count_for_the_length_of_a_translation(start_engine, small):
    ask = start_engine(pack_checkpoint(small, "float16"))
    request = {"text": SENTENCES[0], "settings": {"max_length": 100}}
    for search in ("greedy", "beam"):
        ids, padded = (
            ask("translate", {**request, "search": search, "padding": padding})["ids"]
            for padding in (0, 16)
        )
        assert padded == ids


def test_draws_depend_on_their_seed(start_engine, small):
    ask = start_engine(pack_checkpoint(small))

    def draw(**settings):
        texts = ask("draws", {"text": SENTENCES[0], "seeds": [1, 2, 3, 4], "settings": settings})
        return [found["text"] for found in texts]

    hot = draw(temperature=1.5)
    assert len(set(hot)) > 1
    assert draw(temperature=1.5) == hot
    greedy = ask("translate", {"text": SENTENCES[0]})["text"]
    assert draw(temperature=1.5, top_k=1) == [greedy] * 4
    assert draw(temperature=1.5, top_p=1e-9) == [greedy] * 4
    assert draw(temperature=1e-3) == [greedy] * 4


def test_a_source_with_opening_marks(start_engine, tmp_path):
    folder = make_checkpoint(tmp_path / "small", tie_embeddings="all")
    tokenizer = Tokenizer.load(folder / "tokenizers" / "source.model")
    assert tokenizer.space_after_opening_marks
    texts = ["¡see! ¿I?", "a¡b", "¡ see", "¡", "¿¡", "see ¡", "(¡see!)", " ¿  see"]
    ask = start_engine(pack_checkpoint(folder, "float16"))
    assert ask("encode", texts) == [tokenizer.encode(text) for text in texts]


def test_symbols_of_one_character(start_engine, checkpoint):
    ask = start_engine(pack_checkpoint(checkpoint))
    tokenizer = Tokenizer.load(checkpoint / "tokenizers" / "source.model")
    texts = ["I see \ue000 red cars.", "\ue00f\ue000", "see\ue001red", "tr \ue0ff ee"]
    assert ask("encode", texts) == [tokenizer.encode(text) for text in texts]


def test_placeholders(start_engine, tmp_path):
    """The page masks the same values as Python, and puts them back into text and tokens."""
    folder = make_checkpoint(tmp_path / "small", known_words=frozenset(["i", "see", "in", "and"]))
    ask = start_engine(pack_checkpoint(folder, "float16"))
    translator = Translator.load(folder)
    texts = [
        *("I see 39 red houses.", "I see $1,234.50 at 7:30.", "I see Ulm and Bonn.", "In Ulm."),
        *("I see www.a.com/b and a.b@c-d.org!", "At 11:30pm I see 555-1234.", "I see 3 trees."),
        *("$200-300k, not 5 thousand", "8 billion and -2.5 k, $1 million"),
    ]
    for text in texts:
        for search, beam in ("greedy", 1), ("beam", 4):
            found = ask("translate", {"text": text, "search": search})
            assert found["text"] == translator.translate(text, beam_size=beam)
        attention = translator.attend(text)
        assert found["maps"]["cross"]["keys"] == attention.source_tokens
        assert found["maps"]["cross"]["queries"] == attention.target_output_tokens


@pytest.fixture(scope="module")
def shipped(start_engine):
    """The shipped checkpoint, in the 8 bits in which it is stored, in the page and in NumPy."""
    ask = start_engine(pack_checkpoint(SHIPPED, "int8"))
    return ask, Translator.load(SHIPPED, engine="numpy")


def sentences(count):
    lines = (SHIPPED / "test.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[0] for line in lines[:count]]


@pytest.mark.slow
def test_the_tokenizer_on_twenty_thousand_lines(shipped):
    ask, translator = shipped
    tokenizer = translator.source_tokenizer
    texts = [
        text
        for name in ("test.tsv", "validation.tsv")
        for line in (SHIPPED / name).read_text(encoding="utf-8").splitlines()
        for text in line.split("\t")[:2]
    ]
    random = np.random.default_rng(0)
    letters = [chr(code) for code in (*range(32, 0x180), 0x2581, *range(0x1F600, 0x1F620))]
    while len(texts) < 20_000:  # the same lines with letters exchanged, as in other languages
        text = list(texts[random.integers(len(texts))])
        for place in random.integers(len(text), size=1 + len(text) // 8):
            text[place] = letters[random.integers(len(letters))]
        texts.append("".join(text))
    texts += ODD_TEXTS
    expected = [ids[1:-1] for ids in tokenizer.encode_sentences(texts)]
    assert ask("encode", texts) == expected


@pytest.mark.slow
def test_the_shipped_model(shipped):
    ask, translator = shipped
    assert_same(ask, translator, sentences(200), "beam", attention=False)
    assert_same(ask, translator, sentences(25), "greedy")


@pytest.mark.slow
def test_eight_bits_are_the_model_with_dequantised_weights(start_engine):
    config, model, source, target = load_checkpoint(SHIPPED)
    for variable in model.trainable_variables:
        if len(variable.shape) == 2:
            value = keras.ops.convert_to_numpy(variable)
            rows = value if variable.path.endswith("embeddings") else value.T
            steps, scales = quantize(rows)
            rounded = steps.astype("float32") * scales
            variable.assign(rounded if variable.path.endswith("embeddings") else rounded.T)
    translator = Translator.from_model(model, config, source, target)
    ask = start_engine(pack_checkpoint(SHIPPED, "int8"))
    assert_same(ask, translator, sentences(40), "beam")

import numpy as np
import pytest

from tests.conftest import ENGLISH, GERMAN
from transformer_tf.alignment import attention_of_words, link_words
from transformer_tf.config import DecodingConfig
from transformer_tf.errors import ConfigError, TransformerTFError
from transformer_tf.hypothesis import Hypothesis
from transformer_tf.text.sentences import split_sentences
from transformer_tf.text.tokenizer import Tokenizer
from transformer_tf.translator import Translator, _first_words


@pytest.fixture(scope="module")
def translator(checkpoint):
    return Translator.load(checkpoint)


SENTENCES = ["I see 3 red cars.", "", "A tree.", "   ", "I see 25 houses. 😀 中文", "\x00\ufeff"]


def test_a_batch_gives_what_single_sentences_give(translator):
    together = translator.translate(SENTENCES)
    assert together == [translator.translate([s])[0] for s in SENTENCES]
    assert translator.translate(SENTENCES, batch_size=1) == together


def test_nothing_to_translate_stays_nothing(translator):
    translations = translator.translate(SENTENCES)
    assert [bool(t) for t in translations] == [True, False, True, False, True, False]
    assert translator.translate([]) == []


def test_a_sentence_has_a_translation_and_a_list_has_a_list(translator):
    one = translator.translate("A tree.")
    assert isinstance(one, str)
    assert translator.translate(["A tree."]) == [one]
    both = translator.translate("A tree.", beam_size=3, n_best=2)
    assert len(both) == 2
    assert translator.translate(["A tree.", ""], beam_size=3, n_best=2) == [both, [""]]
    with pytest.raises(TypeError, match="Received: 'abc'"):
        translator.search("abc")
    with pytest.raises(ConfigError, match="decoding.n_best must be at most"):
        translator.translate("A tree.", n_best=2)


def test_long_text_is_cut_at_sentences_then_at_words(translator):
    text = " ".join(f"I see {n} red cars." for n in range(50))
    parts = translator.split(text)
    assert len(parts) == 50  # too long as one, so every sentence by itself
    assert " ".join(parts) == text
    words = " ".join(["tree"] * 2000)
    parts = translator.split(words)
    assert " ".join(parts) == words
    assert all(len(translator.source_tokenizer.encode(part)) <= 30 for part in parts)
    cuts = []
    translator.translate(["A tree.", text], on_cut=lambda *cut: cuts.append(cut))
    assert cuts == [(text, 50)]


def test_one_endless_word(translator):
    cuts = []
    said = translator.translate(["x" * 5000], on_cut=lambda *cut: cuts.append(cut))
    assert len(said) == 1
    parts = translator.split("x" * 5000)
    assert "".join(parts) == "x" * 5000
    assert cuts == [("x" * 5000, len(parts))]
    assert all(len(translator.source_tokenizer.encode(part)) <= 30 for part in parts)


def test_a_translation_is_one_line(translator, monkeypatch):
    tokenizer = translator.target_tokenizer
    newline = tokenizer.bpemb.spm.piece_to_id("<0x0A>")
    letter = tokenizer.bpemb.spm.piece_to_id("<0x41>")
    found = [Hypothesis([letter, newline, letter])]
    monkeypatch.setattr(translator.engine, "search", lambda sources, *_: [found] * len(sources))
    assert translator.translate(["A tree."]) == ["A A"]


def test_attend_fits_its_labels(translator):
    attention = translator.attend(" I see  3 red cars. ")
    assert attention.source == "I see 3 red cars."
    assert attention.translation == translator.translate(["I see 3 red cars."])[0]
    assert attention.source_tokens[0] == attention.target_input_tokens[0] == "<start>"
    assert attention.source_tokens[-1] == attention.target_output_tokens[-1] == "<end>"
    assert attention.target_input_tokens[1:] == attention.target_output_tokens[:-1]
    for kind, scores in attention.scores.items():
        queries, keys = attention.tokens(kind)
        assert scores.shape == (2, 2, len(queries), len(keys))
        np.testing.assert_allclose(scores.sum(-1), 1, atol=1e-5)


def test_attend_needs_one_sentence(translator):
    with pytest.raises(TransformerTFError, match="empty sentence"):
        translator.attend("  ")
    with pytest.raises(TransformerTFError, match="at most 30 sub-words"):
        translator.attend("tree " * 100)


def test_an_unknown_word_is_written_as_in_the_source(tmp_path):
    """With tokenizers that know no bytes, as the official ones."""
    source = without_bytes(ENGLISH, tmp_path / "source.model")
    target = without_bytes(GERMAN, tmp_path / "target.model")
    text = "I see Ω cars."
    ids = source.encode_sentence(text)
    assert ids.count(source.unk_id) == 1
    omega = ids.index(source.unk_id)
    said = target.encode("Ich sehe ⊕ Autos.")

    class Scripted:
        def search(self, sources, options, *_):
            return [[Hypothesis(said)] for _ in sources]

        def attend(self, sources, target_inputs):
            scores = np.full((1, 2, len(target_inputs[0]), len(sources[0])), 0.01)
            scores[:, :, said.index(target.unk_id), omega] = 0.9
            scores[:, :, :, 0] = 1.0  # start, which nobody means
            return [{"cross": scores}]

    translator = Translator(Scripted(), source, target)
    assert "⁇" in translator.translate(text)
    assert translator.translate(text, replace_unknowns=True) == "Ich sehe Ω Autos."


def without_bytes(sentences, path):
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences * 5), model_prefix=str(path.with_suffix("")),
        model_type="bpe", vocab_size=60, unk_id=0, bos_id=1, eos_id=2, pad_id=-1, minloglevel=2,
        character_coverage=1.0, normalization_rule_name="identity",
    )  # fmt: skip
    return Tokenizer(path)


def test_prefixes(translator):
    sentences, prefixes = ["A tree.", "", "I see 3 red cars."], ["Ein", "Ein", ""]
    found = translator.translate(sentences, prefixes=prefixes)
    assert found[0].startswith("Ein")
    assert found[1] == ""
    assert found[2] == translator.translate(sentences[2])
    with pytest.raises(ConfigError, match="decoding.precision is chosen when"):
        translator.translate("A tree.", precision="mixed_float16")
    with pytest.raises(ValueError, match="Received: 1 texts, 2 prefixes"):
        translator.translate(["A tree."], prefixes=["", ""])


def test_alignments_link_words_of_the_text(translator):
    texts = [
        "I see 3 red cars.",
        "",
        " ".join(f"I see {n} red cars." for n in range(20)),
        "A tree.",
    ]
    found = translator.search(texts, alignment=True, beam_size=3, n_best=2)
    for text, hypotheses in zip(texts, found, strict=True):
        for translation in hypotheses:
            targets = [target for _, target in translation.alignment]
            assert len(set(targets)) == len(targets)
            # This model, which learned nothing, says control characters that no text keeps.
            assert set(targets) <= set(range(len(translation.text.split())))
            assert all(0 <= source < len(text.split()) for source, _ in translation.alignment)
    assert found[1][0].alignment == []
    assert translator.search(["A tree."])[0][0].alignment is None


def test_an_alignment_is_the_attention_of_one_sentence(translator):
    """A batch gives what the scores of the single sentence give."""
    text = "I see 3 red cars."
    layer, heads = 2, (1,)
    found = translator.search(
        ["A tree.", text], alignment=True, alignment_layer=layer, alignment_heads=heads
    )[1][0]
    attention = translator.attend(text)
    weights = attention_of_words(
        attention.scores["cross"][layer - 1, heads[0] - 1],
        attention.source_tokens,
        attention.target_output_tokens,
        "output",
    )
    words = len(found.text.split())
    assert found.alignment == [link for link in link_words(weights) if link[1] < words]


def test_a_shouted_sentence_is_translated_in_small_letters(translator):
    said = translator.translate(["I SEE 3 RED CARS.", "I see 3 red cars."])
    assert said[0] == translator.translate("I see 3 red cars.").upper() == said[1].upper()
    assert translator.attend("I SEE 3 RED CARS.").translation == said[0]
    assert translator.translate("I SEE 3 RED CARS.", recase=False) != said[0]
    assert translator.translate("USA") == translator.translate("USA", recase=False)
    for text in ("彼はCDを買った。", "我买了一件T恤衫", "그는 CD를 샀다.", "أنا أحب DVD"):
        assert translator.translate(text) == translator.translate(text, recase=False)


def test_a_shouted_sentence_is_measured_as_it_is_read(translator):
    """In capitals it has more sub-words than the model takes, in small letters fewer."""
    text = "I SEE 3 RED CARS AND A TREE."
    fits = len(translator.source_tokenizer.encode(text.capitalize()))
    short = Translator(
        translator.engine,
        translator.source_tokenizer,
        translator.target_tokenizer,
        translator.options,
        max_source_length=fits,
    )
    assert len(translator.source_tokenizer.encode(text)) > fits
    assert short.split(text) == [text.capitalize()]
    assert short.fits(text)
    assert short.attend(text).translation == short.translate(text)
    assert short.translate(text) == translator.translate(text)
    parts = translator.split("NO! GO AWAY NOW!", DecodingConfig(split_sentences=True))
    assert parts == ["No!", "Go away now!"]


def test_draws_of_maps_depend_on_the_number_of_the_sentence(translator, checkpoint):
    options = {"temperature": 1.0, "seed": 3}
    drawing = Translator.load(checkpoint, [f"decoding.{k}={v}" for k, v in options.items()])
    texts = ["A tree."] * 4
    said = drawing.translate(texts)
    assert len(set(said)) > 1
    assert [drawing.attend(text, n).translation for n, text in enumerate(texts)] == said


def test_a_long_prefix_is_kept_whole(translator):
    prefix = "Ich sehe drei rote Autos und einen Baum"
    length = len(translator.target_tokenizer.encode(prefix))
    options = {"max_length": 60, "max_length_ratio": 0.0}
    assert length > 10  # more than the translation of so short a sentence may have
    assert translator.translate(["A tree."], prefixes=[prefix], **options)[0].startswith(prefix)
    with pytest.raises(ConfigError, match="needs a larger decoding.max_length than 12"):
        translator.translate(["A tree."], prefixes=[prefix * 2])


def test_an_unknown_character_is_a_part_of_its_word(tmp_path):
    source = without_bytes(ENGLISH, tmp_path / "source.model")
    target = without_bytes(GERMAN, tmp_path / "target.model")

    class Alike:
        def attend(self, sources, target_inputs):
            shapes = [(2, 3, len(t), len(s)) for s, t in zip(sources, target_inputs, strict=True)]
            return [{"cross": np.ones(shape) / shape[-1]} for shape in shapes]

    translator = Translator(Alike(), source, target)
    text = "I see漢 3Ω red cars."
    ids = source.encode(text)
    assert ids.count(source.unk_id) == 2
    said = [*target.encode("Ich sehe"), target.unk_id, *target.encode("Autos.")]
    (words,) = translator.attend_words([text], [said], "output")
    assert words.shape == (2, 3, 4, 5)  # the unknown one is written with spaces around it
    (words,) = translator.attend_words([text], [said], "output", replace_unknowns=True)
    replaced = translator._looked_at(source.encode_sentence(text), said, text)
    assert replaced == ["▁I"]  # they look at all alike, so at the first
    assert words.shape == (2, 3, 4, 5)


def test_sentences_one_by_one(translator):
    text = "I see 3 red cars. A tree."
    whole, apart = (translator.translate(text, split_sentences=wanted) for wanted in (False, True))
    assert apart == " ".join(translator.translate(["I see 3 red cars.", "A tree."]))
    cuts = []
    translator.translate([text], on_cut=lambda *cut: cuts.append(cut), split_sentences=True)
    assert cuts == []  # nothing was too long


@pytest.mark.parametrize(
    ("text", "parts", "numbers"),
    [
        ("I see. A big tree.", ["I see.", "A big tree."], [0, 2]),
        ("これはペンです。あれは本です。", ["これはペンです。", "あれは本です。"], [0, 0]),
        ("Tom: これ。あれ。 Ja.", ["Tom: これ。", "あれ。", "Ja."], [0, 1, 2]),
        ("A 。b。 C.", ["A 。", "b。", "C."], [0, 1, 2]),
        ("", [], []),
    ],
)
def test_parts_begin_with_a_word_or_within_one(text, parts, numbers):
    assert _first_words(text, parts) == numbers
    assert split_sentences(text) == parts


def test_alignments_of_text_without_spaces(translator):
    """Its one word is all that there is to link to."""
    found = translator.search(["見る。" * 3], alignment=True, split_sentences=True)[0][0]
    assert len(found.text.split()) > 1
    assert {source for source, _ in found.alignment} == {0}

import copy
import dataclasses
import shutil

import numpy as np
import pytest

from tests.conftest import ENGLISH, GERMAN
from transformer_tf.attention_maps.alignments import AlignmentHeads, align_words
from transformer_tf.config import DecodingConfig
from transformer_tf.decoding.hypothesis import Hypothesis
from transformer_tf.errors import CheckpointError, ConfigError, TransformerTFError
from transformer_tf.text.slots import Slots
from transformer_tf.text.symbols import SLOTS
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.translator import Translator


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


@pytest.mark.parametrize(
    ("texts", "options", "error", "message"),
    [
        (None, {}, TypeError, "`texts` must be a string or a list of strings. Received: None"),
        (["a", 3], {}, TypeError, r"`texts\[1\]` must be a string. Received: 3"),
        ("a", {"prefixes": "b"}, TypeError, "`prefixes` must be a list of strings. Received: 'b'"),
        ("a", {"prefixes": ["", ""]}, ValueError, "Received: 1 texts, 2 prefixes"),
        ("a", {"beam": 3}, TypeError, "There is no option `beam`. Did you mean `beam_size`"),
        ("a", {"n_best": 2}, ConfigError, "decoding.n_best must be at most decoding.beam_size"),
        ("a", {"top_k": 5}, ConfigError, "decoding.top_k has no effect unless decoding.temperat"),
        ("a", {"precision": "mixed_float16"}, ConfigError, "decoding.precision cannot change"),
    ],
)
def test_a_wrong_argument_is_named(translator, texts, options, error, message):
    with pytest.raises(error, match=message):
        translator.translate(texts, **options)


def test_search_wants_a_list(translator):
    with pytest.raises(TypeError, match="`texts` must be a list of strings. Received: 'abc'"):
        translator.search("abc")


def test_no_checkpoint():
    with pytest.raises(CheckpointError, match="no/such/folder is not a checkpoint: there is no"):
        Translator.load("no/such/folder")


def test_repr(translator):
    engine = type(translator.engine).__name__
    assert repr(translator) == (
        f"Translator(engine={engine}, source_vocab_size={translator.source_tokenizer.vocab_size}, "
        f"target_vocab_size={translator.target_tokenizer.vocab_size}, beam_size=1)"
    )


def test_a_long_text_is_cut_into_segments(translator):
    cuts = []
    sentence, word = " ".join(["A tree."] * 20), "x" * 100
    said = translator.translate(["A tree.", sentence, word], on_cut=lambda *cut: cuts.append(cut))
    assert cuts[0] == (sentence, 20)  # too long as one text, so every sentence by itself
    assert cuts[1][0] == word
    assert said[1] == " ".join(said[:1] * 20)
    assert not translator.fits(sentence)
    assert translator.fits("A tree.")


def test_a_translation_is_one_line(translator, monkeypatch):
    tokenizer = translator.target_tokenizer
    newline = tokenizer.processor.piece_to_id("<0x0A>")
    letter = tokenizer.processor.piece_to_id("<0x41>")
    found = [Hypothesis([letter, newline, letter])]
    monkeypatch.setattr(translator.engine, "search", lambda sources, *_: [found] * len(sources))
    assert translator.translate(["A tree."]) == ["A A"]


def test_attention_has_the_languages_and_the_alignment_heads(translator):
    aligning = copy.copy(translator)
    aligning.options = translator.options.change(alignment_layer=2, alignment_heads=(1,))
    attention = aligning.attend("I see 3 red cars.")
    assert (attention.source_language, attention.target_language) == ("English", "German")
    assert attention.alignment_heads == [(1, 0)]


def test_attend_fits_its_labels(translator):
    attention = translator.attend(" I see  3 red cars. ")
    assert attention.source == "I see 3 red cars."
    assert (attention.source_language, attention.target_language) == ("English", "German")
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
    """The official BPEmb tokenizers cannot spell unknown characters in bytes, nor can these."""
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
            scores[:, :, :, 0] = 1.0  # start, which does not count
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
            # The untrained model produces control characters, which no text keeps.
            assert set(targets) <= set(range(len(translation.text.split())))
            assert all(0 <= source < len(text.split()) for source, _ in translation.alignment)
    assert found[1][0].alignment == []
    assert translator.search(["A tree."])[0][0].alignment is None


def test_an_alignment_is_the_attention_of_one_sentence(translator):
    """A batch and a single sentence give the same alignment."""
    text = "I see 3 red cars."
    layer, heads = 2, (1,)
    found = translator.search(
        ["A tree.", text], alignment=True, alignment_layer=layer, alignment_heads=heads
    )[1][0]
    attention = translator.attend(text)
    links = align_words(
        attention.scores["cross"],
        attention.source_tokens,
        attention.target_output_tokens,
        AlignmentHeads(layer, heads),
    )
    words = len(found.text.split())
    assert found.alignment == [link for link in links if link[1] < words]


def test_a_shouted_sentence_is_translated_in_lower_case(translator):
    shouted, acronyms = "I SEE 3 RED CARS.", "HTML CSS"
    said = translator.translate([shouted, "I see 3 red cars.", acronyms])
    assert said[0] == said[1].upper()
    assert translator.attend(shouted).translation == said[0]
    as_typed = translator.translate([shouted, acronyms], recase=False)
    assert as_typed[0] != said[0]
    assert as_typed[1] == said[2]


def test_a_prefix_of_a_shouted_sentence_is_read_in_lower_case(translator):
    texts = ["I SEE 3 RED CARS.", "I SEE 3 RED CARS.", "I see 3 red cars."]
    said = translator.translate(texts, prefixes=["ICH SEHE", "Ich sehe", "Ich sehe"])
    assert said[0] == said[2].upper()
    assert said[1] == "Ich sehe" + said[2].upper()[len("Ich sehe") :]


@pytest.mark.slow
def test_random_draws_depend_on_the_number_of_the_sentence(translator):
    sampling = copy.copy(translator)
    sampling.options = dataclasses.replace(translator.options, temperature=1.0, seed=3)
    texts = ["A tree."] * 4
    said = sampling.translate(texts)
    assert len(set(said)) > 1
    assert [sampling.attend(text, n).translation for n, text in enumerate(texts)] == said


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
    assert source.encode(text).count(source.unk_id) == 2
    said = [*target.encode("Ich sehe"), target.unk_id, *target.encode("Autos.")]
    (words,) = translator.attend_words([text], [said], "output")
    assert words.shape == (2, 3, 4, 5)  # the unknown one is written with spaces around it


def test_sentences_one_by_one(translator):
    text = "I see 3 red cars. A tree."
    whole, apart = (translator.translate(text, split_sentences=wanted) for wanted in (False, True))
    assert apart == " ".join(translator.translate(["I see 3 red cars.", "A tree."]))
    cuts = []
    translator.translate([text], on_cut=lambda *cut: cuts.append(cut), split_sentences=True)
    assert cuts == []  # nothing was too long


def test_alignments_of_text_without_spaces(translator):
    """A source without spaces is one word, so every link goes to it."""
    found = translator.search(["見る。" * 3], alignment=True, split_sentences=True)[0][0]
    assert len(found.text.split()) > 1
    assert {source for source, _ in found.alignment} == {0}


@pytest.fixture(scope="module")
def engines(checkpoint):
    names = ("keras", "numpy", "auto")
    return {name: Translator.load(checkpoint, engine=name) for name in names}


@pytest.mark.parametrize(
    "options",
    [{}, pytest.param({"beam_size": 3, "n_best": 2}, marks=pytest.mark.slow)],
    ids=str,
)
def test_engines_find_the_same(engines, options):
    texts = ["I see 3 red cars.", "", "I see a house. I see 2 trees."]
    expected = engines["keras"].search(texts, scores=True, **options)
    for name in ("numpy", "auto"):
        found = engines[name].search(texts, scores=True, **options)
        assert [[t.text for t in row] for row in found] == [
            [t.text for t in row] for row in expected
        ]
        for row, other in zip(found, expected, strict=True):
            for ours, theirs in zip(row, other, strict=True):
                assert ours.log_prob == pytest.approx(theirs.log_prob, abs=1e-4)


def test_engines_attend_alike(engines):
    expected = engines["keras"].attend("I see 3 red cars.")
    found = engines["auto"].attend("I see 3 red cars.")
    assert found.target_output_tokens == expected.target_output_tokens
    for kind, scores in expected.scores.items():
        np.testing.assert_allclose(found.scores[kind], scores, atol=1e-5)


@pytest.mark.slow
def test_auto_samples_as_keras_does(engines):
    sampled = [
        engines[name].translate("I see 3 cars.", temperature=0.9) for name in ("auto", "keras")
    ]
    assert sampled[0] == sampled[1]
    with pytest.raises(ConfigError, match="NumPy engine does not support decoding.temperature"):
        engines["numpy"].translate("I see 3 cars.", temperature=0.9)


def test_an_engine_that_does_not_exist_is_an_error(checkpoint):
    message = "engine must be one of auto, numpy, keras, ctranslate2, not torch"
    with pytest.raises(ConfigError, match=message):
        Translator.load(checkpoint, engine="torch")
    with pytest.raises(ConfigError, match="NumPy engine does not support decoding.precision=mixed"):
        Translator.load(checkpoint, ["decoding.precision=mixed_bfloat16"], engine="numpy")


def test_weights_of_another_model_are_an_error(checkpoint, tmp_path):
    folder = shutil.copytree(checkpoint, tmp_path / "other")
    config = (folder / "config.yaml").read_text()
    (folder / "config.yaml").write_text(config.replace("num_layers: 2", "num_layers: 3", 1))
    with pytest.raises(CheckpointError, match="belongs to another model"):
        Translator.load(folder)


class ListEngine:
    """Finds given hypotheses; the last search is kept in `options`."""

    def __init__(self, beam):
        self.beam = beam
        self.searched = []

    def search(self, sources, options, prefixes=None, progress=None, numbers=None):
        self.searched.append((len(sources), options.n_best))
        return [self.beam[: options.n_best] for _ in sources]


@pytest.fixture(scope="module")
def slot_tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer") / "source.model"
    return Tokenizer.train(["It costs many euros.", "Es kostet viele Euro."] * 9, 330, path)


@pytest.mark.parametrize(
    ("options", "text", "searched"),
    [
        ({}, "Es kostet 19,99 Euro.", [(2, 1), (1, 8)]),
        ({"check_slots": False}, "Es kostet viele Euro.", [(2, 1)]),
        ({"beam_size": 1}, "Es kostet viele Euro.", [(2, 1)]),
    ],
)
def test_a_hypothesis_that_loses_a_slot_loses_its_place(slot_tokenizer, options, text, searched):
    slot = SLOTS[0]
    beam = ["Es kostet viele Euro.", f"{slot} Euro {slot}.", f"Es kostet {slot} Euro.", "Euro."]
    engine = ListEngine([Hypothesis(slot_tokenizer.encode(each), -1.0, -1.0) for each in beam])
    settings = dataclasses.replace(DecodingConfig(beam_size=4), **options)
    translator = Translator(
        engine, slot_tokenizer, slot_tokenizer, settings, slots=Slots("en", "de")
    )
    plain = "Es kostet viele Euro."  # nothing to keep: the best hypothesis stays
    assert translator.translate(["It costs 19.99 euros.", "It costs many."]) == [text, plain]
    assert engine.searched == searched


def test_tokens_show_the_values_of_slots(slot_tokenizer):
    ids = slot_tokenizer.encode(f"Es kostet {SLOTS[0]} Euro.")
    translator = Translator(
        ListEngine([Hypothesis(ids, -1.0, -1.0)]),
        slot_tokenizer,
        slot_tokenizer,
        slots=Slots("en", "de"),
    )
    ((translation,),) = translator.search(["It costs 19.99 euros."])
    assert "19,99" in translation.tokens
    assert "".join(translation.tokens).replace("▁", " ").strip() == "Es kostet 19,99 Euro."

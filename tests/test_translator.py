import contextlib
import copy
import dataclasses
import shutil

import numpy as np
import pytest

from transformer_tf.attention_maps.alignments import align_words
from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.config import AlignmentHeads, DecodingConfig
from transformer_tf.decoding.hypothesis import Hypothesis
from transformer_tf.errors import CheckpointError, ConfigError, TransformerTFError
from transformer_tf.text.placeholders import Placeholders
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
    assert [bool(text) for text in together] == [True, False, True, False, True, False]
    assert translator.translate([]) == []


def test_a_sentence_has_a_translation_and_a_list_has_a_list(translator):
    one = translator.translate("A tree.")
    assert isinstance(one, str)
    assert translator.translate(["A tree."]) == [one]
    both = translator.translate("A tree.", beam_size=3, n_best=2)
    assert len(both) == 2
    assert translator.translate(["A tree.", ""], beam_size=3, n_best=2) == [both, [""]]


def test_translations_that_read_the_same_count_once(translator, monkeypatch):
    search = translator.engine.search
    monkeypatch.setattr(
        translator.engine, "search", lambda *a: [[one, two, one] for one, two, _ in search(*a)]
    )
    texts = translator.translate("A tree.", beam_size=3, n_best=3)
    assert len(texts) == len(set(texts)) == 2
    (found,) = translator.search(["A tree."], beam_size=3, n_best=3, alignment=True)
    assert [each.text for each in found] == texts
    assert found[0].alignment is not None


def test_equal_sentences_are_translated_once(translator, monkeypatch):
    searched, counts, search = [], [], translator.engine.search

    def counted(sources, *arguments):
        searched.extend(sources)
        return search(sources, *arguments)

    monkeypatch.setattr(translator.engine, "search", counted)
    monkeypatch.setattr(
        "transformer_tf.translator._progress_bar", lambda *_: contextlib.nullcontext(counts.append)
    )
    one, two = (translator.translate([text])[0] for text in ("A tree.", "I see it."))
    del searched[:], counts[:]
    prefixes = ["", "", "", "Ich"]
    texts = ["A tree.", "I see it.", "A tree.", "A tree."]
    assert translator.translate(texts, prefixes=prefixes)[:3] == [one, two, one]
    assert (len(searched), sum(counts)) == (3, 4)


@pytest.mark.parametrize(
    ("texts", "options", "error", "named"),
    [
        (None, {}, TypeError, "`texts`.*None"),
        (["a", 3], {}, TypeError, r"`texts\[1\]`.*3"),
        ("a", {"prefixes": "b"}, TypeError, "`prefixes`.*'b'"),
        ("a", {"prefixes": ["", ""]}, ValueError, "1 texts, 2 prefixes"),
        ("a", {"prefix": "b"}, TypeError, "'prefix'"),  # Python 3.13 adds: Did you mean 'prefixes'?
        ("a", {"n_best": 2}, ConfigError, "n_best"),
        ("a", {"n_best": "1"}, ConfigError, "n_best"),
        ("a", {"beam_size": "4"}, ConfigError, "decoding.beam_size"),
        ("a", {"max_length": 2.5}, ConfigError, "decoding.max_length"),
        ("a", {"max_length": 5, "prefixes": ["Ich sehe " * 9]}, ConfigError, "decoding.max_length"),
    ],
)
def test_errors_name_the_argument(translator, texts, options, error, named):
    with pytest.raises(error, match=named):
        translator.translate(texts, **options)


def test_search_and_attend_have_named_arguments(translator):
    with pytest.raises(TypeError, match="`texts`.*'abc'"):
        translator.search("abc")
    with pytest.raises(ConfigError, match="decoding.beam_size"):
        translator.attend("A tree.", beam_size="4")


@pytest.mark.parametrize(
    ("folder", "arguments", "named"),
    [
        ("no/such/folder", {}, "no/such/folder"),
        (".", {"engine": "torch"}, "engine.*torch"),
        (".", {"overrides": "decoding.beam_size"}, "decoding.beam_size"),
        (".", {"overrides": ["decoding.beam=4"]}, "decoding.beam_size"),
        (".", {"overrides": "model.d_model=4"}, "model.d_model"),
        ("..", {}, "tiny"),  # a folder of checkpoints: the error names those inside
    ],
)
def test_errors_of_load_name_their_cause(checkpoint, folder, arguments, named):
    with pytest.raises(TransformerTFError, match=named):
        Translator.load(checkpoint / folder, **arguments)


def test_a_long_text_is_cut_into_segments(translator):
    cuts = []
    sentence, word = " ".join(["A tree."] * 20), "x" * 100
    found = translator.search(["A tree.", sentence, word], on_cut=lambda *cut: cuts.append(cut))
    said = [best.text for best, *_ in found]
    assert cuts[0] == (sentence, 20)  # too long as one text, so every sentence by itself
    assert cuts[1][0] == word
    assert said[1] == " ".join(said[:1] * 20)
    assert not translator.fits(sentence)
    assert translator.fits("A tree.")


def test_a_translation_is_one_line(translator, monkeypatch):
    tokenizer = translator.target_tokenizer
    newline = tokenizer.processor.piece_to_id("<0x0A>")
    letter = tokenizer.processor.piece_to_id("<0x41>")
    found = [Hypothesis([letter, newline, letter], -1.0)]
    monkeypatch.setattr(translator.engine, "search", lambda sources, *_: [found] * len(sources))
    assert translator.translate(["A tree."]) == ["A A"]


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
    with pytest.raises(TransformerTFError, match="empty"):
        translator.attend("  ")
    with pytest.raises(TransformerTFError, match="30"):
        translator.attend("tree " * 100)


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
    heads = AlignmentHeads(2, (1,))
    aligning = copy.copy(translator)
    aligning.options = dataclasses.replace(translator.options, alignment=heads)
    found = aligning.search(["A tree.", text], alignment=True)[1][0]
    attention = aligning.attend(text)
    assert attention.alignment_heads == [(1, 0)]
    links = align_words(
        attention.scores["cross"],
        attention.source_tokens,
        attention.target_output_tokens,
        heads,
    )
    words = len(found.text.split())
    assert found.alignment == [link for link in links if link[1] < words]


def test_a_sentence_in_capitals_is_translated_in_lower_case(translator):
    all_caps = "I SEE 3 RED CARS."
    said = translator.translate([all_caps, "I see 3 red cars."])
    assert said[0] == said[1].upper()
    assert translator.attend(all_caps).translation == said[0]


def test_a_prefix_of_a_sentence_in_capitals_is_read_in_lower_case(translator):
    texts = ["I SEE 3 RED CARS.", "I SEE 3 RED CARS.", "I see 3 red cars."]
    said = translator.translate(texts, prefixes=["ICH SEHE", "Ich sehe", "Ich sehe"])
    assert said[0] == said[2].upper()
    assert said[1] == "Ich sehe" + said[2].upper()[len("Ich sehe") :]


def test_a_long_prefix_is_kept_whole(translator):
    prefix = "Ich sehe drei rote Autos und einen Baum"
    source, target = translator.source_tokenizer, translator.target_tokenizer
    # More than the translation of so short a sentence may have.
    assert len(target.encode(prefix)) > 2 * len(source.encode_sentence("Tree")) + 10
    said = translator.translate("Tree", prefixes=[prefix], max_length=60)
    assert said.startswith(prefix)


def test_sentences_one_by_one(translator):
    text = "I see 3 red cars. A tree."
    whole, apart = (translator.translate(text, split_sentences=wanted) for wanted in (False, True))
    assert apart == " ".join(translator.translate(["I see 3 red cars.", "A tree."]))
    cuts = []
    many, long = " ".join([text] * 20), f"A tree. {'tree ' * 100}."
    translator.search(
        [text, many, long], on_cut=lambda *cut: cuts.append(cut), split_sentences=True
    )
    ((cut, parts),) = cuts  # no sentence of the others was too long
    assert cut == long and parts > 2


def test_alignments_of_text_without_spaces(translator):
    """A source without spaces is one word, so every link goes to it."""
    found = translator.search(["見る。" * 3], alignment=True, split_sentences=True)[0][0]
    assert len(found.text.split()) > 1
    assert {source for source, _ in found.alignment} == {0}


def test_engines_translate_alike(checkpoint, translator):
    texts = ["I see 3 red cars.", "", "I see a house. I see 2 trees."]
    keras_translator = Translator.load(checkpoint, engine="keras")
    assert keras_translator.translate(texts) == translator.translate(texts)
    expected, found = keras_translator.attend(texts[0]), translator.attend(texts[0])
    assert found.target_output_tokens == expected.target_output_tokens
    for kind, scores in expected.scores.items():
        np.testing.assert_allclose(found.scores[kind], scores, atol=1e-5)


def test_a_translator_keeps_the_weights_of_its_model(checkpoint, translator):
    config, model, source, target = load_checkpoint(checkpoint)
    made = Translator.from_model(model, config, source, target)
    for variable in model.trainable_variables:
        variable.assign(variable * 0.0)
    texts = ["I see 3 red cars.", "A tree."]
    assert made.translate(texts) == translator.translate(texts)


def test_the_keras_model_of_a_translator(checkpoint, translator):
    config, expected, source, target = load_checkpoint(checkpoint)
    for found in (Translator.load(checkpoint), Translator.load(checkpoint, engine="keras")):
        pairs = zip(found.model.get_weights(), expected.get_weights(), strict=True)
        assert all(np.array_equal(ours, theirs) for ours, theirs in pairs)
    assert Translator.from_model(expected, config, source, target).model is expected
    with pytest.raises(TransformerTFError, match="Keras model"):
        Translator(translator.engine, source, target).model  # noqa: B018


def test_weights_of_another_model_are_an_error(checkpoint, tmp_path):
    folder = shutil.copytree(checkpoint, tmp_path / "other")
    config = (folder / "config.yaml").read_text()
    (folder / "config.yaml").write_text(config.replace("num_layers: 2", "num_layers: 3", 1))
    with pytest.raises(CheckpointError, match=str(folder)):
        Translator.load(folder)


class ListEngine:
    """Finds given hypotheses."""

    def __init__(self, beam):
        self.beam = beam

    def search(self, sources, options, prefixes=None, progress=None, n_best=1):
        return [self.beam[:n_best] for _ in sources]


@pytest.fixture(scope="module")
def placeholder_tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer") / "source.model"
    return Tokenizer.train(["It costs many euros.", "Es kostet viele Euro."] * 9, 330, path)


def test_values_are_put_back_as_the_target_language_writes_them(placeholder_tokenizer):
    engine = ListEngine(
        [Hypothesis(placeholder_tokenizer.encode(f"Es kostet {SLOTS[0]} Euro."), -1.0)]
    )
    placeholders = Placeholders("en", "de")
    translator = Translator(
        engine, placeholder_tokenizer, placeholder_tokenizer, placeholders=placeholders
    )
    assert translator.translate("It costs $19.99.") == "Es kostet 19,99 Dollar."


@pytest.mark.parametrize("written", ["", f"{SLOTS[0]} {SLOTS[0]}", f"{SLOTS[0]} {SLOTS[1]}"])
def test_a_lost_or_repeated_value_is_a_warning(placeholder_tokenizer, written):
    ids = placeholder_tokenizer.encode(f"Es kostet {written} Euro.")
    translator = Translator(
        ListEngine([Hypothesis(ids, -1.0)]),
        placeholder_tokenizer,
        placeholder_tokenizer,
        placeholders=Placeholders("en", "de"),
    )
    with pytest.warns(UserWarning, match=r"ListEngine .* 'It costs \$19.99.'$"):
        translator.translate("It costs $19.99.")


def test_an_alignment_has_the_words_of_the_user(placeholder_tokenizer):
    class AligningEngine(ListEngine):
        def attend(self, sources, targets):
            """Each token attends to the source token at the same place."""
            shapes = zip(map(len, targets), map(len, sources), strict=True)
            return [{"cross": np.eye(*shape)[None, None]} for shape in shapes]

    hypothesis = Hypothesis(placeholder_tokenizer.encode(f"{SLOTS[0]} Euro kostet viele."), -1.0)
    translator = Translator(
        AligningEngine([hypothesis]),
        placeholder_tokenizer,
        placeholder_tokenizer,
        DecodingConfig(alignment=AlignmentHeads(1, (1,))),
        placeholders=Placeholders("en", "de"),
    )
    ((translation,),) = translator.search(["$19 costs many."], alignment=True)
    assert translation.text == "19 Dollar kostet viele."
    sources, targets = zip(*translation.alignment, strict=True)
    assert (sources[0], targets[0]) == (0, 0)
    assert max(sources) <= 2 and max(targets) == 3


def test_tokens_show_the_values_of_placeholders(placeholder_tokenizer):
    ids = placeholder_tokenizer.encode(f"Es kostet {SLOTS[0]} Euro.")
    translator = Translator(
        ListEngine([Hypothesis(ids, -1.0)]),
        placeholder_tokenizer,
        placeholder_tokenizer,
        placeholders=Placeholders("en", "de"),
    )
    ((translation,),) = translator.search(["It costs many 19.99."])
    assert "19,99" in translation.tokens
    assert "".join(translation.tokens).replace("▁", " ").strip() == "Es kostet 19,99 Euro."
    # The model reads and writes "euros" beside the placeholder; the value has "Dollar".
    ((translation,),) = translator.search(["It costs $19.99."])
    assert translation.text == "Es kostet 19,99 Dollar."
    assert "".join(translation.tokens).replace("▁", " ").strip() == "Es kostet <1> Euro."

import pytest

from transformer_tf.errors import DataError
from transformer_tf.text.tokenization import restoring
from transformer_tf.text.tokenization.restoring import Truecaser, restore, restore_digits

GERMAN = [
    "Das Essen ist gut.",
    "Ich mag das Essen sehr.",
    "Wir essen heute.",
    "Wir essen Brot.",
    "Wir essen immer.",
    "Ich weiß, dass Sie kommen.",
    "Ich weiß, dass Sie es sind.",
    "Ich glaube, sie war hier.",
    "Wo war sie?",
    "Ist das Auto von McDonald's?",
    "Sie hat ein iPhone und die CO2-Werte der USA auf A4.",
    "Eine Straße in Süd-Korea ist gut, sehr gut.",
    "Was ist das für eine Zeitung?",
    "Da ist die Wohnung, und die Heizung ist alt.",
]


@pytest.fixture(scope="module")
def german():
    return Truecaser.learn(GERMAN)


@pytest.mark.parametrize("sentence", GERMAN)
def test_learned_case_is_restored(german, sentence):
    # The digits come from the text, not from the training text.
    lower = sentence.lower().replace("co2", "co3")
    assert german.restore(lower) == sentence.replace("CO2", "CO3")


@pytest.mark.parametrize(
    ("lower", "cased"),
    [
        # First two neighbors never seen together, then two that were never seen.
        ("ich glaube, das essen ist sehr alt.", "Ich glaube, das Essen ist sehr alt."),
        ("dass wir essen.", "Dass wir essen."),
        ("da war essen hier", "Da war essen hier"),
        ("ich weiß, dass sie war.", "Ich weiß, dass Sie war."),
        ("wo war sie? hier.", "Wo war sie? Hier."),
        # One ends like a noun, one does not; one was seen only at the start of sentences.
        ("eine rechnung", "Eine Rechnung"),
        ("da sind xyxyx", "Da sind xyxyx"),
        ("heute war eine", "Heute war eine"),
        ("a9 und a10", "A9 und a10"),
        ("das iphone? iphone und usa", "Das iPhone? iPhone und USA"),
    ],
)
def test_new_sentences(german, lower, cased):
    assert german.restore(lower) == cased
    assert german.restore(cased.lower()) == cased


@pytest.mark.parametrize(
    ("lower", "cased"),
    [
        ("a. b! c? d… e... f", "A. B! C? D… E... F"),
        ("„aa“, bb „cc.“ „dd“ ee", "„Aa“, bb „Cc.“ „Dd“ ee"),
        ("»aa?« »bb« cc «dd» ee « ff » gg", "»Aa?« »Bb« cc «Dd» ee « Ff » gg"),
        ('"aa" bb. "cc" dd', '"Aa" bb. "Cc" dd'),
        ("“aa” bb “cc” dd", "“Aa” bb “Cc” dd"),
        ("¿qué? ¡no! pero, ¿sí?", "¿Qué? ¡No! Pero, ¿Sí?"),
        ("(aa) bb (cc) dd. (ee)", "(Aa) bb (cc) dd. (Ee)"),
        ('aa ("bb" cc)', 'Aa ("Bb" cc)'),
        ("  aa\tbb.\n cc  ", "  Aa\tbb.\n Cc  "),
        ("www.aa.bb 3.50 aa's bb-cc, dd; ee", "Www.aa.bb 3.50 aa's bb-cc, dd; ee"),
        ("", ""),
        (" ... ", " ... "),
    ],
)
def test_sentence_starts_without_any_learning(lower, cased):
    assert Truecaser.learn([]).restore(lower) == cased


def test_punctuation_is_a_neighbour():
    truecaser = Truecaser.learn(2 * ["So rede, Tom", "So Rede tom"])
    assert truecaser.restore("so rede, tom") == "So rede, Tom"
    assert truecaser.restore("so rede tom") == "So Rede tom"


def test_sentence_starts_and_capitals_are_ignored_in_learning():
    truecaser = Truecaser.learn(["Kanntest du ihn?", "Kanntest du sie?", "WIR KENNEN IHN"])
    assert truecaser.restore("ihn kanntest du. wir kennen") == "Ihn kanntest du. Wir kennen"
    # Capitals inside a word are learned at the start of a sentence, too.
    assert Truecaser.learn(["USA und Nato."]).restore("die usa") == "Die USA"


def test_rare_forms_are_not_learned():
    sentences = [f"Hier ist Tom{mark}" for mark in ".!?," for _ in range(200)]
    truecaser = Truecaser.learn([*sentences, "Und tom", "Und tom"])
    assert truecaser.words["tom"] == {"Tom": 800, "tom": 2}
    assert truecaser.restore("und tom") == "Und tom"
    truecaser = Truecaser.learn([*sentences, "Und tom"])
    assert truecaser.words["tom"] == {"Tom": 800}
    assert truecaser.restore("und tom") == "Und Tom"


def test_english():
    truecaser = Truecaser.learn(
        ["Can I go on Monday?", "On Monday I'm with Tom's dog.", "It is Mary, as I'd said."]
    )
    assert (
        truecaser.restore("tom said i'm mary's dog, as on monday. i go.")
        == "Tom said I'm Mary's dog, as on Monday. I go."
    )


def test_scripts_without_case():
    for text in ("这是汤姆。他在 这里! 东京", "यह किताब है। हिन्दी", "კარგი. დღე", "هذا كتاب. نعم"):
        assert Truecaser.learn([text, "x " + text]).restore(text) == text


def test_save_and_load(tmp_path):
    german = Truecaser.learn(3 * GERMAN)
    path, again = tmp_path / "a.json", tmp_path / "b.json"
    german.save(path)
    copy = Truecaser.load(path)
    assert (copy.words, copy.contexts) == (german.words, german.contexts)
    assert german.words and german.contexts
    copy.save(again)
    assert again.read_bytes() == path.read_bytes()
    Truecaser.learn(reversed(3 * GERMAN)).save(again)
    assert again.read_bytes() == path.read_bytes()
    assert len(list(tmp_path.iterdir())) == 2
    assert copy.restore("wir essen eine rechnung.") == "Wir essen eine Rechnung."


def test_an_empty_truecaser(tmp_path):
    Truecaser.learn([]).save(tmp_path / "x")
    assert Truecaser.load(tmp_path / "x").restore("a b. c") == "A b. C"


def test_damaged_files(german, tmp_path):
    path = tmp_path / "x.json"
    with pytest.raises(DataError, match="x.json"):
        Truecaser.load(path)
    german.save(path)
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"\xff", b"[]", b'{"words": {}}'):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="x.json"):
            Truecaser.load(path)


def test_rare_contexts_are_not_kept(german, monkeypatch):
    assert german.contexts["essen", "<", "das"] == {"Essen": 2}
    assert ("essen", ">", "heute") not in german.contexts
    monkeypatch.setattr(restoring, "MIN_CONTEXT", 1)
    assert Truecaser.learn(GERMAN).contexts["essen", ">", "heute"] == {"essen": 1}


@pytest.mark.parametrize(
    ("translation", "source", "restored"),
    [
        ("er ist 00.", "He is 47.", "er ist 47."),
        ("0.000,00", "1,234.50", "1.234,50"),
        ("um 00.00", "at 14:30", "um 14.30"),
        ("0000 und 00", "12 in 1999", "1999 und 12"),
        ("00 und 00", "11 and 22", "11 und 22"),
        # Repeated numbers, one repeated too often, and numbers in another order.
        ("00, 00 und 00", "11 and 22", "11, 22 und 22"),
        ("0 00 0 000", "1, 2 and 34", "1 34 2 000"),
        ("000 ohne", "12 and 1234", "000 ohne"),
        ("a0 und 0. auf 0nd", "A4 and 3rd on 2nd", "a4 und 3. auf 2nd"),
        ("100 von 00", "100 of 25", "100 von 25"),
        ("0 und 0", "0 and 7", "0 und 7"),
        ("0000", "سنة ١٩٩٨", "1998"),
        ("00", "x²", "00"),
        ("00", "", "00"),
        ("", "12", ""),
    ],
)
def test_digits(translation, source, restored):
    assert restore_digits(translation, source) == restored


def test_capitals_and_digits(german):
    translation, source = "das essen auf a0. 00 usa", "The meal on A5. 47 USA"
    assert restore(translation, source, german) == "Das Essen auf A5. 47 USA"
    assert restore(translation, source, None) == "das essen auf a5. 47 usa"

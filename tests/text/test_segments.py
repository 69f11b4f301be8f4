import re
import time

import pytest

from transformer_tf.errors import DataError
from transformer_tf.text.placeholders import Placeholders
from transformer_tf.text.segments import (
    Segment,
    is_all_caps,
    list_of_strings,
    read_segments,
    split_sentences,
    split_text,
)

HOSTILE = [
    *(
        "a",
        "a ",
        "Mr. ",
        "! ? ",
        "12.50 ",
        "$45.90 and ",
        "Ab ",
        "Ab-",
        "1",
        "1,",
        "1:",
        "#",
        "😀 ",
    ),
    *("木", "x\u0301", "c/", "a, ", "Hi. ", "ש", "I see Giorgos Papadopoulos. "),
]


class WordTokenizer:
    """Cuts a text into its words, each with its length as id; 100 starts and 101 ends a text."""

    def encode(self, text):
        return [len(word) for word in text.split()]

    def encode_sentence(self, text):
        return [100, *self.encode(text), 101]


class CharacterTokenizer(WordTokenizer):
    def encode(self, text):
        return list(text.encode())


CAPITALS = """
WHERE IS THE STATION?|WHERE IS THE STATION|I SEE 3 RED CARS.|GO AWAY!|HELP!|ΠΟΥ ΕΙΝΑΙ Ο ΣΤΑΘΜΟΣ
"""
OTHERS = """
NATO.|U.S.A.|HTML CSS.|ISO 9001 2015|NATO and the EU are in Brussels!|Where is the station?
3 + 4 = 7!|I?|A!||彼はCDを買った!|我买了一件T恤衫!|أنا أحب DVD!
"""


@pytest.mark.parametrize("text", CAPITALS.strip().split("|"))
def test_a_sentence_in_capitals_is_found(text):
    assert is_all_caps(text)


@pytest.mark.parametrize("text", re.split(r"[|\n]", OTHERS.strip()))
def test_acronyms_short_phrases_and_mixed_case_are_not_all_caps(text):
    assert not is_all_caps(text)


def test_a_text_that_fits_is_one_segment():
    assert read_segments("  I am\ttired. ", WordTokenizer(), 3) == [
        Segment("I am tired.", [100, 1, 2, 6, 101], unmasked="I am tired.")
    ]
    assert read_segments(" \u200b ", WordTokenizer(), 3) == []


def test_the_model_reads_a_text_in_capitals_in_lower_case():
    def read(text, **options):
        segments = read_segments(text, WordTokenizer(), **options)
        return [(segment.text, segment.all_caps) for segment in segments]

    assert read("NO! GO AWAY NOW!", split=True) == [("No!", True), ("Go away now!", True)]
    assert read("HTML CSS") == [("HTML CSS", False)]


def test_a_text_in_capitals_is_measured_in_lower_case():
    class CapitalsAreLong(WordTokenizer):
        def encode(self, text):
            return [1] * (len(text.split()) + 2 * sum(map(str.isupper, text)))

    text = "GO AWAY NOW!"
    assert len(CapitalsAreLong().encode(text)) > 5
    assert len(read_segments(text, CapitalsAreLong(), 5)) == 1


def test_a_character_longer_than_a_segment_loses_its_last_bytes():
    (segment,) = read_segments("😀", CharacterTokenizer(), 3)
    assert segment.source_ids == [100, *"😀".encode()[:3], 101]


@pytest.mark.parametrize(
    ("prefix", "read", "translation", "expected"),
    [
        ("WO IST", "Wo ist", "Wo ist die Straße?", "WO IST DIE STRASSE?"),
        ("Wo befindet", "Wo befindet", "Wo befindet sich das?", "Wo befindet SICH DAS?"),
        ("", "", "Wo ist das?", "WO IST DAS?"),
    ],
)  # fmt: skip
def test_a_prefix_of_a_text_in_capitals(prefix, read, translation, expected):
    (segment,) = read_segments("WHERE IS IT?", WordTokenizer())
    segment = segment.with_prefix(prefix, WordTokenizer())
    assert segment.prefix_ids == WordTokenizer().encode(read)
    assert segment.restore_case(translation) == expected


def test_a_prefix_in_capitals_is_kept_for_other_texts():
    class Recording(WordTokenizer):
        def encode(self, text):
            assert text == "NATO"
            return [4]

    (segment,) = read_segments("The alliance grows.", WordTokenizer())
    segment = segment.with_prefix(" NATO ", Recording())
    assert (segment.prefix, segment.prefix_ids) == ("NATO", [4])
    assert segment.restore_case("NATO wächst.") == "NATO wächst."


@pytest.mark.parametrize("texts", [None, "abc", b"abc", ["a", 3]])
def test_texts_must_be_a_list_of_strings(texts):
    with pytest.raises(TypeError, match="`texts"):
        list_of_strings("texts", texts)
    assert list_of_strings("texts", (text for text in "ab")) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I am tired. I want to go home.", ["I am tired.", "I want to go home."]),
        ("i am tired! i go", ["i am tired!", "i go"]),
        ('He said: "Stop!" Then he left.', ['He said: "Stop!"', "Then he left."]),
        ("Mr. Smith met Dr. Jones, e.g. in Paris.", None),
        ("Am 14. März kam J. R. Müller um 3.5 Uhr.", None),
        ("No. I can't.", ["No.", "I can't."]),
        ("No. 5 is alive. See fig. 3.", ["No. 5 is alive.", "See fig. 3."]),
        ("See you at 5 p.m. Then we go.", ["See you at 5 p.m.", "Then we go."]),
        ("We met at 5 p.m. on Monday, at 6 a.m. etc. and so on.", None),
        ("Brot, Milch usw. „Ja.“", ["Brot, Milch usw.", "„Ja.“"]),
        ("Well... I see … no", ["Well...", "I see …", "no"]),
        ("今天很冷。我在家！", ["今天很冷。", "我在家！"]),
        ("他说：“我在家。”她笑了。", ["他说：“我在家。”", "她笑了。"]),
        ("真的！？我不知道。", ["真的！？", "我不知道。"]),
        ("「雨だ。」 帰ろう。", ["「雨だ。」", "帰ろう。"]),
        ("...", None),
        ("", []),
    ],
)
def test_sentences(text, sentences):
    assert split_sentences(text) == ([text] if sentences is None else sentences)


def few_words(limit):
    return lambda text: len(text.split()) <= limit


def test_a_long_sentence_is_cut_after_a_clause():
    text = "When I came home, the door was open, the lights were on and nobody said a word"
    assert split_text(text, few_words(10)) == [
        "When I came home, the door was open,",
        "the lights were on and nobody said a word",
    ]
    # A part is not cut after a clause that would make it very short.
    assert split_text("Yes," + " word" * 14, few_words(10))[0] == "Yes," + " word" * 9


@pytest.mark.parametrize("limit", [1, 7])
def test_nothing_is_lost(limit):
    text = "One, two; three four. Five six seven eight nine ten: eleven! Twelve"
    parts = split_text(text, few_words(limit))
    assert " ".join(parts) == text
    assert all(len(part.split()) <= limit for part in parts)


def test_a_word_that_does_not_fit_is_cut_anywhere():
    parts = split_text("aaaaa b ccc", lambda text: len(text) < 3)
    assert parts == ["aa", "aa", "a", "b", "cc", "c"]
    assert split_text("ab", lambda text: False) == ["a", "b"]  # it ends all the same
    assert split_text("", lambda text: False) == []


def test_a_script_without_spaces_loses_nothing():
    text = "今天天气很冷，" * 30 + "我在家"
    parts = split_text(text, lambda part: len(part) <= 60)
    assert "".join(parts) == text
    assert all(len(part) <= 60 for part in parts)
    assert all(part.endswith("，") for part in parts[:-1])


def test_splitting_takes_linear_time():
    """The number of fit checks per word does not grow with the line."""
    for count in (1_000, 8_000):
        asked = 0

        def fits(text):
            nonlocal asked
            asked += len(text.split())
            return len(text.split()) <= 20

        text = " ".join(["word"] * count)
        parts = split_text(text, fits)
        assert " ".join(parts) == text
        assert asked < 7 * count


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_text_of_100_000_characters_is_cut_in_linear_time(monkeypatch, unit):
    """Each character is tokenized and searched for values a bounded number of times."""
    placeholders = Placeholders(
        "en", "de", frozenset(["see"]), frozenset("abcdeimnorstu1234567890. ")
    )
    tokenizer, read, mask = CharacterTokenizer(), 0, Placeholders.mask

    def counted(self, text, *arguments):
        nonlocal read
        read += len(text) + 20  # 20 characters' time for a call
        return mask(self, text, *arguments)

    monkeypatch.setattr(Placeholders, "mask", counted)
    for count in (2_000, 8_000):
        read, text = 0, unit * (count // len(unit))
        segments = read_segments(text, tokenizer, 60, placeholders=placeholders)
        assert "".join(s.unmasked for s in segments).replace(" ", "") == text.replace(" ", "")
        assert read < 25 * count


def test_a_longer_text_is_refused():
    tokenizer = WordTokenizer()
    assert read_segments("." * 100_000, tokenizer)
    with pytest.raises(DataError, match="100001 characters; at most 100000"):
        read_segments("." * 100_001, tokenizer)


@pytest.mark.parametrize(
    ("text", "first_words"),
    [
        ("I see.| A big tree.", [0, 2]),
        ("これはペンです。|あれは本です。", [0, 0]),
        ("Tom: これ。|あれ。| Ja.", [0, 1, 2]),
        ("A 。|b。| C.", [0, 1, 2]),
    ],
)
def test_the_first_word_of_each_segment(text, first_words):
    segments = read_segments(text.replace("|", ""), WordTokenizer(), split=True)
    assert [segment.text for segment in segments] == text.replace("| ", "|").split("|")
    assert [segment.first_word for segment in segments] == first_words


@pytest.mark.parametrize("unit", [".", "。", "Mr. ", "1. ", '."', "?! ", "a"])
def test_finding_sentences_takes_linear_time(unit):
    def seconds(count):
        times = []
        for _ in range(3):
            began = time.process_time()
            split_sentences(unit * count)
            times.append(time.process_time() - began)
        return min(times)

    assert seconds(40_000) < 9 * max(seconds(10_000), 0.001)  # quadratic time: 16


def test_neither_a_value_nor_the_number_of_a_king_ends_a_sentence():
    sentences = [
        "Er starb 44 v. Chr.",
        "Bis 1,2\u00a0Mio.\u00a0Euro.",
        "Ludwig XIV. regierte.",
        "Das war Ludwig XIV.",
        "Er lebte lange.",
    ]
    assert split_sentences(" ".join(sentences)) == sentences

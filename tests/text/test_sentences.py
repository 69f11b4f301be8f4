import pytest

from transformer_tf.text.sentences import split_sentences, split_text


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I am tired. I want to go home.", ["I am tired.", "I want to go home."]),
        ("i am tired. i go", ["i am tired.", "i go"]),
        ("What time is it? I have to go!", ["What time is it?", "I have to go!"]),
        ('He said: "Stop!" Then he left.', ['He said: "Stop!"', "Then he left."]),
        ("Mr. Smith met Dr. Jones, e.g. in Paris.", None),
        ("Am 14. März kam J. R. Müller um 3.5 Uhr.", None),
        ("No. I can't.", ["No.", "I can't."]),
        ("Well... I see … no", ["Well...", "I see …", "no"]),
        ("今天很冷。我在家！", ["今天很冷。", "我在家！"]),
        ("他说：“我在家。”她笑了。", ["他说：“我在家。”", "她笑了。"]),
        ("真的！？我不知道。", ["真的！？", "我不知道。"]),
        ("「雨だ。」 帰ろう。", ["「雨だ。」", "帰ろう。"]),
        ("one sentence", None),
        ("...", None),
        ("", []),
    ],
)
def test_sentences(text, sentences):
    assert split_sentences(text) == ([text] if sentences is None else sentences)


def few_words(limit):
    return lambda text: len(text.split()) <= limit


def test_a_text_that_fits_is_left_alone_unless_its_sentences_are_wanted():
    text = "I am tired. I want to go home."
    assert split_text(text, few_words(20)) == [text]
    assert split_text(text, few_words(20), sentences=True) == split_sentences(text)
    assert split_text("", few_words(20)) == []


def test_a_long_sentence_is_cut_behind_a_clause():
    text = "When I came home, the door was open, the lights were on and nobody said a word"
    assert split_text(text, few_words(10)) == [
        "When I came home, the door was open,",
        "the lights were on and nobody said a word",
    ]
    # A clause that is much too short is no better than a cut anywhere.
    assert split_text("Yes, " + "word " * 14 + "end", few_words(10))[0] == "Yes, " + " ".join(
        ["word"] * 9
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_nothing_is_lost(limit):
    text = "One, two; three four. Five six seven eight nine ten: eleven! Twelve"
    parts = split_text(text, few_words(limit))
    assert " ".join(parts) == text
    assert all(len(part.split()) <= limit for part in parts)


def test_a_word_that_does_not_fit_is_cut_anywhere():
    parts = split_text("aaaaa b ccc", lambda text: len(text) < 3)
    assert parts == ["aa", "aa", "a", "b", "cc", "c"]
    assert split_text("ab", lambda text: False) == ["a", "b"]  # it ends all the same


def test_a_script_without_spaces_loses_nothing():
    text = "今天天气很冷，" * 30 + "我在家"
    parts = split_text(text, lambda part: len(part) <= 60)
    assert "".join(parts) == text
    assert all(len(part) <= 60 for part in parts)
    assert all(part.endswith("，") for part in parts[:-1])


def test_a_long_line_takes_time_in_proportion():
    """Of each word is asked a few times whether it fits, however long the line is."""
    for count in (1_000, 8_000):
        asked = 0

        def fits(text):
            nonlocal asked
            asked += len(text.split())
            return len(text.split()) <= 20

        text = " ".join(["word"] * count)
        parts = split_text(text, fits)
        assert " ".join(parts) == text
        assert asked < 15 * count

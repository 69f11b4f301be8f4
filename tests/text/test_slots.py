import dataclasses
import time

import pytest

from transformer_tf.config import load_config
from transformer_tf.errors import ConfigError, DataError
from transformer_tf.text.segments import read_segments
from transformer_tf.text.slots import (
    Slots,
    fill,
    keeps_slots,
    learn_known_words,
    load_words,
    make_slots,
    save_words,
    with_slots,
)
from transformer_tf.text.symbols import SLOTS

KNOWN = frozenset(
    ["the", "room", "is", "on", "lives", "in", "met", "mr", "call", "at", "called", "and", "i"]
)


def shown(text):
    """Writes slots as <1>, <2> …"""
    for number, slot in enumerate(SLOTS, start=1):
        text = text.replace(slot, f"<{number}>")
    return text


@pytest.mark.parametrize(
    ("text", "hidden", "values"),
    [
        ("It costs $19.99.", "It costs $<1>.", ["19.99"]),
        ("From 7:30 to 12.", "From <1> to <2>.", ["7:30", "12"]),
        ("In 1989, 1,234,567.5 came.", "In <1>, <2> came.", ["1989", "1,234,567.5"]),
        ("On 12/05/2021 call 555-1234.", "On <1> call <2>.", ["12/05/2021", "555-1234"]),
        ("Three dogs, 3 cats, A4, 1990s.", "Three dogs, 3 cats, A4, 1990s.", []),
        ("At 11 p.m. or 11:30 am, room 11.", "At 11 p.m. or 11:30 am, room <1>.", ["11"]),
        ("At 11:30pm, 12.5kg of it.", "At 11:30pm, 12.5kg of it.", []),
        ("See www.a.com/b?c=1.", "See <1>.", ["www.a.com/b?c=1"]),
        ("Mail j.doe@example.co.uk, please.", "Mail <1>, please.", ["j.doe@example.co.uk"]),
        ("Visit example.com!", "Visit <1>!", ["example.com"]),
        ("Open http://localhost:8080/a!", "Open <1>!", ["http://localhost:8080/a"]),
        ("See www.a.com/?a=12&b=34&c=56 now.", "See <1> now.", ["www.a.com/?a=12&b=34&c=56"]),
    ],
)
def test_numbers_and_addresses_become_slots(text, hidden, values):
    found, found_values = Slots("en", "de").hide(text)
    assert (shown(found), list(found_values)) == (hidden, values)
    assert fill(found, found_values) == text


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Mr. Papadopoulos lives in Reykjavik.", "Mr. <1> lives in <2>."),
        ("Giorgos Papadopoulos called.", "<1> <2> called."),
        ("Giorgos called.", "Giorgos called."),  # may be a rare word
        ("I met Jean-Luc's dog.", "I met <1>'s dog."),
        ("The Room is in Ulm.", "The Room is in <1>."),
        ("i met yasuto", "i met yasuto"),
    ],
)
def test_unknown_capitalised_words_become_slots(text, hidden):
    assert shown(Slots("en", "de", KNOWN).hide(text)[0]) == hidden
    assert shown(Slots("en", "de").hide(text)[0]) == text


def test_values_after_the_fourth_stay():
    hidden, values = Slots("en", "de").hide("11, 12, 13, 14, 15 and 16")
    assert (shown(hidden), values) == ("<1>, <2>, <3>, <4>, 15 and 16", ("11", "12", "13", "14"))


@pytest.mark.parametrize(
    "text", ["Alpha beta Gamma. " * 5000, "a-" * 20_000, "a." * 20_000, '"' * 40_000 + "A"]
)
def test_a_long_text_takes_no_time(text):
    """Quadratic time would be 5 to 20 s."""
    start = time.process_time()
    Slots("en", "de", KNOWN).hide(text)
    assert time.process_time() - start < 2


def test_a_very_long_address_stays():
    short, long = f"www.{'a' * 190}.com", f"www.{'a' * 200}.com"
    assert Slots("en", "de").hide(f"{short} {long}") == (f"{SLOTS[0]} {long}", (short,))


@pytest.mark.parametrize(
    ("languages", "value", "converted"),
    [
        (("en", "de"), "19.99", "19,99"),
        (("en", "de"), "1,234,567.5", "1.234.567,5"),
        (("en", "de"), "3,000", "3.000"),
        (("de", "en"), "1.234,50", "1,234.50"),
        (("de", "en"), "12.05.2021", "12.05.2021"),
        (("en", "de"), "7:30", "7:30"),
        (("en", "de"), "www.a.com", "www.a.com"),
        (("de", "es"), "19,99", "19,99"),
    ],
)
def test_numbers_have_the_marks_of_the_target_language(languages, value, converted):
    assert Slots(*languages).convert(value) == converted


@pytest.mark.parametrize(
    ("pair", "hidden"),
    [
        (("It cost $10.50.", "Es kostete 10,50 $."), ("It cost $<1>.", "Es kostete <1> $.")),
        (("From 20 to 30.", "Bis 30 von 20."), ("From <1> to <2>.", "Bis <2> von <1>.")),
        (("I am 25.", "Ich bin fünfundzwanzig."), ("I am 25.", "Ich bin fünfundzwanzig.")),
        (("20 and 20 are 40.", "20 und 20 sind 40."), ("<1> and <2> are <3>.",) * 2),
        (("I met Yasuto.", "Ich traf Yasuto."), ("I met <1>.", "Ich traf <1>.")),
    ],
)
def test_a_training_pair_has_slots_for_what_both_sides_have(pair, hidden):
    found = tuple(map(shown, Slots("en", "de", KNOWN).hide_pair(*pair)))
    assert found == (hidden[0], hidden[1].replace("and", "und").replace("are", "sind"))


def test_a_value_inside_a_longer_one_stays():
    pair = "He paid 12.50 for 12 apples.", "Er zahlte 12,50 für 12 Äpfel."
    found = tuple(map(shown, Slots("en", "de").hide_pair(*pair)))
    assert found == ("He paid <1> for <2> apples.", "Er zahlte <1> für <2> Äpfel.")
    source, target = Slots("en", "de").hide_pair("At 12 o'clock.", "Um 12:30 Uhr.")
    assert (source, target) == ("At 12 o'clock.", "Um 12:30 Uhr.")


def test_every_tenth_pair_keeps_its_values():
    pairs = [(f"It is {number}.", f"Es ist {number}.") for number in range(10, 30)]
    hidden = with_slots(pairs, Slots("en", "de"))
    plain = [pair for pair in hidden if SLOTS[0] not in pair[0]]
    assert plain == [("It is 10.", "Es ist 10."), ("It is 20.", "Es ist 20.")]
    assert hidden[1] == (f"It is {SLOTS[0]}.", f"Es ist {SLOTS[0]}.")


def test_names_are_slots_only_if_rare_capitalised_words_are_copied():
    english = [("I saw Ulm.", "Ich sah Ulm."), ("I saw Fiji.", "Ich sah Fidschi.")]
    english += [("I saw Bonn.", "Ich sah Bonn.")]
    known = learn_known_words(english)
    assert known == {"i", "saw", "fiji"}
    german = [("Er sah Hunde.", "He saw dogs."), ("Er sah Ulm.", "He saw Ulm.")]
    german += [("Er sah Katzen.", "He saw cats.")]
    assert learn_known_words(german) is None


def test_damaged_known_words_are_an_error(tmp_path):
    (tmp_path / "words.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match="words.txt is damaged: it is not UTF-8"):
        load_words(tmp_path / "words.txt")


def test_known_words_are_read_as_written(tmp_path):
    save_words(KNOWN, tmp_path / "words.txt")
    assert load_words(tmp_path / "words.txt") == KNOWN


@pytest.mark.parametrize(
    ("slots", "count", "kept"),
    [([0, 1], 2, True), ([1, 0], 2, True), ([0], 2, False), ([0, 0], 1, False), ([1], 1, False)],
)
def test_a_translation_must_have_each_slot_once(slots, count, kept):
    assert keeps_slots(" ".join(SLOTS[slot] for slot in slots), count) is kept


def test_a_slot_without_a_value_disappears():
    assert fill(f"a {SLOTS[0]} b {SLOTS[3]}", ["x"]) == "a x b "


def test_slots_need_a_trained_tokenizer():
    data = load_config(None, ["data.slots=true"]).data
    assert make_slots(data, KNOWN) == Slots("en", "de", KNOWN)
    assert make_slots(dataclasses.replace(data, slots=False), KNOWN) is None
    with pytest.raises(ConfigError, match="data.slots needs tokenizer.kind=trained"):
        load_config(None, ["data.slots=true", "tokenizer.kind=bpemb"])


class CharacterTokenizer:
    def encode(self, text):
        return [ord(character) for character in text]

    def encode_sentence(self, text):
        return [0, *self.encode(text), 1]


def test_a_segment_keeps_the_values_of_its_slots():
    tokenizer = CharacterTokenizer()
    (segment,) = read_segments("It costs $19.99.", tokenizer, 12, slots=Slots("en", "de"))
    assert shown(segment.text) == "It costs $<1>."
    assert (segment.values, segment.target_values) == (("19.99",), ("19,99",))
    assert segment.source_ids == tokenizer.encode_sentence(segment.text)
    prefix_ids = segment.with_prefix("Es kostet 19,99", tokenizer).prefix_ids
    assert prefix_ids == tokenizer.encode(f"Es kostet {SLOTS[0]}")


def test_a_prefix_has_slots_for_whole_values():
    tokenizer = CharacterTokenizer()
    (segment,) = read_segments("12 cats in 2012.", tokenizer, slots=Slots("en", "de"))
    prefix_ids = segment.with_prefix("Im Jahr 2012", tokenizer).prefix_ids
    assert prefix_ids == tokenizer.encode(f"Im Jahr {SLOTS[1]}")

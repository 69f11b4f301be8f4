import dataclasses
import time

import pytest

from transformer_tf.config import load_config
from transformer_tf.errors import ConfigError, DataError
from transformer_tf.text.placeholders import (
    MAX_VALUES,
    Placeholders,
    convert_number,
    learn_known_words,
    make_placeholders,
    with_placeholders,
    word_map,
)
from transformer_tf.text.segments import read_segments
from transformer_tf.text.symbols import SLOTS
from transformer_tf.text.tokenization.tokenizer import Tokenizer

KNOWN = frozenset(
    [
        "the",
        "room",
        "is",
        "on",
        "lives",
        "in",
        "met",
        "mr",
        "call",
        "at",
        "called",
        "and",
        "i",
        "st",
    ]
)
ALPHABET = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPRSTUVWYZ012345689.,!?'-\" äöüß")


def shown(text):
    """Writes placeholders as <1>, <2> …"""
    for number, slot in enumerate(SLOTS, start=1):
        text = text.replace(slot, f"<{number}>")
    return text


def masked(languages, text, **settings):
    read, values = Placeholders(*languages, **settings).mask(text)
    return shown(read), [value.target for value in values]


# What the model reads, and the values as German and Spanish write them.
ENGLISH = [
    ("The bus leaves at 7:05 PM.", "The bus leaves at <1>.", ["19:05 Uhr"], ["7:05 p. m."]),
    ("The bus leaves at 7 p.m.", "The bus leaves at <1>.", ["19 Uhr"], ["7 p. m."]),
    ("At 6.05am or 12:30 a.m., I", "At <1> or <2>, I", ["6:05 Uhr", "0:30 Uhr"], None),
    ("It's 12 noon.", "It's <1>.", ["12 Uhr"], ["12 p. m."]),
    ("from 11 to 1:30 pm", "from <1> to <2>", ["11 Uhr", "13:30 Uhr"], ["11 a. m.", "1:30 p. m."]),
    ("from 5 to 5:30 pm", "from <1> to <2>", ["17 Uhr", "17:30 Uhr"], None),
    ("from 12 to 1 pm", "from <1> to <2>", ["12 Uhr", "13 Uhr"], ["12 p. m.", "1 p. m."]),
    ("from 11 to 12 pm", "from <1> to <2>", ["11 Uhr", "12 Uhr"], ["11 a. m.", "12 p. m."]),
    ("at 13:30 am, at 14 am", "at <1>, at <2>", ["13:30 Uhr", "14 Uhr"], None),
    ("at 07:05 am on May 05", "at <1> on June <2>", ["7:05 Uhr", "5. Mai"], None),
    ("open 9am-5pm", "open <1> to <2>", ["9 Uhr", "17 Uhr"], ["9 a. m.", "5 p. m."]),
    ("We met at 7.30.", "We met at <1>.", ["7:30 Uhr"], ["7:30"]),
    ("From 7:30 to 12.", "From <1> to <2>.", ["7:30", "12"], ["7:30", "12"]),
    ("Python 3.15 or macOS 10.4", "Python <1> or macOS <2>", ["3.15", "10.4"], ["3.15", "10.4"]),
    ("It's $1,234.50.", "It's <1> euros.", ["1.234,50 Dollar"], ["1.234,50 dólares"]),
    ("£1 or CHF 20", "<1> euros or <2> euros", ["1 Pfund", "20 Franken"], None),
    ("$5k, €2bn", "<1> euros, <2> euros", ["5.000 Dollar", "2 Milliarden Euro"], None),
    ("$1 million", "<1> euros", ["1 Million Dollar"], ["1 millón de dólares"]),
    ("₹1, 1 mi", "<1> euros, <2> kilometers", ["1 Rupie", "1 Meile"], None),
    ("$1.001k", "<1> euros", ["1.001 Dollar"], None),
    ("$1,500k", "<1> euros", ["1.500.000 Dollar"], None),
    ("$200-300k", "<1> euros", ["200.000-300.000 Dollar"], ["200.000-300.000 dólares"]),
    ("5-10 thousand euros", "<1> euros", ["5.000-10.000 Euro"], ["5.000-10.000 euros"]),
    ("2.5 thousand or -5 k", "<1> or <2>", ["2.500", "-5.000"], ["2.500", "-5.000"]),
    ("¥3.5 million", "<1> euros", ["3,5 Millionen Yen"], ["3,5 millones de yenes"]),
    ("$1,200/month", "<1> euros per month", ["1.200 Dollar"], ["1.200 dólares"]),
    ("3 billion people", "<1> million people", ["3 Milliarden"], ["3 mil millones"]),
    ("It's 90°F, not -4 °C.", "It's <1> degrees, not <2> degrees.", ["90 °F", "-4 °C"], None),
    ("minus 5 degrees", "<1> degrees", ["-5 Grad"], ["-5 grados"]),
    ("3.5% of 12", "<1> percent of <2>", ["3,5 %", "12"], ["3,5 %", "12"]),
    ("5 km at 60 mph", "<1> kilometers at <2>", ["5 km", "60 mph"], ["5 km", "60 mph"]),
    ("2.5kg of it", "<1> kilos of it", ["2,5 kg"], ["2,5 kg"]),
    ("½ cup, 2 1/2 cups", "<1> cup, <2> cups", ["½", "2 1/2"], ["½", "2 1/2"]),
    ("on March 14th, 2024", "on June <1>", ["14. März 2024"], ["14 de marzo de 2024"]),
    ("on the 3rd of May", "on June <1>", ["3. Mai"], ["3 de mayo"]),
    ("May I pay on 3 May.", "May I pay on June <1>.", ["3. Mai"], ["3 de mayo"]),
    ("On 3/4/2021 call 555-1234.", "On <1> call <2>.", ["3/4/2021", "555-1234"], None),
    ("Call +49 (30) 1234-56!", "Call <1>!", ["+49 (30) 1234-56"], ["+49 (30) 1234-56"]),
    ("Room #12, A4", "Room <1>, <2>", ["Nr. 12", "A4"], ["n.º 12", "A4"]),
    (
        "€2,000-€2,500, a 27 inches TV",
        "<1> euros, a <2> kilometers TV",
        ["2.000-2.500 Euro", "27 Zoll"],
        ["2.000-2.500 euros", "27 pulgadas"],
    ),
    ("Order no. 44-2, Sat 10:00", "Order <1>, Sat <2>", ["Nr. 44-2", "10:00"], None),
    ("Sat 10-4 for 90 secs", "<1> <2> for <3>", ["Sa", "10-4", "90 Sek."], None),
    ("250k or 2M #fun", "<1> or <2> million <3>", ["250.000", "2 Millionen", "#fun"], None),
    ("Mon-Fri, Sat – Sun", "<1>, <2>", ["Mo-Fr", "Sa-So"], ["lun-vie", "sáb-dom"]),
    ("In the '90s", "In the <1>s", ["90er-Jahre"], ["años 90"]),
    ("At 8ish, in 2 hrs.", "At about <1>, in <2>.", ["8", "2 h"], ["8", "2 h"]),
    ("in the 1990s", "in the <1>s", ["1990er-Jahre"], ["años 1990"]),
    ("Three dogs, 3 cats.", "Three dogs, 3 cats.", [], []),
    ("the 3rd & last", "the third and last", [], []),
    ("Mail j.doe@a.co.uk, please.", "Mail <1>, please.", ["j.doe@a.co.uk"], None),
    ("See www.a.com/?a=12&b=c now.", "See <1> now.", ["www.a.com/?a=12&b=c"], None),
    ("Open http://localhost:80/a!", "Open <1>!", ["http://localhost:80/a"], None),
]
GERMAN = [
    ("Um 19.05 Uhr oder 8 Uhr abends.", "Um <1> Uhr oder <2> Uhr.", ["7:05 p.m.", "8 p.m."]),
    ("1 Uhr, 12 Uhr, 24 Uhr", "<1> Uhr, <2> Uhr, <3> Uhr", ["1 o'clock", "12 o'clock", "12 a.m."]),
    ("um 1:30 Uhr, um 12:30 Uhr", "um <1> Uhr, um <2> Uhr", ["1:30", "12:30"]),
    ("von 14 bis 0:30 Uhr", "von <1> Uhr bis <2> Uhr", ["2 p.m.", "12:30 a.m."]),
    ("9–17 Uhr", "<1> Uhr bis <2> Uhr", ["9", "5 p.m."]),
    ("um 7 Uhr, um halb 8", "um <1> Uhr, um halb acht", ["7 o'clock"]),
    ("1.500 € und 3,50 Dollar", "<1> Euro und <2> Euro", ["€1,500", "$3.50"]),
    ("2 Mrd. Euro, 5 Pfund Mehl", "<1> Euro, 5 Pfund Mehl", ["€2 billion"]),
    ("Es sind -3,5 °C.", "Es sind <1> Grad.", ["-3.5°C"]),
    ("20 % von 12", "<1> Prozent von <2>", ["20%", "12"]),
    ("am 14. März 2024", "am <1>. Juni", ["March 14, 2024"]),
    ("am 03.05.2024", "am <1>. Juni", ["May 3, 2024"]),
    ("am 03.10.2024", "am <1>. Juni", ["October 3, 2024"]),
    ("Sie wohnt im 22. Stock.", "Sie wohnt im <1>ten Stock.", ["22nd"]),
    ("Er wohnt im 23. Stock.", "Er wohnt im <1>ten Stock.", ["23rd"]),
    ("Er wohnt im 111. Stock.", "Er wohnt im <1>ten Stock.", ["111th"]),
    ("Er wohnt im 113. Stock.", "Er wohnt im <1>ten Stock.", ["113th"]),
    ("Er wohnt im 3. Stock.", "Er wohnt im dritten Stock.", []),
    ("3 Euro 50, 5 €/Stunde", "<1> Euro, <2> Euro pro Stunde", ["€3.50", "€5"]),
    ("Heute ist der 24.12.", "Heute ist der <1>. Juni.", ["December 24"]),
    ("Das ist Herrn Müllers Auto.", "Das ist <1> Auto.", ["Mr. Müllers"]),
    ("Er ist 22. Danach ging er.", "Er ist <1>. Danach ging er.", ["22"]),
    ("Mo-Fr, S. 12, 2 Std.", "<1>, Seite <2>, <3>", ["Mon-Fri", "12", "2 h"]),
    ("5,- €, 75 Tsd. Euro", "<1> Euro, <2> Euro", ["€5", "€75,000"]),
    ("Dreiviertel acht, ab 20h", "Viertel vor acht, ab <1> Uhr", ["8 p.m."]),
    ("5 Tausend Leute", "<1> Leute", ["5,000"]),
    ("Zimmer Nr. 12", "Zimmer <1>", ["#12"]),
    ("in den 90er Jahren", "in den <1>", ["90s"]),
    ("Herr Weber und Frau Dr. Ott", "<1> und <2>", ["Mr. Weber", "Dr. Ott"]),
    ("Meine Frau Anna ist da.", "Meine Frau Anna ist da.", []),
]


@pytest.mark.parametrize(("text", "read", "german", "spanish"), ENGLISH)
def test_english_values(text, read, german, spanish):
    assert masked(("en", "de"), text) == (read, german)
    if spanish is not None:
        assert masked(("en", "es"), text) == (read, spanish)


@pytest.mark.parametrize(("text", "read", "english"), GERMAN)
def test_german_values(text, read, english):
    assert masked(("de", "en"), text) == (read, english)


def test_carriers_depend_on_the_target():
    text = "Mrs. Smith lives on the 22nd floor."
    german = ("Mrs. <1> lives on the <2>th floor.", ["Smith", "22."])
    spanish = ("<1> lives on the <2> floor.", ["la señora Smith", "22.º"])
    assert (masked(("en", "de"), text), masked(("en", "es"), text)) == (german, spanish)


def test_a_language_without_a_table_has_the_common_kinds():
    text = "On March 14 at 7 pm, Mr. Li paid $12.50 for 30% of 1,200."
    read, values = masked(("en", "fr"), text)
    assert read == "On March <1> at 7 pm, <2> paid <3> euros for 30% of 1,200."
    assert values == ["14", "Mr. Li", "12,50 $"]


def test_a_value_for_which_the_target_language_has_no_word_stays():
    read, values = masked(("en", "fr"), "8 billion, 5 thousand, $3 million, $20")
    assert (read, values) == ("8 billion, <1>, $3 million, <2> euros", ["5.000", "20 $"])


@pytest.mark.parametrize(
    ("languages", "text", "translation", "written"),
    [
        (("en", "de"), "at 7 PM", "um <1> Uhr", "um 19 Uhr"),
        (("en", "de"), "the 7 PM train", "der <1>-Zug", "der 19-Uhr-Zug"),
        (("en", "de"), "at 5 km/h", "um <1> Uhr", "mit 5 km/h"),
        (("en", "de"), "at 2.4 GHz", "auf <1> Uhr", "auf 2,4 GHz"),
        (("en", "de"), "$5", "<1> Euro", "5 Dollar"),
        (("en", "de"), "call 555-1234", "um <1> Uhr anrufen", "unter 555-1234 anrufen"),
        (("en", "de"), "May 5", "am <1>. Juni", "am 5. Mai"),
        (("en", "de"), "the 22nd.", "am <1>.", "am 22."),
        (("en", "es"), "at 1 PM.", "a las <1>.", "a la 1 p. m."),
        (("en", "es"), "at 1 km/h", "a las <1>", "a 1 km/h"),
        (("en", "es"), "between 5 and 6 PM", "entre <1> y <2>", "entre las 5 p. m. y las 6 p. m."),
        (("en", "es"), "Mr. Li", "de <1>", "del señor Li"),
        (("en", "es"), "Mr. Li is here.", "<1> está aquí.", "El señor Li está aquí."),
        (("en", "es"), "Hello, Mrs. Li!", "¡Hola, <1>!", "¡Hola, señora Li!"),
        (("en", "es"), "the 22nd floor", "la <1> planta", "la 22.ª planta"),
        (("en", "es"), "the 22nd", "el <1>", "el 22"),
        (("en", "es"), "$1", "<1> euros", "1 dólar"),
        (("de", "en"), "um 19:05 Uhr", "at <1> o'clock", "at 7:05 p.m."),
        (("de", "en"), "um 19:05 Uhr.", "at <1> a.m.", "at 7:05 p.m."),
        (("de", "en"), "5 €", "€<1>", "€5"),
        (("de", "en"), "99 Cent, 1 Cent", "<1> euros, <2> euros", "99 cents, 1 cent"),
        (
            ("de", "en"),
            "Elisabeth II. vor 50 Jahren",
            "Elisabeth II. did <1>",
            "Elisabeth II did 50",
        ),
        (("de", "en"), "4,5 Mrd. Jahre", "<1> million. years", "4.5 billion years"),
        (("en", "de"), "Sat-Sun", "am <1> Uhr", "am Sa-So"),
        (("en", "de"), "a@b.com", "um <1> Uhr", "an a@b.com"),
        (("en", "de"), "www.a.com/b", "um <1> Uhr", "unter www.a.com/b"),
        (("en", "de"), "2025-12-31", "um <1> Uhr", "am 2025-12-31"),
        (("en", "es"), "https://a.com", "a las <1>", "en https://a.com"),
        (("en", "es"), "1600 A Street", "a las <1> A", "en 1600 A"),
        (("de", "en"), "mit 50 km/h.", "with <1>.", "at 50 km/h."),
        (("de", "en"), "mit 50 km/h", "with <1> winds", "with 50 km/h winds"),
        (("de", "en"), "im 3. oder im 22. Stock", "the <1>th floor", "the 22nd floor"),
    ],
)
def test_a_value_replaces_the_words_around_its_placeholder(languages, text, translation, written):
    placeholders = Placeholders(*languages)
    for number, slot in enumerate(SLOTS, start=1):
        translation = translation.replace(f"<{number}>", slot)
    assert placeholders.unmask(translation, placeholders.mask(text)[1]) == written


def test_a_placeholder_without_a_value_disappears():
    assert Placeholders("en", "de").unmask(f"a {SLOTS[0]} b", ()) == "a  b"


def test_a_translation_without_values_stays():
    placeholders = Placeholders("en", "es")
    assert placeholders.unmask("a las 1:00", ()) == "a las 1:00"
    assert placeholders.unmask("a las 1:00", placeholders.mask("#12")[1]) == "a la 1:00"


def test_a_placeholder_is_alone_without_words_around_it_on_either_side():
    _, values = Placeholders("en", "de").mask("$5, 12, 555-1234")
    assert [value.alone for value in values] == [False, True, False]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Mr. Papadopoulos lives in Reykjavik.", "Mr. <1> lives in <2>."),
        ("Giorgos Papadopoulos called.", "<1> <2> called."),
        ("Giorgos called.", "Giorgos called."),  # may be a rare word
        ("I met Jean-Luc's dog.", "I met <1>'s dog."),
        ("The Room is in Ulm.", "The Room is in <1>."),
        ("i met yasuto", "i met yasuto"),
        ("I met Bo and X.", "I met <1> and X."),
        ("Call at St. Kilda.", "Call at St. <1>."),
        ("A Papadopoulos called.", "A <1> called."),
    ],
)
def test_unknown_capitalized_words_are_names(text, read):
    assert masked(("en", "de"), text, known_words=KNOWN)[0] == read


GERMAN_KNOWN = frozenset(
    ["er", "traf", "in", "ist", "ich", "habe", "sah", "und", "schlüssel", "motel", "odessa", "haus"]
)
GERMAN_NAMES = [
    ("Er traf Yasuto in Nagano.", "Er traf <1> in <2>."),
    ("Yasuto Papadopoulos ist in Ulm.", "<1> <2> ist in <3>."),
    ("Yasuto ist in Ulm.", "Yasuto ist in <1>."),
    ("Ich habe Haustürschlüssel und Motels.", "Ich habe Haustürschlüssel und Motels."),
    ("Er sah Hochhaus, Landhauses und Odessaer.", "Er sah Hochhaus, Landhauses und Odessaer."),
    ("Er sah Minhaus und Us.", "Er sah Minhaus und <1>."),
    # The shortest known words end no compound.
    ("Er traf Bahin.", "Er traf <1>."),
    ("Er sah den Arrak.", "Er sah den Arrak."),
    ("Er sah die „alten Arrak“.", "Er sah die „alten Arrak“."),
    ("Er sah gutes Curriculum.", "Er sah gutes Curriculum."),
    ("Er sah Prägung und Elektrolyse.", "Er sah Prägung und Elektrolyse."),
    ("Er sah Treu- und Arrak.", "Er sah Treu- und <1>."),  # a noun taken for a name
    ("Ich sah Yasutos Motel.", "Ich sah Yasutos Motel."),  # may be the genitive
    ("Ich sah X und " + "Ab" * 90 + ".", "Ich sah X und <1>."),
]


@pytest.mark.parametrize(("text", "read"), GERMAN_NAMES)
def test_german_nouns_are_no_names(text, read):
    assert masked(("de", "en"), text, known_words=GERMAN_KNOWN)[0] == read


def test_without_known_words_german_names_stay():
    text = "Er traf Yasuto in Reykjavik."
    assert masked(("de", "en"), text, known_words=None)[0] == text


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("I like São.", "I like <1>."),
        ("AT&T, C# and 😀!", "<1>, <2> and <3>!"),
        ("7 dogs", "<1> dogs"),
        ("I came (late), he (at 5) too.", "I came, late, he, at 5, too."),
        ("Call (030) 12-34.", "Call <1>."),
        ("“No” – he said…", '"No" - he said...'),
        ("A Quiz; a/b", "A Quiz; a/b"),
        (f"{SLOTS[0]} a", "<1> a"),  # no value: it stands for one
    ],
)
def test_signs_outside_of_the_vocabulary_are_copied_or_replaced(text, read):
    assert masked(("en", "de"), text, alphabet=ALPHABET)[0] == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("I like Dvořák 🎉!", "I like <1> <2>!"),
        ("“Þór” costs 5 €…", "“Þór” costs <1> euros…"),
    ],
)
def test_rare_characters_of_the_vocabulary_are_copied(text, read):
    assert masked(("en", "de"), text, alphabet=ALPHABET | frozenset(text))[0] == read


def test_letters_that_german_does_not_have_are_rare_in_it():
    text = "Ein Café in São Paulo"
    assert masked(("de", "en"), text, alphabet=frozenset(text))[0] == "Ein Café in <1> Paulo"


@pytest.mark.parametrize(
    ("languages", "text", "read"),
    [
        (("de", "en"), "Öl und ÖSTERREICH, GROẞ und Éva", "Öl und ÖSTERREICH, GROẞ und <1>"),
        (("es", "en"), "Útil, Ávila, Ñandú y pingüino; Åse", "Útil, Ávila, Ñandú y pingüino; <1>"),
        (("en", "de"), "Österreich", "<1>"),
    ],
)
def test_the_letters_of_the_source_language_are_no_reason_to_copy(languages, text, read):
    """A vocabulary may lack a rare capital and spell it in bytes."""
    assert masked(languages, text, alphabet=ALPHABET - frozenset("äöüß"))[0] == read


def test_ms_is_read_as_mrs():
    """Models know "Mrs."; German has one word for both."""
    placeholders = Placeholders("en", "de")
    text, values = placeholders.mask("Good evening, Ms. Young.")
    assert text == f"Good evening, Mrs. {SLOTS[0]}."
    translation = placeholders.unmask(f"Guten Abend, Frau {SLOTS[0]}.", values)
    assert translation == "Guten Abend, Frau Young."


def test_values_after_the_last_placeholder_stay():
    text = "11, 12, 13, 14 and 15"
    assert masked(("en", "de"), text) == ("<1>, <2>, <3>, 14 and 15", ["11", "12", "13"])
    assert len(Placeholders("en", "de").mask(text, 4)[1]) == 4
    # What needs no placeholder is still written as the model reads it.
    assert (
        masked(("de", "en"), "11, 12, 13, 14 im 3. Stock")[0]
        == "<1>, <2>, <3>, 14 im dritten Stock"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("Alpha beta Gamma. ", "a-", "a.", '"', "1", "1 ", "12:30 ", "+1 ", "$ ", "(1) ", " ("),
        *("Mr. Aa Aa ", "1,234 ", "1-1 ", "1 + ", "0 0", "& ", "5 p", "minus ", "1 1/2 "),
    ],
)
def test_a_long_text_takes_no_time(text):
    text = text * (30_000 // len(text))
    start = time.process_time()
    Placeholders("en", "de", KNOWN, ALPHABET).mask(text)
    assert time.process_time() - start < 2  # 0.1 s; 30 s in quadratic time


@pytest.mark.parametrize(
    ("number", "decimals", "converted"),
    [
        ("19.99", ".,", "19,99"),
        ("-1,234,567.5", ".,", "-1.234.567,5"),
        ("5.5-6.5", ".,", "5,5-6,5"),
        ("1.234,50", ",.", "1,234.50"),
        ("12.05.2021", ",.", "12.05.2021"),
        ("7:30", ".,", "7:30"),
        ("19,99", ",,", "19,99"),
    ],
)
def test_numbers_have_the_marks_of_the_language(number, decimals, converted):
    assert convert_number(number, *decimals) == converted


@pytest.mark.parametrize(
    ("languages", "source", "target", "read"),
    [
        ("en de", "At 7:05 PM.", "Um 19.05 Uhr.", ("At <1>.", "Um <1> Uhr.")),
        ("en es", "At 7:05 PM.", "A las 19:05.", ("At <1>.", "A las <1>.")),
        ("en de", "It's $10.50.", "Es sind 10,50 $.", ("It's <1> euros.", "Es sind <1> Euro.")),
        ("en de", "on May 5", "am 5. Mai", ("on June <1>", "am <1>. Juni")),
        ("en es", "on May 5", "el 5 de mayo", ("on June <1>", "el <1> de junio")),
        ("en de", "5% of it", "5 Prozent davon", ("<1> percent of it", "<1> Prozent davon")),
        ("en de", "Mr. Li came.", "Herr Li kam.", ("Mr. <1> came.", "Herr <1> kam.")),
        ("en es", "Mr. Li came.", "El señor Li vino.", ("<1> came.", "<1> vino.")),
        ("de en", "um 20 Uhr", "at 8 pm", ("um <1> Uhr", "at <1>")),
        ("de en", "um 24 Uhr", "at 12 am", ("um <1> Uhr", "at <1>")),
        ("en de", "From 20 to 30.", "Bis 30 von 20.", ("From <1> to <2>.", "Bis <2> von <1>.")),
        ("en de", "20 and 20", "20 und 20", ("<1> and <2>", "<1> und <2>")),
        ("en de", "It's 25.", "Fünfundzwanzig.", ("It's 25.", "Fünfundzwanzig.")),
        ("en de", "12.50 for 12", "12,50 für 12", ("<1> for <2>", "<1> für <2>")),
        ("en de", "At 12 o'clock.", "Um 12:30 Uhr.", ("At 12 o'clock.", "Um 12:30 Uhr.")),
        ("en de", "12 for 25 euros", "25 Euro", ("12 for <1> euros", "<1> Euro")),
        ("en es", "I met Mr. Li.", "Vi a Mr. Li.", ("I met <1>.", "Vi a <1>.")),
        ("en de", "I met Yasuto.", "Ich traf Yasuto.", ("I met <1>.", "Ich traf <1>.")),
        # They touch in the target.
        ("en de", "20% 30%", "20%30%", ("<1> percent <2> percent", "<1> Prozent<2> Prozent")),
        ("en de", "30% 20%", "20%30%", ("<1> percent <2> percent", "<2> Prozent<1> Prozent")),
        ("de en", "Im 3. Stock: 22", "3rd floor: 22", ("Im dritten Stock: <1>", "3rd floor: <1>")),
    ],
)
def test_a_training_pair_has_placeholders_for_what_both_sides_mean(languages, source, target, read):
    placeholders = Placeholders(*languages.split(), known_words=KNOWN)
    assert tuple(map(shown, placeholders.mask_pair(source, target))) == read


def test_every_tenth_pair_keeps_its_values():
    pairs = [(f"It is {number}.", f"Es ist {number}.") for number in range(10, 30)]
    masked_pairs = with_placeholders(pairs, Placeholders("en", "de"))
    plain = [pair for pair in masked_pairs if SLOTS[0] not in pair[0]]
    assert plain == [("It is 10.", "Es ist 10."), ("It is 20.", "Es ist 20.")]
    assert masked_pairs[1] == (f"It is {SLOTS[0]}.", f"Es ist {SLOTS[0]}.")


def test_names_have_placeholders_only_if_rare_capitalized_words_are_copied():
    english = [("I saw Ulm.", "Ich sah Ulm."), ("I saw Fiji.", "Ich sah Fidschi.")]
    english += [("I saw Bonn.", "Ich sah Bonn.")]
    known = learn_known_words(english, "en")
    assert known == {"i", "saw", "fiji"}
    english += [("I saw Rome.", "Ich sah Rome."), ("I saw Rome.", "Ich sah Rom.")]  # not always
    english += [("I saw Lima.", "Ich sah Lima.")] * 3  # not rare
    assert learn_known_words(english, "en") == {"i", "saw", "fiji", "rome", "lima"}
    # One in lower case is a name, too, but not a word in lower case on both sides.
    typed = [*english, ("i saw oslo in a hotel.", "Ich sah Oslo in einem hotel.")]
    assert {"oslo", "hotel"} & learn_known_words(typed, "en") == {"hotel"}
    # Two of five are copied: 40 %.
    assert (
        learn_known_words([*english[:3], ("I saw Nice.", ""), ("I saw Pisa.", "")], "en")
        is not None
    )
    german = [("Er sah Hunde.", "He saw dogs."), ("Er sah Ulm.", "He saw Ulm.")]
    german += [("Er sah Katzen.", "He saw cats.")]
    assert learn_known_words(german, "en") is None


def test_german_nouns_do_not_count_as_rare_names():
    pairs = [("Er sah Ulm.", "He saw Ulm.")] + [("Er sah den Hund.", "He saw the dog.")] * 3
    pairs += [(f"Er sah {kind}hunde.", "He saw dogs.") for kind in ("Hof", "Jagd", "Wach")]
    pairs += [("Er sah Hunde.", "He saw dogs.")] * 3
    assert learn_known_words(pairs, "en") is None  # one of four is copied
    known = learn_known_words(pairs, "de")
    assert known is not None
    assert "ulm" not in known and "hofhunde" in known


def test_known_words_are_read_as_written_or_refused(tmp_path):
    tokenizer = Tokenizer.train(["It costs many euros."] * 9, 300, tmp_path / "a.model")
    tokenizer.known_words = KNOWN
    tokenizer.save(tmp_path / "b.model")
    assert Tokenizer.load(tmp_path / "b.model").known_words == KNOWN
    (tmp_path / "b.words.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match=r"words\.txt"):
        Tokenizer.load(tmp_path / "b.model")


def test_placeholders_need_a_trained_tokenizer(tmp_path):
    data = load_config(None, ["data.placeholders=true"]).data
    tokenizer = Tokenizer.train(["It costs many euros."] * 9, 300, tmp_path / "source.model")
    tokenizer.known_words = KNOWN
    placeholders = make_placeholders(data, tokenizer)
    assert (placeholders.known_words, "ñ" in placeholders.alphabet) == (KNOWN, False)
    assert make_placeholders(dataclasses.replace(data, placeholders=False), tokenizer) is None
    japanese = dataclasses.replace(data, source_language="ja")
    assert make_placeholders(japanese, tokenizer).alphabet is None
    with pytest.raises(ConfigError, match="data.placeholders"):
        load_config(None, ["data.placeholders=true", "tokenizer.kind=bpemb"])


class CharacterTokenizer:
    def encode(self, text):
        return [ord(character) for character in text]

    def encode_sentence(self, text):
        return [0, *self.encode(text), 1]


def segments(text, **settings):
    return read_segments(
        text, CharacterTokenizer(), placeholders=Placeholders("en", "de"), **settings
    )


def test_a_segment_keeps_the_values_of_its_placeholders():
    (segment,) = segments("It costs $19.99.", max_length=18)
    assert (shown(segment.text), segment.unmasked) == ("It costs <1> euros.", "It costs $19.99.")
    assert [value.target for value in segment.values] == ["19,99 Dollar"]
    assert segment.source_ids == CharacterTokenizer().encode_sentence(segment.text)


def test_a_prefix_has_placeholders_for_whole_values():
    (segment,) = segments("12 cats in 2012.")
    prefix_ids = segment.with_prefix("Im Jahr 2012", CharacterTokenizer()).prefix_ids
    assert prefix_ids == CharacterTokenizer().encode(f"Im Jahr {SLOTS[1]}")


def test_a_sentence_with_many_values_is_cut_between_them():
    text = "At 7 PM, 8 PM and 9 PM, on May 5, 2024, for $5, $6 or $7."
    found = segments(text)
    assert " ".join(segment.unmasked for segment in found) == text
    assert [len(segment.values) for segment in found] == [3, 2, 2]
    assert all(len(segment.values) <= MAX_VALUES for segment in found)


def test_words_keep_their_places_when_values_are_put_back():
    def places(before, after):
        return [list(each) for each in word_map(before, after)]

    assert places("um X Uhr ab", "um 19:05 Uhr ab") == [[0], [1], [2], [3]]
    assert places("X kam", "la señora Li kam") == [[0, 1, 2], [3]]
    assert places("für X Euro da", "für €5 da") == [[0], [1], [1], [2]]
    assert places("X", "") == [[0]]
    assert places("da X", "da") == [[0], [0]]

"""The words of the phrasebook: English and German forms, and what goes with what."""

from __future__ import annotations

import dataclasses
from typing import Literal

Gender = Literal["m", "f", "n"]


@dataclasses.dataclass(frozen=True)
class Noun:
    """A noun in both languages.

    Attributes:
        english: Singular.
        english_plural: Plural.
        german: Nominative singular.
        gender: Grammatical gender in German.
        german_plural: Nominative plural.
        adjectives: English adjectives that suit it, keys of `ADJECTIVES`.
        oblique: Accusative and dative singular where they differ (n-declension).
    """

    english: str
    english_plural: str
    german: str
    gender: Gender
    german_plural: str
    adjectives: tuple[str, ...] = ()
    oblique: str | None = None


@dataclasses.dataclass(frozen=True)
class Verb:
    """A verb in both languages.

    Attributes:
        base: English infinitive; a particle follows after a space.
        third: English third person singular.
        past: English simple past.
        infinitive: German infinitive without a separable prefix.
        first: German first person singular, without the prefix.
        second: German second person singular.
        third_german: German third person singular.
        participle: German past participle, prefix included.
        prefix: Separable prefix, or "".
        auxiliary: Of the perfect, `haben` or `sein`.
        imperative: German imperative singular, or "" if it is not used.
        tenses: Tenses it is natural in.
    """

    base: str
    third: str
    past: str
    infinitive: str
    first: str
    second: str
    third_german: str
    participle: str
    prefix: str = ""
    auxiliary: Literal["haben", "sein"] = "haben"
    imperative: str = ""
    tenses: tuple[str, ...] = ("present", "past", "can", "must", "want", "will")


@dataclasses.dataclass(frozen=True)
class Subject:
    """Who does it.

    Attributes:
        english: In English.
        german: In German, nominative.
        person: Which form of the verb: 1, 2 or 3, or "pl" for we and they.
    """

    english: str
    german: str
    person: Literal["1", "2", "3", "pl"]


def _noun(line: str, *adjectives: str) -> Noun:
    english, plural, german, gender, german_plural = line.split("/")
    return Noun(english, plural, german, gender, german_plural, adjectives)  # type: ignore[arg-type]


# English adjective: German stem, to which an ending is added.
ADJECTIVES = {
    "red": "rot",
    "blue": "blau",
    "green": "grün",
    "big": "groß",
    "small": "klein",
    "new": "neu",
    "old": "alt",
    "beautiful": "schön",
    "expensive": "teuer",
    "cheap": "billig",
    "warm": "warm",
    "long": "lang",
    "interesting": "interessant",
    "fresh": "frisch",
    "sweet": "süß",
    "hot": "heiß",
    "cold": "kalt",
    "young": "jung",
    "friendly": "freundlich",
}

THINGS = {
    noun.english: noun
    for noun in (
        _noun("coat/coats/Mantel/m/Mäntel", "red", "blue", "new", "warm", "expensive", "long"),
        _noun("hat/hats/Hut/m/Hüte", "green", "old", "new", "beautiful", "big"),
        _noun("dress/dresses/Kleid/n/Kleider", "red", "green", "beautiful", "long", "cheap"),
        _noun("shirt/shirts/Hemd/n/Hemden", "blue", "new", "old", "cheap"),
        _noun("umbrella/umbrellas/Regenschirm/m/Regenschirme", "red", "green", "small", "big"),
        _noun("bag/bags/Tasche/f/Taschen", "blue", "big", "expensive", "old", "small"),
        _noun("book/books/Buch/n/Bücher", "interesting", "new", "old", "expensive"),
        _noun("letter/letters/Brief/m/Briefe", "long", "interesting", "old"),
        _noun("newspaper/newspapers/Zeitung/f/Zeitungen", "old", "new", "interesting"),
        _noun("postcard/postcards/Postkarte/f/Postkarten", "beautiful", "old", "small"),
        _noun("report/reports/Bericht/m/Berichte", "long", "new", "interesting"),
        _noun("car/cars/Auto/n/Autos", "red", "blue", "new", "old", "expensive", "small"),
        _noun("bicycle/bicycles/Fahrrad/n/Fahrräder", "green", "new", "old", "cheap", "red"),
        _noun("lamp/lamps/Lampe/f/Lampen", "beautiful", "small", "old", "cheap"),
        _noun("table/tables/Tisch/m/Tische", "big", "small", "old", "beautiful", "long"),
        _noun("chair/chairs/Stuhl/m/Stühle", "old", "new", "green", "cheap"),
        _noun("radio/radios/Radio/n/Radios", "old", "small", "new"),
        _noun("computer/computers/Computer/m/Computer", "new", "old", "expensive", "cheap"),
        _noun("watch/watches/Uhr/f/Uhren", "beautiful", "expensive", "new", "small"),
        _noun("phone/phones/Telefon/n/Telefone", "new", "old", "red", "expensive"),
        _noun("key/keys/Schlüssel/m/Schlüssel", "small", "new", "big"),
        _noun("window/windows/Fenster/n/Fenster", "big", "small", "new"),
        _noun("door/doors/Tür/f/Türen", "green", "old", "big", "blue"),
        _noun("apple/apples/Apfel/m/Äpfel", "red", "green", "sweet", "fresh"),
        _noun("cake/cakes/Kuchen/m/Kuchen", "sweet", "fresh", "big", "small"),
        _noun("egg/eggs/Ei/n/Eier", "fresh", "big", "small"),
        _noun("banana/bananas/Banane/f/Bananen", "sweet", "fresh", "green"),
        _noun("roll/rolls/Brötchen/n/Brötchen", "fresh", "warm", "small"),
        _noun("dog/dogs/Hund/m/Hunde", "big", "small", "young", "old"),
        _noun("cat/cats/Katze/f/Katzen", "small", "young", "beautiful", "old"),
        _noun("bird/birds/Vogel/m/Vögel", "small", "blue", "beautiful"),
        _noun("house/houses/Haus/n/Häuser", "big", "new", "old", "beautiful", "expensive"),
        _noun("tree/trees/Baum/m/Bäume", "big", "old", "green", "young"),
        _noun("flower/flowers/Blume/f/Blumen", "red", "blue", "beautiful", "small"),
        _noun("picture/pictures/Bild/n/Bilder", "beautiful", "old", "small", "expensive"),
        _noun("gift/gifts/Geschenk/n/Geschenke", "beautiful", "small", "expensive", "big"),
        _noun("room/rooms/Zimmer/n/Zimmer", "big", "small"),
        _noun("kitchen/kitchens/Küche/f/Küchen", "big", "new"),
        _noun("office/offices/Büro/n/Büros", "big", "new", "small"),
    )
}

DRINKS = {
    noun.english: noun
    for noun in (
        _noun("coffee//Kaffee/m/", "hot", "cold"),
        _noun("tea//Tee/m/", "hot", "green", "cold"),
        _noun("milk//Milch/f/", "cold", "warm", "fresh"),
        _noun("water//Wasser/n/", "cold", "warm", "fresh"),
        _noun("juice//Saft/m/", "cold", "fresh", "sweet"),
        _noun("beer//Bier/n/", "cold"),
    )
}

RELATIVES = {
    noun.english: noun
    for noun in (
        _noun("brother//Bruder/m/"),
        _noun("sister//Schwester/f/"),
        _noun("uncle//Onkel/m/"),
        _noun("aunt//Tante/f/"),
        _noun("grandmother//Großmutter/f/"),
        _noun("grandfather//Großvater/m/"),
        _noun("son//Sohn/m/"),
        _noun("daughter//Tochter/f/"),
        Noun("neighbor", "", "Nachbar", "m", "", oblique="Nachbarn"),
    )
}

PEOPLE = {
    noun.english: noun
    for noun in (
        _noun("teacher/teachers/Lehrer/m/Lehrer", "young", "old", "friendly"),
        _noun("doctor/doctors/Arzt/m/Ärzte", "young", "old", "friendly"),
        _noun("woman/women/Frau/f/Frauen", "young", "old", "friendly"),
        _noun("man/men/Mann/m/Männer", "young", "old", "friendly"),
        _noun("child/children/Kind/n/Kinder", "small", "friendly"),
        Noun(
            "student",
            "students",
            "Student",
            "m",
            "Studenten",
            ("young", "friendly"),
            oblique="Studenten",
        ),
    )
}

NAMES = ("Anna", "Peter", "Tom", "Maria", "Lukas", "Julia")

SUBJECTS = (
    Subject("I", "ich", "1"),
    Subject("you", "du", "2"),
    Subject("he", "er", "3"),
    Subject("she", "sie", "3"),
    Subject("we", "wir", "pl"),
    Subject("they", "sie", "pl"),
    *(Subject(name, name, "3") for name in NAMES),
    Subject("Mr. Klein", "Herr Klein", "3"),
    Subject("Mrs. Schmidt", "Frau Schmidt", "3"),
    Subject("my brother", "mein Bruder", "3"),
    Subject("my sister", "meine Schwester", "3"),
    Subject("our neighbor", "unser Nachbar", "3"),
    Subject("her father", "ihr Vater", "3"),
    Subject("his mother", "seine Mutter", "3"),
    Subject("the teacher", "der Lehrer", "3"),
    Subject("the children", "die Kinder", "pl"),
    Subject("my parents", "meine Eltern", "pl"),
)

# Ages that a teacher of German would believe; others are 3 to 90.
AGES = {
    "the children": (3, 14),
    "my parents": (30, 90),
    "Mr. Klein": (25, 90),
    "Mrs. Schmidt": (25, 90),
    "our neighbor": (20, 90),
    "her father": (30, 90),
    "his mother": (30, 90),
    "the teacher": (25, 70),
}

# English object form: German accusative and dative, and the subject it cannot stand beside.
PRONOUNS = {
    "me": ("mich", "mir", "I"),
    "you": ("dich", "dir", "you"),
    "him": ("ihn", "ihm", "he"),
    "her": ("sie", "ihr", "she"),
    "us": ("uns", "uns", "we"),
}

POSSESSIVES = {"my": "mein", "your": "dein", "his": "sein", "her": "ihr", "our": "unser"}

_WISH = ("present", "past", "want", "will", "can")


def _verb(english: str, german: str, **more: object) -> Verb:
    return Verb(*english.split("/"), *german.split("/"), **more)  # type: ignore[arg-type]


# Each verb with the English names of the things it is done to.
TRANSITIVE: tuple[tuple[Verb, str], ...] = (
    (
        _verb("buy/buys/bought", "kaufen/kaufe/kaufst/kauft/gekauft", imperative="kauf"),
        "coat hat dress shirt umbrella bag book newspaper postcard car bicycle lamp table chair "
        "radio computer watch phone apple cake egg banana gift picture flower house",
    ),
    (
        _verb("sell/sells/sold", "verkaufen/verkaufe/verkaufst/verkauft/verkauft"),
        "coat dress car bicycle lamp table radio computer watch house picture",
    ),
    (
        _verb("read/reads/read", "lesen/lese/liest/liest/gelesen", imperative="lies"),
        "book letter newspaper postcard report",
    ),
    (
        _verb("write/writes/wrote", "schreiben/schreibe/schreibst/schreibt/geschrieben"),
        "book letter postcard report",
    ),
    (
        _verb("eat/eats/ate", "essen/esse/isst/isst/gegessen", imperative="iss"),
        "apple cake egg banana roll",
    ),
    (
        _verb("see/sees/saw", "sehen/sehe/siehst/sieht/gesehen", tenses=("past", "can", "want")),
        "dog cat bird house tree car bicycle picture",
    ),
    (
        _verb("look for/looks for/looked for", "suchen/suche/suchst/sucht/gesucht"),
        "key umbrella bag book dog cat watch phone",
    ),
    (
        _verb("find/finds/found", "finden/finde/findest/findet/gefunden", tenses=_WISH),
        "key umbrella bag book watch phone letter picture",
    ),
    (
        _verb(
            "need/needs/needed",
            "brauchen/brauche/brauchst/braucht/gebraucht",
            tenses=("present", "past", "will"),
        ),
        "coat umbrella bag car bicycle lamp table chair computer phone key",
    ),
    (
        _verb("repair/repairs/repaired", "reparieren/repariere/reparierst/repariert/repariert"),
        "car bicycle lamp chair radio computer watch door window",
    ),
    (
        _verb(
            "try on/tries on/tried on",
            "probieren/probiere/probierst/probiert/anprobiert",
            prefix="an",
            imperative="probier",
        ),
        "coat hat shirt",
    ),
    (
        _verb(
            "open/opens/opened",
            "machen/mache/machst/macht/aufgemacht",
            prefix="auf",
            imperative="mach",
        ),
        "window door bag",
    ),
    (
        _verb(
            "close/closes/closed",
            "machen/mache/machst/macht/zugemacht",
            prefix="zu",
            imperative="mach",
        ),
        "window door bag",
    ),
    (
        _verb(
            "turn on/turns on/turned on",
            "schalten/schalte/schaltest/schaltet/eingeschaltet",
            prefix="ein",
            imperative="schalte",
        ),
        "lamp radio computer",
    ),
    (
        _verb(
            "turn off/turns off/turned off",
            "schalten/schalte/schaltest/schaltet/ausgeschaltet",
            prefix="aus",
            imperative="schalte",
        ),
        "lamp radio computer",
    ),
    (
        _verb(
            "tidy up/tidies up/tidied up",
            "räumen/räume/räumst/räumt/aufgeräumt",
            prefix="auf",
            imperative="räum",
        ),
        "room kitchen office",
    ),
    (
        _verb(
            "paint/paints/painted",
            "malen/male/malst/malt/gemalt",
        ),
        "picture tree flower bird",
    ),
    (
        _verb(
            "lose/loses/lost",
            "verlieren/verliere/verlierst/verliert/verloren",
            tenses=("past",),
        ),
        "key umbrella bag phone watch letter",
    ),
    (
        _verb(
            "forget/forgets/forgot",
            "vergessen/vergesse/vergisst/vergisst/vergessen",
            tenses=("past",),
        ),
        "key umbrella bag phone book",
    ),
    (
        _verb("wash/washes/washed", "waschen/wasche/wäschst/wäscht/gewaschen", imperative="wasch"),
        "car shirt dress apple",
    ),
    (
        _verb("wear/wears/wore", "tragen/trage/trägst/trägt/getragen"),
        "coat hat shirt",
    ),
    (
        _verb("carry/carries/carried", "tragen/trage/trägst/trägt/getragen", imperative="trag"),
        "bag chair table",
    ),
)

# Of what one makes, buys or eats one seldom says whose it is.
NEVER_OWNED = frozenset({"buy", "eat"})
MAKING = frozenset({"paint", "write"})
# These happen on a day; finding happens by chance, and living somewhere has no day.
DAILY = frozenset({"eat", "drink", "go", "open", "close", "turn on", "turn off"})
FORTUNATE = frozenset({"find", "see"})  # nobody plans these
TIMELESS = frozenset({"live"})
# Of these one may well do a lot.
IN_NUMBERS = frozenset({"buy", "sell"})
# Prices in euros: from, below, step.
PRICES = {
    "apple banana egg roll": (2, 5, 1),
    "postcard newspaper flower": (2, 10, 1),
    "cake": (10, 40, 1),
    "coat hat dress shirt umbrella bag book lamp chair radio gift": (10, 100, 1),
    "table computer watch phone picture bicycle": (100, 1000, 10),
    "car": (2000, 10000, 100),
}
# Only a definite object makes sense: one's own, or one that is there.
DEFINITE_ONLY = frozenset({"tidy up", "turn on", "turn off", "open", "close"})

DRINK = _verb("drink/drinks/drank", "trinken/trinke/trinkst/trinkt/getrunken", imperative="trink")

# What is done to people: in the accusative, in the dative, or after a preposition.
WITH_ACCUSATIVE = (
    _verb("visit/visits/visited", "besuchen/besuche/besuchst/besucht/besucht", imperative="besuch"),
    _verb(
        "call/calls/called",
        "rufen/rufe/rufst/ruft/angerufen",
        prefix="an",
        imperative="ruf",
    ),
    _verb(
        "pick up/picks up/picked up",
        "holen/hole/holst/holt/abgeholt",
        prefix="ab",
        imperative="hol",
    ),
    _verb("meet/meets/met", "treffen/treffe/triffst/trifft/getroffen"),
    _verb(
        "see/sees/saw",
        "sehen/sehe/siehst/sieht/gesehen",
        tenses=("past", "can", "want", "will"),
    ),
    _verb("ask/asks/asked", "fragen/frage/fragst/fragt/gefragt", imperative="frag"),
)
WITH_DATIVE = (
    _verb("help/helps/helped", "helfen/helfe/hilfst/hilft/geholfen", imperative="hilf"),
    _verb("thank/thanks/thanked", "danken/danke/dankst/dankt/gedankt", imperative="danke"),
    _verb("answer/answers/answered", "antworten/antworte/antwortest/antwortet/geantwortet"),
)
# (verb, English preposition, German preposition, case)
WITH_PREPOSITION = (
    (
        _verb("wait/waits/waited", "warten/warte/wartest/wartet/gewartet", imperative="warte"),
        "for",
        "auf",
        "accusative",
    ),
    (
        _verb("talk/talks/talked", "sprechen/spreche/sprichst/spricht/gesprochen"),
        "with",
        "mit",
        "dative",
    ),
    (_verb("dance/dances/danced", "tanzen/tanze/tanzt/tanzt/getanzt"), "with", "mit", "dative"),
    (
        _verb("play/plays/played", "spielen/spiele/spielst/spielt/gespielt", imperative="spiel"),
        "with",
        "mit",
        "dative",
    ),
)
DITRANSITIVE = (
    _verb("give/gives/gave", "geben/gebe/gibst/gibt/gegeben", imperative="gib"),
    _verb("show/shows/showed", "zeigen/zeige/zeigst/zeigt/gezeigt", imperative="zeig"),
    _verb("send/sends/sent", "schicken/schicke/schickst/schickt/geschickt", imperative="schick"),
)
GIVEN = "book letter picture gift key flower postcard umbrella newspaper"

TRAVEL = _verb("travel/travels/traveled", "fahren/fahre/fährst/fährt/gefahren", auxiliary="sein")
GO = _verb("go/goes/went", "gehen/gehe/gehst/geht/gegangen", auxiliary="sein", imperative="geh")
LIVE = _verb(
    "live/lives/lived", "wohnen/wohne/wohnst/wohnt/gewohnt", tenses=("present", "want", "will")
)
WORK = _verb("work/works/worked", "arbeiten/arbeite/arbeitest/arbeitet/gearbeitet")
ARRIVE = _verb(
    "arrive/arrives/arrived",
    "kommen/komme/kommst/kommt/angekommen",
    prefix="an",
    auxiliary="sein",
    tenses=("present", "past", "will"),
)
DEPART = _verb(
    "leave/leaves/left",
    "fahren/fahre/fährst/fährt/abgefahren",
    prefix="ab",
    auxiliary="sein",
    tenses=("present", "past", "will"),
)

CITIES = {
    "Berlin": "Berlin",
    "Hamburg": "Hamburg",
    "Munich": "München",
    "Vienna": "Wien",
    "Cologne": "Köln",
    "Zurich": "Zürich",
    "Leipzig": "Leipzig",
    "Dresden": "Dresden",
    "London": "London",
    "Paris": "Paris",
}
TRANSPORT = {"by train": "mit dem Zug", "by bus": "mit dem Bus", "by car": "mit dem Auto"}
# English place: where to (German) and where (English, German).
PLACES = {
    "to the station": ("zum Bahnhof", "at the station", "am Bahnhof"),
    "to the library": ("in die Bibliothek", "in the library", "in der Bibliothek"),
    "to the park": ("in den Park", "in the park", "im Park"),
    "to the museum": ("ins Museum", "in the museum", "im Museum"),
    "to the shop": ("in den Laden", "in the shop", "im Laden"),
    "to the kitchen": ("in die Küche", "in the kitchen", "in der Küche"),
    "to the garden": ("in den Garten", "in the garden", "im Garten"),
    "to the doctor": ("zum Arzt", "at the doctor's", "beim Arzt"),
    "home": ("nach Hause", "at home", "zu Hause"),
}
FEELINGS = {
    "tired": "müde",
    "sick": "krank",
    "happy": "glücklich",
    "sad": "traurig",
    "hungry": "hungrig",
    "ready": "bereit",
}
# Tense: (English, German) adverbs of time.
TIMES = {
    "past": (("yesterday", "gestern"), ("last week", "letzte Woche"), ("today", "heute")),
    "will": (("tomorrow", "morgen"), ("next week", "nächste Woche"), ("today", "heute")),
    "can": (("today", "heute"), ("tomorrow", "morgen")),
    "must": (("today", "heute"), ("tomorrow", "morgen")),
    "want": (("today", "heute"), ("tomorrow", "morgen")),
}

"""The words of the phrasebook: English and German forms, and which words go together."""

from __future__ import annotations

import dataclasses
from typing import Literal

Gender = Literal["m", "f", "n"]
Case = Literal["nominative", "accusative", "dative"]
Person = Literal["1", "2", "3", "pl"]


@dataclasses.dataclass(frozen=True)
class Noun:
    """A noun in both languages.

    Attributes:
        english: Singular.
        english_plural: Plural, or "" if it has none.
        german: Nominative singular.
        gender: Grammatical gender in German.
        german_plural: Nominative plural, or "".
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
        imperative: German imperative singular, or "" if it is not used.
        prefix: Separable prefix, or "".
        auxiliary: Of the perfect, `haben` or `sein`.
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
    imperative: str = ""
    prefix: str = ""
    auxiliary: Literal["haben", "sein"] = "haben"
    tenses: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Subject:
    """Who does it.

    Attributes:
        english: In English.
        german: In German, nominative.
        person: Which form of the verb: 1, 2 or 3, or "pl" for we and they.
        pronoun: The English pronoun that takes its place, a key of `PERSONAL`.
    """

    english: str
    german: str
    person: Person
    pronoun: str = "he"


def _noun(line: str, adjectives: str = "") -> Noun:
    english, plural, german, gender, german_plural, *oblique = line.split("/")
    return Noun(
        english,
        plural,
        german,
        gender,  # type: ignore[arg-type]
        german_plural,
        tuple(adjectives.split()),
        oblique[0] if oblique else None,
    )


def words(text: str) -> tuple[str, ...]:
    """The words of a line; an underscore stands for a space within one."""
    return tuple(word.replace("_", " ") for word in text.split())


def _nouns(*lines: tuple[str, str]) -> dict[str, Noun]:
    return {line.split("/")[0]: _noun(line, adjectives) for line, adjectives in lines}


ALL_TENSES = ("present", "past", "will", "can", "have to", "want", "would like")


def _verb(english: str, german: str, tenses: tuple[str, ...] = ALL_TENSES) -> Verb:
    """Reads "buy/buys/bought" and "kaufen/kaufe/kaufst/kauft/gekauft/kauf".

    A separable prefix stands before the infinitive with a bar, `an|rufen`; `+sein` after the
    participle names the auxiliary.
    """
    base, third, past = english.split("/")
    infinitive, first, second, third_german, participle, imperative = german.split("/")
    prefix, _, infinitive = infinitive.rpartition("|")
    participle, plus, _ = participle.partition("+")
    return Verb(
        base,
        third,
        past,
        infinitive,
        first,
        second,
        third_german,
        participle,
        imperative,
        prefix,
        "sein" if plus else "haben",
        tenses,
    )


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
# English adjective: comparative in both languages.
COMPARATIVES = {
    "big": ("bigger", "größer"),
    "small": ("smaller", "kleiner"),
    "new": ("newer", "neuer"),
    "old": ("older", "älter"),
    "beautiful": ("more beautiful", "schöner"),
    "expensive": ("more expensive", "teurer"),
    "cheap": ("cheaper", "billiger"),
    "warm": ("warmer", "wärmer"),
    "long": ("longer", "länger"),
    "interesting": ("more interesting", "interessanter"),
    "fresh": ("fresher", "frischer"),
    "sweet": ("sweeter", "süßer"),
    "young": ("younger", "jünger"),
}
# Who or what is compared with one another.
COMPARED = (
    words("coat hat dress shirt"),
    words("umbrella bag"),
    words("book letter report newspaper"),
    words("car bicycle"),
    words("table chair"),
    words(
        "bed lamp house room kitchen tree picture flower gift key"
    ),  # each with its own kind only
    words("computer radio phone watch"),
    words("apple banana"),
    words("dog cat bird"),
)

THINGS = _nouns(
    ("coat/coats/Mantel/m/Mäntel", "red blue new warm expensive long"),
    ("hat/hats/Hut/m/Hüte", "green old new beautiful big"),
    ("dress/dresses/Kleid/n/Kleider", "red green beautiful long cheap"),
    ("shirt/shirts/Hemd/n/Hemden", "blue new old cheap warm"),
    ("umbrella/umbrellas/Regenschirm/m/Regenschirme", "red green small big"),
    ("bag/bags/Tasche/f/Taschen", "blue big expensive old small"),
    ("book/books/Buch/n/Bücher", "interesting new old expensive"),
    ("letter/letters/Brief/m/Briefe", "long interesting old"),
    ("newspaper/newspapers/Zeitung/f/Zeitungen", "old new interesting"),
    ("postcard/postcards/Postkarte/f/Postkarten", "beautiful old small"),
    ("report/reports/Bericht/m/Berichte", "long new interesting"),
    ("car/cars/Auto/n/Autos", "red blue new old expensive small"),
    ("bicycle/bicycles/Fahrrad/n/Fahrräder", "green new old cheap red"),
    ("lamp/lamps/Lampe/f/Lampen", "beautiful small old cheap"),
    ("table/tables/Tisch/m/Tische", "big small old beautiful long"),
    ("chair/chairs/Stuhl/m/Stühle", "old new green cheap"),
    ("bed/beds/Bett/n/Betten", "big small new old"),
    ("radio/radios/Radio/n/Radios", "old small new"),
    ("computer/computers/Computer/m/Computer", "new old expensive cheap"),
    ("watch/watches/Uhr/f/Uhren", "beautiful expensive new small"),
    ("phone/phones/Telefon/n/Telefone", "new old red expensive"),
    ("key/keys/Schlüssel/m/Schlüssel", "small new big old"),
    ("window/windows/Fenster/n/Fenster", "big small new"),
    ("door/doors/Tür/f/Türen", "green old big blue"),
    ("apple/apples/Apfel/m/Äpfel", "red green sweet fresh"),
    ("cake/cakes/Kuchen/m/Kuchen", "sweet fresh big small"),
    ("egg/eggs/Ei/n/Eier", "fresh big small"),
    ("banana/bananas/Banane/f/Bananen", "sweet fresh green"),
    ("roll/rolls/Brötchen/n/Brötchen", "fresh warm small"),
    ("dog/dogs/Hund/m/Hunde", "big small young old"),
    ("cat/cats/Katze/f/Katzen", "small young beautiful old"),
    ("bird/birds/Vogel/m/Vögel", "small blue beautiful"),
    ("house/houses/Haus/n/Häuser", "big new old beautiful expensive"),
    ("tree/trees/Baum/m/Bäume", "big old green young"),
    ("flower/flowers/Blume/f/Blumen", "red blue beautiful small"),
    ("picture/pictures/Bild/n/Bilder", "beautiful old small expensive"),
    ("gift/gifts/Geschenk/n/Geschenke", "beautiful small expensive big"),
    ("room/rooms/Zimmer/n/Zimmer", "big small"),
    ("kitchen/kitchens/Küche/f/Küchen", "big new"),
    ("office/offices/Büro/n/Büros", "big new small"),
    ("train/trains/Zug/m/Züge", ""),
    ("bus/buses/Bus/m/Busse", ""),
    ("taxi/taxis/Taxi/n/Taxis", ""),
)
DRINKS = _nouns(
    ("coffee//Kaffee/m/", "hot cold"),
    ("tea//Tee/m/", "hot cold"),
    ("milk//Milch/f/", "cold warm fresh"),
    ("water//Wasser/n/", "cold warm fresh"),
    ("juice//Saft/m/", "cold fresh sweet"),
    ("beer//Bier/n/", "cold"),
)
VESSELS = {
    "coffee": ("a cup of", "eine Tasse"),
    "tea": ("a cup of", "eine Tasse"),
    "milk": ("a glass of", "ein Glas"),
    "water": ("a glass of", "ein Glas"),
    "juice": ("a glass of", "ein Glas"),
    "beer": ("a glass of", "ein Glas"),
}
RELATIVES = _nouns(
    ("brother//Bruder/m/", ""),
    ("sister//Schwester/f/", ""),
    ("uncle//Onkel/m/", ""),
    ("aunt//Tante/f/", ""),
    ("grandmother//Großmutter/f/", ""),
    ("grandfather//Großvater/m/", ""),
    ("son//Sohn/m/", ""),
    ("daughter//Tochter/f/", ""),
    ("neighbor//Nachbar/m//Nachbarn", ""),
)
PEOPLE = _nouns(
    ("teacher/teachers/Lehrer/m/Lehrer", "young old friendly"),
    ("doctor/doctors/Arzt/m/Ärzte", "young old friendly"),
    ("woman/women/Frau/f/Frauen", "young old friendly"),
    ("man/men/Mann/m/Männer", "young old friendly"),
    ("child/children/Kind/n/Kinder", "small friendly"),
    ("girl/girls/Mädchen/n/Mädchen", "small friendly"),
    ("boy/boys/Junge/m/Jungen/Jungen", "small friendly"),
    ("student/students/Student/m/Studenten/Studenten", "young friendly"),
)
# People by name: German nominative, German accusative and dative, English pronoun.
NAMED = {
    "Anna": ("Anna", "Anna", "she"),
    "Peter": ("Peter", "Peter", "he"),
    "Tom": ("Tom", "Tom", "he"),
    "Maria": ("Maria", "Maria", "she"),
    "Lukas": ("Lukas", "Lukas", "he"),
    "Julia": ("Julia", "Julia", "she"),
    "Mr. Klein": ("Herr Klein", "Herrn Klein", "he"),
    "Mrs. Schmidt": ("Frau Schmidt", "Frau Schmidt", "she"),
}

PRONOUN_SUBJECTS = (
    Subject("I", "ich", "1", "I"),
    Subject("you", "du", "2", "you"),
    Subject("he", "er", "3", "he"),
    Subject("she", "sie", "3", "she"),
    Subject("we", "wir", "pl", "we"),
    Subject("they", "sie", "pl", "they"),
)
NOUN_SUBJECTS = (
    *(Subject(name, german, "3", pronoun) for name, (german, _, pronoun) in NAMED.items()),
    Subject("my brother", "mein Bruder", "3", "he"),
    Subject("my sister", "meine Schwester", "3", "she"),
    Subject("our neighbor", "unser Nachbar", "3", "he"),
    Subject("her father", "ihr Vater", "3", "he"),
    Subject("his mother", "seine Mutter", "3", "she"),
    Subject("the teacher", "der Lehrer", "3", "he"),
    Subject("the boy", "der Junge", "3", "he"),
    Subject("the children", "die Kinder", "pl", "they"),
    Subject("my parents", "meine Eltern", "pl", "they"),
)
# English pronoun: English object form, German nominative, accusative, dative.
PERSONAL = {
    "I": ("me", "ich", "mich", "mir"),
    "you": ("you", "du", "dich", "dir"),
    "he": ("him", "er", "ihn", "ihm"),
    "she": ("her", "sie", "sie", "ihr"),
    "we": ("us", "wir", "uns", "uns"),
    "they": ("them", "sie", "sie", "ihnen"),
}
POSSESSIVES = {"my": "mein", "your": "dein", "his": "sein", "her": "ihr", "our": "unser"}

# Ages that a teacher would believe: youngest and oldest; others are 3 to 90.
AGES = {
    "the children": (3, 14),
    "the boy": (3, 16),
    "my parents": (30, 90),
    "Mr. Klein": (25, 90),
    "Mrs. Schmidt": (25, 90),
    "our neighbor": (20, 90),
    "her father": (30, 90),
    "his mother": (30, 90),
    "the teacher": (25, 70),
}

# Each verb with the English names of the things it is done to.
TRANSITIVE: tuple[tuple[Verb, tuple[str, ...]], ...] = (
    (
        _verb("buy/buys/bought", "kaufen/kaufe/kaufst/kauft/gekauft/kauf"),
        words(
            "coat hat dress shirt umbrella bag book newspaper postcard car bicycle lamp "
            "table chair bed radio computer watch phone apple cake egg banana roll gift "
            "picture flower house"
        ),
    ),
    (
        _verb("sell/sells/sold", "verkaufen/verkaufe/verkaufst/verkauft/verkauft/verkauf"),
        words(
            "coat dress bag book car bicycle lamp table bed radio computer watch phone "
            "house picture"
        ),
    ),
    (
        _verb(
            "have/has/had",
            "haben/habe/hast/hat/gehabt/",
            ("present", "past", "want", "would like"),
        ),
        words(
            "coat hat umbrella bag book car bicycle radio computer watch phone key dog cat "
            "gift house room"
        ),
    ),
    (
        _verb("read/reads/read", "lesen/lese/liest/liest/gelesen/lies"),
        words("book letter newspaper postcard report"),
    ),
    (
        _verb("write/writes/wrote", "schreiben/schreibe/schreibst/schreibt/geschrieben/schreib"),
        words("book letter postcard report"),
    ),
    (
        _verb("eat/eats/ate", "essen/esse/isst/isst/gegessen/iss"),
        words("apple cake egg banana roll"),
    ),
    (
        _verb(
            "see/sees/saw",
            "sehen/sehe/siehst/sieht/gesehen/",
            ("present", "past", "can", "want", "would like"),
        ),
        words("dog cat bird house tree car picture train bus gift flower"),
    ),
    (
        _verb(
            "look for/looks for/looked for",
            "suchen/suche/suchst/sucht/gesucht/such",
            ("present", "past", "will", "have to", "want"),
        ),
        words("key umbrella bag book dog cat watch phone coat gift"),
    ),
    (
        _verb(
            "find/finds/found",
            "finden/finde/findest/findet/gefunden/",
            ("past", "can", "have to"),
        ),
        words("key umbrella bag book watch phone letter picture dog cat house"),
    ),
    (
        _verb(
            "need/needs/needed",
            "brauchen/brauche/brauchst/braucht/gebraucht/",
            ("present", "past", "will"),
        ),
        words("coat umbrella bag car bicycle lamp table chair bed computer phone key taxi"),
    ),
    (
        _verb(
            "repair/repairs/repaired",
            "reparieren/repariere/reparierst/repariert/repariert/reparier",
        ),
        words("car bicycle lamp chair bed radio computer watch door window"),
    ),
    (
        _verb(
            "try on/tries on/tried on",
            "an|probieren/probiere/probierst/probiert/anprobiert/probier",
        ),
        words("coat hat dress shirt"),
    ),
    (
        _verb("open/opens/opened", "auf|machen/mache/machst/macht/aufgemacht/mach"),
        words("window door bag gift letter"),
    ),
    (
        _verb("close/closes/closed", "zu|machen/mache/machst/macht/zugemacht/mach"),
        words("window door bag umbrella"),
    ),
    (
        _verb(
            "turn on/turns on/turned on",
            "ein|schalten/schalte/schaltest/schaltet/eingeschaltet/schalte",
        ),
        words("lamp radio computer phone"),
    ),
    (
        _verb(
            "turn off/turns off/turned off",
            "aus|schalten/schalte/schaltest/schaltet/ausgeschaltet/schalte",
        ),
        words("lamp radio computer phone"),
    ),
    (
        _verb("tidy up/tidies up/tidied up", "auf|räumen/räume/räumst/räumt/aufgeräumt/räum"),
        words("room kitchen office house"),
    ),
    (
        _verb("clean/cleans/cleaned", "putzen/putze/putzt/putzt/geputzt/putz"),
        words("window door kitchen room lamp bicycle"),
    ),
    (
        _verb("draw/draws/drew", "zeichnen/zeichne/zeichnest/zeichnet/gezeichnet/zeichne"),
        words("picture tree flower bird dog cat house"),
    ),
    (
        _verb("lose/loses/lost", "verlieren/verliere/verlierst/verliert/verloren/", ("past",)),
        words("key umbrella bag phone watch letter book hat"),
    ),
    (
        _verb(
            "forget/forgets/forgot", "vergessen/vergesse/vergisst/vergisst/vergessen/", ("past",)
        ),
        words("key umbrella bag phone book coat gift"),
    ),
    (
        _verb("wash/washes/washed", "waschen/wasche/wäschst/wäscht/gewaschen/wasch"),
        words("car shirt dress apple dog coat"),
    ),
    (
        _verb("wear/wears/wore", "tragen/trage/trägst/trägt/getragen/"),
        words("coat hat dress shirt watch"),
    ),
    (
        _verb("carry/carries/carried", "tragen/trage/trägst/trägt/getragen/trag"),
        words("bag chair table bed computer"),
    ),
    (
        _verb("take/takes/took", "nehmen/nehme/nimmst/nimmt/genommen/nimm"),
        words("train bus taxi"),
    ),
    (
        _verb("miss/misses/missed", "verpassen/verpasse/verpasst/verpasst/verpasst/", ("past",)),
        words("train bus"),
    ),
    (
        _verb("like/likes/liked", "mögen/mag/magst/mag/gemocht/", ("present",)),
        words(
            "coat hat dress book car cake apple banana egg dog cat bird house flower picture room"
        ),
    ),
)
# What one makes or buys, one does not own yet.
NEVER_OWNED = frozenset({"buy", "write", "draw"})
NOBODYS = frozenset({"train", "bus", "taxi"})
# Only a definite object makes sense: one's own, or one that is there.
DEFINITE_ONLY = frozenset(words("tidy_up turn_on turn_off open close clean like miss forget wash"))
# And here only an indefinite one.
INDEFINITE_ONLY = frozenset({"have"})
# Several at once make sense.
PLURAL = frozenset(
    words(
        "buy sell read write eat see find need repair open close clean draw lose wash like "
        "carry look_for turn_off"
    )
)
# "I like dogs": what one can do with any of a kind.
BARE_PLURAL = frozenset(words("buy sell read write eat see draw like"))
COUNTED = frozenset(words("buy sell have read write eat see need find repair draw"))
UNCOUNTED = frozenset(words("house bed room taxi train bus"))
# Of these there may well be dozens.
MANY = frozenset(
    (verb, thing)
    for verb in words("buy sell have need")
    for thing in words("book letter postcard apple egg roll flower newspaper")
)
# What children do not do, and what they do not deal with.
GROWN_UP_VERBS = frozenset(words("sell repair work invite"))
GROWN_UP_THINGS = frozenset(words("car house office report beer coffee"))
# One has to, and then cannot do anything else.
DUTIES = frozenset(
    words(
        "repair work visit help call clean wash write read travel wait bring send sell pick_up "
        "tidy_up look_for"
    )
)
# With these one can lend a hand.
EASIER_TOGETHER = frozenset(
    words("repair clean wash write sell buy carry draw read find need tidy_up look_for")
)

# Things and their prices in euros: from, below, step.
PRICES = (
    (words("apple banana egg roll postcard newspaper flower"), (2, 10, 1)),
    (words("coat hat dress shirt umbrella bag book lamp chair radio gift cake"), (10, 100, 1)),
    (words("table bed computer watch phone picture bicycle"), (100, 1000, 10)),
    (words("car"), (2000, 10000, 100)),
)

DRINK = _verb("drink/drinks/drank", "trinken/trinke/trinkst/trinkt/getrunken/trink")

# What is done to people: in the accusative, in the dative, or after a preposition.
WITH_ACCUSATIVE = (
    _verb("visit/visits/visited", "besuchen/besuche/besuchst/besucht/besucht/besuch"),
    _verb("call/calls/called", "an|rufen/rufe/rufst/ruft/angerufen/ruf"),
    _verb("pick up/picks up/picked up", "ab|holen/hole/holst/holt/abgeholt/hol"),
    _verb("invite/invites/invited", "ein|laden/lade/lädst/lädt/eingeladen/lade"),
    _verb("meet/meets/met", "treffen/treffe/triffst/trifft/getroffen/triff"),
    _verb("see/sees/saw", "sehen/sehe/siehst/sieht/gesehen/", ("past", "can", "want", "will")),
    _verb("ask/asks/asked", "fragen/frage/fragst/fragt/gefragt/frag"),
    _verb(
        "understand/understands/understood",
        "verstehen/verstehe/verstehst/versteht/verstanden/",
        ("present", "past", "can", "want"),
    ),
    _verb("know/knows/knew", "kennen/kenne/kennst/kennt/gekannt/", ("present",)),
)
WITH_DATIVE = (
    _verb("help/helps/helped", "helfen/helfe/hilfst/hilft/geholfen/hilf"),
    _verb("thank/thanks/thanked", "danken/danke/dankst/dankt/gedankt/danke"),
    _verb(
        "answer/answers/answered", "antworten/antworte/antwortest/antwortet/geantwortet/antworte"
    ),
    _verb(
        "believe/believes/believed",
        "glauben/glaube/glaubst/glaubt/geglaubt/glaub",
        ("present", "past", "will", "can", "want"),
    ),
    _verb("listen to/listens to/listened to", "zu|hören/höre/hörst/hört/zugehört/hör"),
)
WAIT = _verb("wait/waits/waited", "warten/warte/wartest/wartet/gewartet/warte")
# Verb: English preposition, German preposition, case.
WITH_PREPOSITION: dict[Verb, tuple[str, str, Case]] = {
    WAIT: ("for", "auf", "accusative"),
    _verb("talk/talks/talked", "sprechen/spreche/sprichst/spricht/gesprochen/sprich"): (
        "to",
        "mit",
        "dative",
    ),
    _verb("dance/dances/danced", "tanzen/tanze/tanzt/tanzt/getanzt/tanz"): (
        "with",
        "mit",
        "dative",
    ),
    _verb("play/plays/played", "spielen/spiele/spielst/spielt/gespielt/spiel"): (
        "with",
        "mit",
        "dative",
    ),
}
# Each verb with the English names of what is given.
DITRANSITIVE = (
    (
        _verb("give/gives/gave", "geben/gebe/gibst/gibt/gegeben/gib"),
        words("book letter picture gift key flower postcard umbrella newspaper"),
    ),
    (
        _verb("show/shows/showed", "zeigen/zeige/zeigst/zeigt/gezeigt/zeig"),
        words("book letter picture gift postcard room house car"),
    ),
    (
        _verb("send/sends/sent", "schicken/schicke/schickst/schickt/geschickt/schick"),
        words("book letter picture gift key postcard report"),
    ),
    (
        _verb("bring/brings/brought", "bringen/bringe/bringst/bringt/gebracht/bring"),
        words("book letter chair cake key flower umbrella newspaper"),
    ),
)
PUT = _verb("put/puts/put", "legen/lege/legst/legt/gelegt/leg")
LAID = words("book letter newspaper postcard key phone watch hat umbrella shirt picture report")
# English: German where to (accusative), German where (dative).
SURFACES = {
    "on the table": ("auf den Tisch", "auf dem Tisch"),
    "on the chair": ("auf den Stuhl", "auf dem Stuhl"),
    "on the bed": ("auf das Bett", "auf dem Bett"),
    "under the bed": ("unter das Bett", "unter dem Bett"),
    "in the bag": ("in die Tasche", "in der Tasche"),
    "next to the lamp": ("neben die Lampe", "neben der Lampe"),
    "next to the computer": ("neben den Computer", "neben dem Computer"),
}

TRAVEL = _verb("travel/travels/traveled", "fahren/fahre/fährst/fährt/gefahren+sein/fahr")
GO = _verb("go/goes/went", "gehen/gehe/gehst/geht/gegangen+sein/geh")
LIVE = _verb(
    "live/lives/lived",
    "wohnen/wohne/wohnst/wohnt/gewohnt/",
    ("present", "past", "want", "will", "would like"),
)
WORK = _verb("work/works/worked", "arbeiten/arbeite/arbeitest/arbeitet/gearbeitet/arbeite")
SLEEP = _verb("sleep/sleeps/slept", "schlafen/schlafe/schläfst/schläft/geschlafen/schlaf")
GET_UP = _verb("get up/gets up/got up", "auf|stehen/stehe/stehst/steht/aufgestanden+sein/steh")
COME = _verb("come/comes/came", "kommen/komme/kommst/kommt/gekommen+sein/komm")
ARRIVE = _verb(
    "arrive/arrives/arrived",
    "an|kommen/komme/kommst/kommt/angekommen+sein/",
    ("present", "past", "will"),
)
DEPART = _verb(
    "leave/leaves/left",
    "ab|fahren/fahre/fährst/fährt/abgefahren+sein/",
    ("present", "past", "will"),
)
# (verb, from, to, step, English unit, German unit)
DURATIONS = (
    (SLEEP, 2, 12, 1, "hours", "Stunden"),
    (WORK, 2, 12, 1, "hours", "Stunden"),
    (WAIT, 5, 55, 5, "minutes", "Minuten"),
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
# English where to: German where to, English where, German where.
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
    "ready": "fertig",
}

_COMING = (
    ("today", "heute"),
    ("tomorrow", "morgen"),
    ("this evening", "heute Abend"),
    ("on Monday", "am Montag"),
    ("on Saturday", "am Samstag"),
)
# Tense: (English, German) adverbs of time; "week" is too long for what one does in a day.
TIMES = {
    "past": (
        ("yesterday", "gestern"),
        ("today", "heute"),
        ("this morning", "heute Morgen"),
        ("last week", "letzte Woche"),
        ("on Monday", "am Montag"),
        ("on Saturday", "am Samstag"),
    ),
    "will": (*_COMING, ("next week", "nächste Woche")),
    "can": _COMING,
    "have to": _COMING,
    "want": _COMING,
    "would like": _COMING,
}
# Before the verb in English, at the place of the time in German.
FREQUENCIES = (("often", "oft"), ("always", "immer"), ("sometimes", "manchmal"))
HABIT_TIMES = (("every day", "jeden Tag"), ("every week", "jede Woche"), ("on Sundays", "sonntags"))
HABITS = frozenset(
    words(
        "read eat drink wear visit call help talk play dance go travel wait work clean tidy_up "
        "meet pick_up get_up come take"
    )
)
# These happen on a day, and these on none.
DAILY = frozenset(
    words(
        "eat drink go open close wear read put take wait get carry come sleep arrive leave "
        "get_up turn_on turn_off try_on pick_up"
    )
)
TIMELESS = frozenset(words("live know like have believe understand need"))

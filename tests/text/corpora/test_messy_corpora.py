"""The table of messy and wrong corpora in docs/data.md, a test for each row."""

from pathlib import Path

import pytest

from transformer_tf.commands.train import default_config
from transformer_tf.config import load_config
from transformer_tf.errors import TransformerTFError
from transformer_tf.runs.trainer import Trainer
from transformer_tf.text.corpora.corpus import load_corpus
from transformer_tf.text.corpora.phrasebook import load_phrasebook

PAIRS = [(phrase.source, phrase.target) for phrase in load_phrasebook()[::40]]


def table(rows: list[tuple[str, ...]], separator: str = "\t") -> str:
    return "".join(f"{separator.join(row)}\n" for row in rows)


def excel(separator: str) -> bytes:
    """The pairs and one with quotes and a comma, as Excel writes them."""

    def field(text: str) -> str:
        quoted = text.replace('"', '""')
        return f'"{quoted}"' if set(text) & set('",;') else text

    rows = [("English", "German"), ('Well, "hi"; Tom', 'Na, "hi"; Tom'), *PAIRS]
    return table([tuple(map(field, row)) for row in rows], separator).replace("\n", "\r\n").encode()


NUMBERED = [(str(number), *pair) for number, pair in enumerate(PAIRS)]
LINKED = [(str(number), source, str(9 * number), target) for number, source, target in NUMBERED]
SWAPPED = [(target, source) for source, target in PAIRS]
RIGHT = {
    "semicolons, quotes and a header from Excel": (excel(";"), ()),
    "Excel's Unicode text": (excel("\t").decode().encode("utf-16"), ()),
    "columns by name": (
        table([("id", "text", "German text"), *NUMBERED]).encode(),
        ["data.columns=[text, german text]"],
    ),
    "columns by number": (table(LINKED).encode(), ["data.columns=[2, 4]"]),
    "a header in the other order": (
        table([("Deutsch", "x"), ("German", "en"), *SWAPPED][1:]).encode(),
        (),
    ),
    "quotes of the text itself": (
        table([*PAIRS, ('"Hi," he said.', '"Hi", sagte er.')]).encode(),
        (),
    ),
}
WRONG = {
    "a number in the first column": (table(NUMBERED, ",").encode(), (), "data.columns=[2, 3]"),
    "four columns": (table(LINKED).encode(), (), "data.columns=[2, 4]"),
    "a column that is not there": (
        table([("id", "english", "german"), *NUMBERED]).encode(),
        ["data.columns=[english, spanish]"],
        "'id', 'english', 'german'",
    ),
    "no separator": (table([PAIRS[0][:1]]).encode(), (), PAIRS[0][0]),
    "Latin-1": (table(PAIRS).encode("latin-1"), (), "iconv -f latin1"),
    "a spreadsheet": (b"PK\3\4" + bytes(99), (), "save the sheet as CSV"),
    "swapped columns": (table(SWAPPED).encode(), (), "data.swap=true"),
    "another language": (
        table(PAIRS).encode(),
        ["data.target_language=es"],
        "data.target_language=de",
    ),
    "the checkpoint of the other direction": (
        table(PAIRS).encode(),
        ["training.start_from=de-en"],
        "training.start_from=en-de",
    ),
    "copies instead of translations": (
        table([(source * 2, source * 2) for source, _ in PAIRS]).encode(),
        (),
        "identical sides",
    ),
    "lines of another width": (
        table([*PAIRS, *9 * [("cut off",)]]).encode(),
        (),
        f"line {len(PAIRS) + 1}, 'cut off'",
    ),
    "an open quote": (table([*PAIRS, ('"Hi', "Hallo")], ",").encode(), (), "correct its quotes"),
}


def configure(content: bytes, overrides: list[str], folder: Path):
    (folder / "mine.txt").write_bytes(content)
    overrides = [f"data.files={folder / 'mine.txt'}", *overrides]
    return load_config(default_config(overrides), overrides)


@pytest.mark.parametrize("name", RIGHT)
def test_a_messy_corpus_is_read(name: str, tmp_path: Path) -> None:
    content, overrides = RIGHT[name]
    corpus = load_corpus(configure(content, list(overrides), tmp_path).data)
    found = {*corpus.train, *corpus.validation, *corpus.test}
    assert len(found) + sum(corpus.removed.values()) - len(PAIRS) in (0, 1)  # and one more pair
    assert found <= {
        *PAIRS,
        ('Well, "hi"; Tom', 'Na, "hi"; Tom'),
        ('"Hi," he said.', '"Hi", sagte er.'),
    }


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_corpus_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    content, overrides, advice = WRONG[name]
    with pytest.raises(TransformerTFError) as caught:
        Trainer(configure(content, list(overrides), tmp_path), tmp_path / "run").prepare()
    assert advice in str(caught.value)
    assert "\n" not in str(caught.value)

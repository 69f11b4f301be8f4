"""The placeholders of the page beside those of Python, in Node.js."""

import json
import shutil
import subprocess

import pytest

from benchmarks.copying import make_sentences
from tests.text.test_placeholders import ALPHABET, ENGLISH, GERMAN, GERMAN_KNOWN, GERMAN_NAMES
from transformer_tf.export.web.pack import front_coded, placeholders_header
from transformer_tf.export.web.site import FILES
from transformer_tf.text.placeholders import Placeholders

KNOWN = frozenset(["the", "room", "is", "in", "met"]) | GERMAN_KNOWN
TEXTS = (
    "I met Giorgos Papadopoulos in Ulm.",
    "Mail a.b@c-d.org or open http://localhost:8080/a!",
    "11, 12, 13, 14, 15, 16, 17, 18 and 19",
    "See https://x.com/?a=12&b=34&c=56d now, or 12.",
    "AT&T (the firm) – “C#” 😀 São",
    "Öl aus ÖSTERREICH, Éva, Ñandú",
)

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")


def run(header, code):
    """Runs a program with `placeholders`, which prints one value as JSON."""
    engine = (FILES / "engine" / "placeholders.js").read_text(encoding="utf-8")
    made = f"new Placeholders({json.dumps(header)}, {json.dumps(sorted(ALPHABET))})"
    program = f"{engine}\nconst placeholders = {made};\nconsole.log(JSON.stringify({code}));"
    command = ["node", "--input-type=module"]
    found = subprocess.run(command, input=program.encode(), capture_output=True, check=True)
    return json.loads(found.stdout)


@pytest.mark.parametrize(
    ("languages", "written"), [("en de", ENGLISH), ("en es", ENGLISH), ("de en", GERMAN)]
)
def test_the_page_masks_and_unmasks_as_python_does(languages, written):
    source, target = languages.split()
    texts = [*TEXTS, *(text for text, *_ in [*written, *GERMAN_NAMES])]
    texts += [sentence for _, sentence, _ in make_sentences(source, target, 20)]
    placeholders = Placeholders(source, target, KNOWN, ALPHABET)
    page = run(
        placeholders_header(placeholders),
        f"""{json.dumps(texts)}.map((text) => {{
            const masked = placeholders.mask(text);
            return {{ ...masked, unmasked: placeholders.unmask(masked.text, masked) }};
        }})""",
    )
    for text, found in zip(texts, page, strict=True):
        masked, values = placeholders.mask(text)
        assert found == {
            "text": masked,
            "kinds": [value.kind for value in values],
            "values": [value.source for value in values],
            "targetValues": [value.target for value in values],
            "unmasked": placeholders.unmask(masked, values),
        }


def test_known_words_survive_their_coding():
    words = ["boat", "boats", "straße", "straßen", "𝒳a", "𝒳b", 40 * "o", 40 * "o" + "h", *KNOWN]
    assert front_coded(["boats", "boat"]) == "0boat 4s"
    header = placeholders_header(Placeholders("en", "de", frozenset(words)))
    assert run(header, "[...placeholders.known]") == sorted(words)

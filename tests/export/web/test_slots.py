"""The slots of the page beside those of Python, in Node.js."""

import json
import shutil
import subprocess

import pytest

from transformer_tf.export.web.pack import front_coded
from transformer_tf.export.web.site import FILES
from transformer_tf.text.slots import Slots

KNOWN = ["the", "room", "is", "in", "met"]
TEXTS = (
    "The room costs $1,234.50 at 7:30, not 11 p.m.",
    "I met Giorgos Papadopoulos in Ulm.",
    "Mail a.b@c-d.org or open http://localhost:8080/a!",
    "11, 12, 13, 14, 15, 16, 17, 18 and 19",
    "Three dogs, 3 cats, A4, 1990s.",
    "See https://x.com/?a=12&b=34&c=56d now, or 12.",
)


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
def test_the_page_hides_the_values_that_python_hides():
    settings = {"source_point": True, "target_point": False, "known_words": front_coded(KNOWN)}
    code = f"""{(FILES / "engine" / "slots.js").read_text(encoding="utf-8")}
    const slots = new Slots({json.dumps(settings)});
    console.log(JSON.stringify({json.dumps(TEXTS)}.map((text) => slots.hide(text))));
    """
    command = ["node", "--input-type=module", "--eval", code]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    slots = Slots("en", "de", frozenset(KNOWN))
    for text, page in zip(TEXTS, found, strict=True):
        hidden, values = slots.hide(text)
        assert (page["text"], tuple(page["values"])) == (hidden, values)
        assert page["targetValues"] == [slots.convert(value) for value in values]


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
def test_known_words_survive_their_coding():
    words = ["boat", "boats", "straße", "straßen", "𝒳a", "𝒳b", 40 * "o", 40 * "o" + "h", *KNOWN]
    assert front_coded(["boats", "boat"]) == "0boat 4s"
    settings = {"source_point": True, "target_point": True, "known_words": front_coded(words)}
    code = f"""{(FILES / "engine" / "slots.js").read_text(encoding="utf-8")}
    console.log(JSON.stringify([...new Slots({json.dumps(settings)}).known]));
    """
    command = ["node", "--input-type=module", "--eval", code]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert found == sorted(words)

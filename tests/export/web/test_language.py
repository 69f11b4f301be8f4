"""The language that the page notices is the one that Python notices."""

import json
import shutil
import subprocess

import pytest

from transformer_tf.commands.input_language import language_note
from transformer_tf.export.web.site import FILES
from transformer_tf.utils.languages import LANGUAGES

KNOWN = ["my", "father", "bought", "a", "new", "car", "the", "dog", "is", "not", "here"]
TEXTS = (
    "My father bought a new car.",
    "Der Hund ist nicht hier und das ist gut.",
    "The dog ist nicht here.",
    "zzyx qwrk blorft mniv",
    "Zzyx Qwrk Blorft Mniv",
    "Der die das",
    "",
)


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
@pytest.mark.parametrize("known", [KNOWN, None])
def test_the_page_notices_what_python_notices(known):
    words = {
        side: LANGUAGES[code].common_words.split()
        for side, code in (("source", "en"), ("target", "de"))
    }
    program = (FILES / "engine" / "language.js").read_text(encoding="utf-8") + (
        f"const known = {json.dumps(known)} && new Set({json.dumps(known)});"
        f"console.log(JSON.stringify({json.dumps(TEXTS)}.map((text) =>"
        f" otherLanguage(text, {json.dumps(words)}, known))));"
    )
    command = ["node", "--input-type=module"]
    found = subprocess.run(command, input=program.encode(), capture_output=True, check=True)
    notes = [language_note([text], "English", "German", known) for text in TEXTS]
    kinds = [note and ("target" if "seems to be German" in note else "unknown") for note in notes]
    assert json.loads(found.stdout) == kinds
    assert {"target", None} <= set(kinds)

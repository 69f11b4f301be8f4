"""Writes the pairs as files for `data.mix`: `python -m tools.everyday FOLDER`."""

import sys
from pathlib import Path

from tools.everyday import expressions, value_pairs

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, pairs in (("expressions", expressions()), ("values", value_pairs(12_000))):
        text = "".join(f"{source}\t{target}\n" for source, target in pairs)
        (folder / f"{name}.tsv").write_text(text, encoding="utf-8")

"""Joins JavaScript modules into one script, or one module.

Browsers refuse modules in a page that is opened from a file, without a server. The project's
modules use only two forms: `import { … } from "./other.js";` and `export` before a declaration.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from pathlib import Path

_IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async |class |const |function |let ))", re.MULTILINE)
_DECLARED = re.compile(r"^(?:export )?(?:async )?(?:class|const|function|let) (\w+)", re.MULTILINE)


def bundle_script(entry: Path) -> str:
    """Joins a module and all that it imports into a classic script.

    Args:
        entry: The module to run.

    Raises:
        ValueError: If two modules declare the same name, since they share one scope.
    """
    return f'(() => {{\n"use strict";\n{_joined(entry)}}})();\n'


def bundle_module(entry: Path, name: str) -> str:
    """Joins a module and all that it imports into one module.

    Args:
        entry: The module.
        name: The only name to export.

    Raises:
        ValueError: If two modules declare the same name.
    """
    return f"{_joined(entry)}export {{ {name} }};\n"


def _joined(entry: Path) -> str:
    """Joins modules, each before the first one that needs it."""
    modules: dict[Path, str] = {}
    _collect(entry.resolve(), modules)
    counts = Counter(name for text in modules.values() for name in _DECLARED.findall(text))
    doubled = [name for name, count in counts.items() if count > 1]
    if doubled:
        raise ValueError(f"Names must differ between modules. Received: {', '.join(doubled)}")
    texts = (_EXPORT.sub("", _IMPORT.sub("", text)) for text in modules.values())
    return "".join(texts)


def _collect(path: Path, modules: dict[Path, str]) -> None:
    if path in modules:
        return
    text = path.read_text(encoding="utf-8")
    for name in _IMPORT.findall(text):
        _collect((path.parent / name).resolve(), modules)
    modules[path] = text


def source_hash(text: str) -> str:
    """Returns the source expression of a content security policy that allows an inline element."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

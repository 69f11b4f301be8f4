"""A server of one system of `benchmarks.serve`.

`python -m benchmarks.serve_worker ENGINE FOLDER BATCHES` prints, for each line that it reads, its
port and the seconds of processor time that it has used. BATCHES is `shared`, or `own` if each
request is translated by itself.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.serve import SOURCE, TARGET
from transformer_tf.serve.server import TranslationServer
from transformer_tf.translator import Translator


class OwnBatches:
    """Translates each request by itself, in its own thread."""

    def search(self, translator: Translator, texts: list[str], n_best: int, alignment: bool) -> Any:
        """As `SharedBatches.search`."""
        return translator.search(texts, n_best=n_best, alignment=alignment)


def main() -> None:
    """Serves until the end of standard input."""
    engine: Any
    engine, folder, batches = sys.argv[1:]
    translator = Translator.load(Path(folder), engine=engine)
    server = TranslationServer(("127.0.0.1", 0), {(SOURCE, TARGET): translator}, [])
    if batches == "own":
        server.api.batches = OwnBatches()  # type: ignore[assignment]
    translator.translate("A first sentence.")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for _ in sys.stdin:
        answer = {"port": server.server_port, "seconds": time.process_time()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

"""The process of one engine of `benchmarks.start`.

`python -m benchmarks.start_worker ENGINE FOLDER BEAM_SIZE` reads lines of JSON, each a list of
texts, and prints the seconds that their translation took and its number of tokens.
"""

from __future__ import annotations

import json
import sys
import time

from transformer_tf.translator import Translator


def main() -> None:
    """Answers requests until standard input ends."""
    engine, folder, beam_size = sys.argv[1:]
    overrides = [f"decoding.beam_size={beam_size}"]
    translator = Translator.load(folder, overrides, engine)  # type: ignore[arg-type]
    for line in sys.stdin:
        texts = json.loads(line)
        begin = time.perf_counter()
        found = translator.search(texts)
        seconds = time.perf_counter() - begin
        tokens = sum(len(best.tokens) for best, *_ in found)
        print(json.dumps({"seconds": seconds, "tokens": tokens}), flush=True)


if __name__ == "__main__":
    main()

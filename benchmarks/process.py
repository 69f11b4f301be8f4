"""Requests to another process and its answers, as JSON lines."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from transformer_tf.errors import TransformerTFError


class WorkerProcess:
    """Runs `python -m module arguments`. Use it as a context manager.

    Args:
        name: The name of the process in errors.
        command: The module and its arguments.
    """

    def __init__(self, name: str, command: Sequence[object]):
        self.name = name
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=Path(__file__).resolve().parent.parent,  # where Python finds `benchmarks`
        )

    def ask(self, question: Any) -> Any:
        """Sends one JSON line and returns the next one that the process prints.

        Raises:
            TransformerTFError: If the process ends instead; with its last line of output.
        """
        assert self._process.stdin and self._process.stdout
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(question), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            self._log.seek(0)
            lines = self._log.read().strip().splitlines() or ["no message"]
            raise TransformerTFError(f"The process of {self.name} ended: {lines[-1]}")
        return json.loads(answer)

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        pipes: tuple[IO[str] | None, ...] = (
            self._process.stdin,
            self._process.stdout,
            self._log,
        )
        for pipe in pipes:
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

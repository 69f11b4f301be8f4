"""A process that measures something when it is asked to, in JSON lines."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO, Any

from transformer_tf.errors import TransformerTFError


class WorkerProcess:
    """Runs `python -m module arguments` and talks with it. Use it as a context manager.

    Args:
        name: What to call it in an error.
        command: The module and its arguments.
        environment: What to add to the environment.
    """

    def __init__(
        self, name: str, command: Sequence[object], environment: Mapping[str, str] | None = None
    ):
        self.name = name
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, **(environment or {})},
        )

    def ask(self, question: Any) -> Any:
        """Sends a line of JSON and waits for one.

        Raises:
            TransformerTFError: If the process ends instead, with the last line it wrote.
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

"""What every command does first and last: a quiet start, and errors of one line."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from transformer_tf.errors import TransformerTFError

STARTED = time.monotonic()


def command_line(name: str) -> str:
    """How a user calls one of the commands: by its script in a checkout, else as installed."""
    script = Path(__file__).resolve().parents[1] / "scripts" / f"{name}.py"
    return f"python scripts/{name}.py" if script.is_file() else f"transformer-tf-{name}"


def import_keras_quietly(compute: bool = True) -> None:
    """Imports Keras and its back end without the chatter of their start-up.

    TensorFlow's C++ parts write to file descriptor 2 before any log level is heard. What they
    say is kept back, and shown only if the import fails.

    Args:
        compute: Whether it may look for devices, which must wait where several processes join.

    Raises:
        TransformerTFError: If Keras or its back end cannot be imported.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with standard_error_kept_back():
        try:
            import keras

            if keras.backend.backend() == "jax":
                _keep_compiled_programs()
            # TensorFlow says more when it looks for devices, at its first operation.
            if compute:
                keras.ops.zeros(1)
        except (ImportError, ValueError) as error:  # such as a misspelt KERAS_BACKEND
            raise TransformerTFError(f"Keras cannot be started: {error}") from error


def leave_graphs_as_they_are() -> None:
    """Spares TensorFlow's graph optimiser: the 0.3 s it takes a single sentence does not earn back.

    For a whole process, so only for one that ends with that sentence.
    """
    import keras

    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


def processors() -> int:
    """How many processors this process may use; of those of the machine it may be given a few."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _keep_compiled_programs() -> None:
    """Lets JAX keep compiled programs on disk, for processes to come.

    TensorFlow has no such cache that pays: its own saves a third of the time and warns of the
    processor it was made on.
    """
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return  # the user has one
    import jax
    import pooch

    folder = os.environ.get("TRANSFORMER_TF_CACHE") or pooch.os_cache("transformer_tf")
    jax.config.update("jax_compilation_cache_dir", os.path.join(folder, "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)


def run_command(main: Callable[[], None]) -> int:
    """Runs a command and turns what went wrong into one line on stderr.

    Returns:
        The exit status: 0, or 1 after an error, or 130 after Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")  # as files are; Windows would choose cp1252
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        return _run(main)


def _run(main: Callable[[], None]) -> int:
    try:
        main()
        sys.stdout.flush()
        return 0
    except TransformerTFError as error:
        message = str(error)
    except BrokenPipeError:
        # Whoever read our output has had enough of it; Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        message = f"{where}{error.strerror or error}"
    except KeyboardInterrupt as interrupt:
        print(f"\n{str(interrupt) or 'stopped'}", file=sys.stderr)
        return 130
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return 1


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """A warning as a user wants to read it: one line, without the place in the code."""
    print(f"warning: {' '.join(str(message).split())}", file=file or sys.stderr)


@contextlib.contextmanager
def standard_error_kept_back() -> Iterator[None]:
    """Keeps back what C++ parts write to file descriptor 2, unless an exception follows."""
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        except BaseException:
            kept.seek(0)
            os.write(saved, kept.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)

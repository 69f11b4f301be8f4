"""Start-up and error handling that all commands share."""

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
from transformer_tf.utils.files import user_folder

STARTED = time.monotonic()
# What to install for a module, if not a package of its name.
PACKAGES = {"google": "protobuf", "yaml": "pyyaml"}
OF_TRAINING = ("bpemb", "filelock", "keras", "pooch", "tensorflow")  # it needs all dependencies


def command_line(name: str) -> str:
    """Returns how to call a command: as a script if this program is one, else as installed."""
    scripts = Path(__file__).resolve().parents[2] / "scripts"
    called = Path(sys.argv[0]).parent
    return f"python {called / name}.py" if called.resolve() == scripts else f"transformer-tf-{name}"


def import_keras_quietly(compute: bool = True) -> None:
    """Imports Keras and its backend without their log messages.

    TensorFlow's C++ code writes to file descriptor 2 before any log level takes effect. That
    output is captured, and shown only if the import fails.

    Args:
        compute: Whether the backend may look for devices. If several processes join a run,
            they must join first.

    Raises:
        TransformerTFError: If Keras or its backend cannot be imported.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with quiet_stderr():
        try:
            import keras

            if keras.backend.backend() == "jax":
                _cache_compiled_programs()
            if compute:  # the first operation makes TensorFlow log the devices it finds
                keras.ops.zeros(1)
        except ModuleNotFoundError as error:
            raise TransformerTFError(not_installed(error)) from error
        except (ImportError, ValueError) as error:  # for example, a misspelled KERAS_BACKEND
            raise TransformerTFError(f"Keras cannot be started: {error}") from error


def not_installed(error: ModuleNotFoundError) -> str:
    """Returns a message with the command that installs the package of a missing module."""
    module = (error.name or "").partition(".")[0]
    if module in OF_TRAINING:
        return (
            f"{module} is not installed; install all dependencies, in the clone with: "
            "python -m pip install ."
        )
    package = PACKAGES.get(module, module)
    return f"{module} is not installed; install it with: python -m pip install {package}"


def available_cpus() -> int:
    """Returns the number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cache_compiled_programs() -> None:
    """Makes JAX keep compiled programs on disk for later processes.

    TensorFlow's own cache saves only a third of the time and warns about the processor that
    compiled a program, so it is not used.
    """
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return  # the user's own cache
    import jax

    folder = user_folder("TRANSFORMER_TF_CACHE") / "jax"
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)


def run_command(main: Callable[[], None]) -> int:
    """Runs a command and reports an error as one line on stderr.

    Returns:
        The exit status: 0 for success, 1 after an error, 130 after Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")  # Windows defaults to cp1252
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
    except ModuleNotFoundError as error:
        message = not_installed(error)
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does. Without this, Python reports an error at exit.
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
    """Prints a warning as one line, without its location in the code."""
    print(f"warning: {' '.join(str(message).split())}", file=file or sys.stderr)


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """Captures what native code writes to file descriptor 2; shows it only after an exception."""
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as captured:
        os.dup2(captured.fileno(), 2)
        try:
            yield
        except BaseException:
            captured.seek(0)
            os.write(saved, captured.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)

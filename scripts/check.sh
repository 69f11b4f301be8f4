#!/usr/bin/env bash
# Runs before a commit: format, lint, types, import contracts and the quick tests.
# With --all it runs the slow tests and the model's tests under JAX, too.
# Further arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
selection=(-m "not slow")
if [ "${1:-}" = --all ]; then
    selection=()
    shift
fi
python -m ruff format --check .
python -m ruff check .
python -m mypy
lint-imports --no-logo
python -m pytest -n 2 --dist worksteal "${selection[@]}" "$@"
if [ ${#selection[@]} = 0 ]; then
    KERAS_BACKEND=jax python -m pytest -q -n 2 --dist worksteal -p no:cacheprovider \
        tests/layers tests/test_transformer.py tests/decoding/test_engines.py \
        tests/training/test_{schedule,losses,copy_task,model}.py \
        tests/runs/test_resume.py::test_stopped_three_times
fi

#!/usr/bin/env bash
# Everything that must hold before a commit: format, lint, types, import direction, tests.
set -euo pipefail
cd "$(dirname "$0")/.."
python -m ruff format --check .
python -m ruff check .
python -m mypy
lint-imports --no-logo
python -m pytest -n 2 --dist loadfile "$@"

"""A mutation run: changes a file in one place at a time, and counts what no test notices.

python -m tools.mutation                                         # all files of TESTS
python -m tools.mutation transformer_tf/layers/masks.py --sample 50

It needs mutmut (python -m pip install mutmut) and an operating system with `fork`. TensorFlow is
imported once for a file. Each mutant runs in a fork, with the tests that call the changed function,
until one of them fails. Texts of errors, constants outside of functions and decorated
functions are not changed. A mutant that changes no result is listed with the reason in
`equivalent_mutants.tsv`.
"""

import argparse
import csv
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.tsv")
LAYERS = ("tests/layers", "tests/test_transformer.py", "tests/test_numpy_transformer.py")
# The tests of each file.
TESTS = {
    "transformer_tf/layers/masks.py": LAYERS,
    "transformer_tf/layers/positional.py": LAYERS,
    "transformer_tf/layers/attention.py": LAYERS,
    "transformer_tf/layers/feed_forward.py": LAYERS,
    "transformer_tf/layers/encoder.py": LAYERS,
    "transformer_tf/layers/decoder.py": LAYERS,
    "transformer_tf/transformer.py": LAYERS,
    "transformer_tf/numpy_transformer.py": ("tests/test_numpy_transformer.py",),
    "transformer_tf/decoding/numpy_search.py": ("tests/decoding/test_numpy_search.py",),
    "transformer_tf/decoding/numpy_engine.py": ("tests/decoding/test_engines.py",),
    "transformer_tf/decoding/keras_engine.py": ("tests/decoding/test_engines.py",),
    "transformer_tf/decoding/batched.py": ("tests/decoding/test_engines.py",),
    "transformer_tf/training/losses.py": ("tests/training/test_losses.py",),
    "transformer_tf/training/schedule.py": ("tests/training/test_schedule.py",),
    "transformer_tf/training/chunked_loss.py": (
        "tests/training/test_losses.py",
        "tests/training/test_model.py",
    ),
    "transformer_tf/training/muon.py": ("tests/training/test_muon.py",),
    "transformer_tf/training/averaging.py": ("tests/training/test_model.py",),
    "transformer_tf/training/model.py": ("tests/training/test_model.py",),
    "transformer_tf/training/stream.py": ("tests/training/test_model.py",),
    "transformer_tf/training/progress.py": ("tests/training/test_progress.py",),
    "transformer_tf/training/validation.py": (
        "tests/training/test_validation.py",
        "tests/training/test_model.py",
    ),
    "transformer_tf/training/callbacks.py": ("tests/training/test_callbacks.py", "tests/runs"),
    "transformer_tf/training/distribution.py": ("tests/training/test_distribution.py",),
    "transformer_tf/training/loop.py": ("tests/runs",),
    "transformer_tf/text/placeholders.py": ("tests/text/test_placeholders.py",),
    "transformer_tf/text/corpora/splits.py": (
        "tests/text/corpora/test_splits.py",
        "tests/text/corpora/test_corpus.py",
    ),
    "transformer_tf/evaluation/scores.py": ("tests/evaluation/test_report.py",),
}
# Their tests need no Keras, and so no `conftest.py`, which imports it.
NO_KERAS = (
    "transformer_tf/decoding/numpy_search.py",
    "transformer_tf/text/placeholders.py",
    "transformer_tf/text/corpora/splits.py",
    "transformer_tf/evaluation/scores.py",
)
SETTINGS = """[mutmut]
source_paths =
    transformer_tf
only_mutate =
    {path}
also_copy =
    configs
do_not_mutate_patterns =
    raise \\w+
process_isolation = forkserver
timeout_constant = 15.0
use_git_change_detection = false
pytest_add_cli_args =
    -pno:xdist
    -pno:cacheprovider
pytest_add_cli_args_test_selection =
    -mnot slow
"""

# Keras reads the argument names of `__init__`, which mutmut wraps.
UNWRAP = """
import inspect
_getfullargspec = inspect.getfullargspec
inspect.getfullargspec = lambda function: _getfullargspec(inspect.unwrap(function))
"""


def run(path: str, sample: int | None, seed: int = 0) -> dict[str, list[str]]:
    """Mutates a file in a copy of the repository.

    Args:
        path: A file of `TESTS`.
        sample: Number of mutants to draw; None for all.
        seed: Selects the drawn mutants.

    Returns:
        For each result, such as `killed`, the changes that had it: the old and the new lines.
    """
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.stats import status_by_exit_code
    from mutmut.utils.format_utils import get_mutant_name

    folder = ROOT / "build" / "mutation" / Path(path).stem
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("transformer_tf", "tests", "configs"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    with (folder / "tests" / "conftest.py").open("a", encoding="utf-8") as file:
        file.write(UNWRAP)
    tests = "".join(f"    {name}\n" for name in TESTS[path])
    tests += "    --noconftest\n" * (path in NO_KERAS)
    (folder / "setup.cfg").write_text(SETTINGS.format(path=path) + tests)
    os.chdir(folder)
    names = mutate_file_contents(path, Path(path).read_text(encoding="utf-8")).mutant_names
    names = [get_mutant_name(Path(path), name) for name in names]
    if sample and sample < len(names):
        names = random.Random(seed).sample(names, sample)
    command = "from mutmut.__main__ import cli; cli()"
    subprocess.run([sys.executable, "-c", command, "run", "--max-children=1", *names], check=True)
    meta = json.loads(Path("mutants", f"{path}.meta").read_text(encoding="utf-8"))
    results: dict[str, list[str]] = {}
    for name in names:
        diff = get_diff_for_mutant(name, path=path).splitlines()[2:]
        old, new = (
            " ".join(line[1:].strip() for line in diff if line[0] == sign) for sign in ("-", "+")
        )
        status = status_by_exit_code[meta["exit_code_by_key"][name]]
        results.setdefault(status, []).append(f"{old}\t{new}")
    os.chdir(ROOT)
    return results


def report(path: str, results: dict[str, list[str]], equivalent: set[str]) -> str:
    """Returns a row of the table of scores, and the changes that no test noticed."""
    total = sum(map(len, results.values()))
    alive = [each for name in ("survived", "no tests") for each in results.get(name, [])]
    same = [each for each in alive if f"{path}\t{each}" in equivalent]
    missed = [each for each in alive if f"{path}\t{each}" not in equivalent]
    killed, timeouts = (len(results.get(name, [])) for name in ("killed", "timeout"))
    score = 100 * (killed + timeouts) / max(total - len(same), 1)
    row = (
        f"| {path} | {total} | {killed} | {timeouts} | {len(same)} | {len(missed)} | {score:.1f} |"
    )
    known = ("killed", "timeout", "survived", "no tests")
    others = [f"  {name}: {len(each)}" for name, each in results.items() if name not in known]
    return "\n".join([row, *others, *(f"  {each}" for each in missed)])


def main() -> None:
    """Runs the files of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("paths", nargs="*", metavar="FILE", help="files to mutate (default: all)")
    parser.add_argument("--sample", type=int, help="number of mutants of a file (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="selects the mutants of the sample")
    arguments = parser.parse_args()
    if unknown := set(arguments.paths) - set(TESTS):
        parser.error(f"no tests are listed for {', '.join(sorted(unknown))}")
    with open(EQUIVALENT, encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        equivalent = {"\t".join(row[:3]) for row in rows}
    print("| file | mutants | killed | timeouts | equivalent | survived | score |")
    for path in arguments.paths or TESTS:
        print(report(path, run(path, arguments.sample, arguments.seed), equivalent), flush=True)


if __name__ == "__main__":
    main()

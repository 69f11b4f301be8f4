"""What `pip install` brings to an empty folder, without the checkout."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import transformer_tf

ROOT = Path(__file__).resolve().parents[1]


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The wheel and the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    copy = tmp_path_factory.mktemp("source") / "project"
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if files.returncode:
        pytest.skip("not a git checkout")
    for name in filter(None, files.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    # In a copy: building leaves folders behind. Without isolation: tests have no network.
    result = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, copy],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def run(distributions, tmp_path_factory):
    """Runs Python in an empty folder, with the wheel and not the checkout."""
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", site, distributions[0]], check=True, timeout=300)

    def run(*arguments):
        empty = tmp_path_factory.mktemp("empty")
        result = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=empty,
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert result.returncode == 0, result.stderr[-3000:]
        # TensorFlow logs both when it starts.
        assert "cuda" not in result.stderr
        assert "oneDNN" not in result.stderr
        assert list(empty.iterdir()) == []
        return result.stdout

    run.site = site
    run.commands = list((site / "bin").iterdir())
    return run


def test_what_is_inside(distributions):
    wheel, source = distributions
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    with tarfile.open(source) as archive:
        sources = [name.partition("/")[2] for name in archive.getnames()]
    for of_one in (names, sources):
        assert not [name for name in of_one if name.startswith(("tests/test", "docs"))]
        assert any(name.endswith("LICENSE") for name in of_one)
        for name in ("attention_maps/browser/page.js", "export/web/engine/kernel.wasm"):
            assert any(each.endswith(name) for each in of_one)
    assert not [name for name in names if name.endswith((".tsv", ".csv"))]
    assert wheel.stat().st_size < 100e6  # the limit of PyPI
    assert {name.split("/")[0].split("-")[0] for name in names} == {"transformer_tf"}
    assert wheel.name.split("-")[1] == transformer_tf.__version__


def test_five_lines(run, checkpoint):
    said = run(
        "-c",
        "import sys, transformer_tf\n"
        "heavy = {'tensorflow', 'keras', 'jax', 'numpy', 'matplotlib'}\n"
        "assert not heavy & set(sys.modules)\n"
        f"assert transformer_tf.__file__.startswith({str(run.site)!r})\n"
        "from transformer_tf import Translator\n"
        f"t = Translator.load({str(checkpoint)!r})\n"
        "one = t.translate('I see 3 red cars.')\n"
        "both = t.translate(['I see 3 red cars.', 'A tree.'], beam_size=4, n_best=2)\n"
        "figure = t.attend('I see 3 red cars.').plot('cross', layer=2)\n"
        "print([type(one).__name__, len(both), len(both[0]), bool(figure.axes)])\n",
    )
    assert said.strip() == "['str', 2, 2, True]"


def test_the_commands(run, checkpoint):
    commands = {path.name.removeprefix("transformer-tf-"): path for path in run.commands}
    assert set(commands) >= {"train", "translate", "evaluate", "export"}
    said = run(commands["translate"], "A tree.", "--checkpoint", checkpoint)
    assert len(said.splitlines()) == 1
    assert "training.max_epochs" in run(commands["train"], "--help")
    assert "--resamples" in run(commands["evaluate"], "--help")
    assert "saved-model" in run(commands["export"], "--help")
    how = run("-c", "from transformer_tf.utils.startup import command_line as f; print(f('train'))")
    assert how.strip() == "transformer-tf-train"


def test_names_in_any_folder(run):
    commands = {path.name.removeprefix("transformer-tf-"): path for path in run.commands}
    assert run(commands["translate"], "Where is the station?") == "Wo ist der Bahnhof?\n"
    assert run(commands["translate"], "--from", "German", "Guten Morgen.") == "Good morning.\n"
    said = run(
        "-c",
        "from transformer_tf import Translator\n"
        "from transformer_tf.config import load_config\n"
        "entries = Translator.available()\n"
        "print(*(entry.name for entry in entries if entry.bleu > 40 and entry.num_bytes))\n"
        "print(all(Translator.load(entry.name).translate('Tom') for entry in entries))\n"
        "print(load_config('tatoeba').data.corpus)",
    )
    assert said.splitlines() == ["de-en en-de en-es", "True", "tatoeba"]


def test_only_to_translate(run, tmp_path):
    """The packages that the documentation names are enough; others are named when they miss."""
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    packages = re.findall(r"pip install --no-deps \S+ (.*)", page)[0].split()
    parts = {path.parts[0] for name in packages for path in metadata.files(name) or ()} - {".."}
    environment = tmp_path / "environment"
    environment.mkdir()
    (environment / "transformer_tf").symlink_to(run.site / "transformer_tf")
    for part in parts:
        (environment / part).symlink_to(Path(metadata.distribution("numpy").locate_file(part)))

    def python(code, *arguments):
        result = subprocess.run(
            [sys.executable, "-S", "-c", code, *arguments],  # -S: without installed packages
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(environment)},
            capture_output=True,
            text=True,
        )
        return result.stdout or result.stderr

    def command(name, *arguments):
        code = f"from transformer_tf.commands.{name} import command; raise SystemExit(command())"
        return python(code, *arguments)

    assert python("import transformer_tf.serve.server") == ""
    assert "→ site" in command("export", "--format", "web", "--output", "site")
    assert command("translate", "Where is the station?") == "Wo ist der Bahnhof?\n"
    assert command("translate", "A tree.", "--attention", "a.html") == "Ein Baum.\n"
    for arguments, named in (
        (["train"], "install all dependencies, in the clone with: python -m pip install ."),
        (["translate", "A tree.", "--engine", "keras"], "python -m pip install ."),
        (["translate", "A tree.", "--attention", "a.png"], "python -m pip install matplotlib"),
        (["evaluate", "--from", "de"], "score a table"),
        (["evaluate", "--source", "a.html", "--reference", "a.html"], "install sacrebleu"),
    ):
        (line,) = command(*arguments).splitlines()
        assert named in line

"""Puts the configurations and checkpoints at the top of the project into the package."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = (
    "configs/*.yaml",
    "checkpoints/*/MODEL_CARD.md",  # the license and the sources of the weights
    "checkpoints/*/best.weights.h5",
    "checkpoints/*/config.yaml",
    "checkpoints/*/hashes.txt",
    "checkpoints/*/test.json",
    "checkpoints/*/tokenizers/*",
)


class BuildWithShippedFiles(build_py):
    """Copies them beside the modules; a checkout that is installed editably has them."""

    def run(self) -> None:
        """Builds the modules, then copies."""
        super().run()
        if self.editable_mode:
            return
        root = Path(__file__).parent
        for path in (path for pattern in SHIPPED for path in root.glob(pattern)):
            target = Path(self.build_lib) / "transformer_tf" / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


setup(cmdclass={"build_py": BuildWithShippedFiles})

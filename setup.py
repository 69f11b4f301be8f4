"""Puts the configurations, which stand at the top of the project, into the package."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithConfigs(build_py):
    """Copies `configs` beside the modules; a checkout that is installed editably has them."""

    def run(self) -> None:
        """Builds the modules, then copies."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "transformer_tf" / "configs"
            target.mkdir(parents=True, exist_ok=True)
            for path in Path(__file__).parent.glob("configs/*.yaml"):
                shutil.copyfile(path, target / path.name)


setup(cmdclass={"build_py": BuildWithConfigs})

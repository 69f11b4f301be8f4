"""The two commands that an installation brings: `transformer-tf-train`, `transformer-tf-translate`.

`scripts/train.py` and `scripts/translate.py` are the same for a checkout.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path


def project_folder() -> Path:
    """Where `configs` and `checkpoints` are: the checkout, or else what the installation shares."""
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "configs").is_dir():
        return checkout
    return Path(sysconfig.get_path("data")) / "share" / "transformer_tf"

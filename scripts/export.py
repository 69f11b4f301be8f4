#!/usr/bin/env python
"""Export a translator: python scripts/export.py --format ctranslate2 --output DIR."""

import sys

from transformer_tf.commands.export import command

if __name__ == "__main__":
    sys.exit(command())

#!/usr/bin/env python
"""Score a translator: python scripts/evaluate.py [--checkpoint DIR] [--source F --reference F]."""

import sys

from transformer_tf.commands.evaluate import command

if __name__ == "__main__":
    sys.exit(command())

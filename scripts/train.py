#!/usr/bin/env python
"""Train a translator: python scripts/train.py [--config FILE | --resume DIR] [key=value ...]."""

import sys

from transformer_tf.commands.train import command

if __name__ == "__main__":
    sys.exit(command())

#!/usr/bin/env python
"""Translate: python scripts/translate.py "a sentence", --input FILE, or lines on stdin."""

import sys

from transformer_tf.commands.translate import command

if __name__ == "__main__":
    sys.exit(command())

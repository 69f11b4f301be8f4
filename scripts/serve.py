#!/usr/bin/env python
"""Serve translators to other programs and browsers: python scripts/serve.py."""

import sys

from transformer_tf.commands.serve import command

if __name__ == "__main__":
    sys.exit(command())

"""What `scripts/benchmark.py` measures; nothing else imports it."""

"""Errors that a user can act on: each message is one line that says what to do next."""


class TransformerTFError(Exception):
    """Base class of the errors this package raises on purpose."""


class DataError(TransformerTFError):
    """Data is missing, damaged, or not what its name promises."""


class ConfigError(TransformerTFError):
    """A configuration that cannot be used, said in one line."""


class CheckpointError(TransformerTFError):
    """A checkpoint is missing, incomplete or damaged."""


class TrainingDivergedError(TransformerTFError):
    """The loss is no longer a finite number."""


class Interrupted(KeyboardInterrupt):
    """Somebody stopped the run, and all is saved; the message says how to go on."""

"""Errors that a user can act on. Each message is one line that says what to do next."""


class TransformerTFError(Exception):
    """Base class of the errors that this package raises on purpose."""


class DataError(TransformerTFError):
    """Data is missing, damaged or of another format than expected."""


class ConfigError(TransformerTFError):
    """A configuration is invalid."""


class CheckpointError(TransformerTFError):
    """A checkpoint is missing, incomplete or damaged."""


class TrainingDivergedError(TransformerTFError):
    """The loss became NaN or infinite."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a run. Its state is saved, and the message says how to resume it."""


def one_line(error: BaseException) -> str:
    """Returns the message of an error, which may have several lines, as one line."""
    return " ".join(str(error).split())

"""The memory of this process."""

import sys


def peak_memory_mb() -> float:
    """Returns the peak memory of this process in megabytes (10^6 bytes)."""
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6

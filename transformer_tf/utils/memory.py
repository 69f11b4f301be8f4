"""The memory of this process."""

import sys


def peak_memory_mb() -> float | None:
    """Returns the peak memory of this process in megabytes (10^6 bytes); None on Windows."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6

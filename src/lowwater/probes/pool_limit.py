"""The limit that the user has set on TensorFlow's host pool, which TensorFlow does not tell."""

import os
from typing import Final

POOL_LIMIT: Final = "TF_CPU_BFC_MEM_LIMIT_IN_MB"


def host_pool_limit() -> int | None:
    """The limit in bytes; None where none is set."""
    megabytes = os.environ.get(POOL_LIMIT, "")
    return int(megabytes) << 20 if megabytes.isdecimal() else None

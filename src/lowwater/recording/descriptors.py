"""Descriptors that the program does not hit by accident."""

import fcntl
import os
import resource

from lowwater.model.interruption import let_through

# Programs write to 3, or close all that lie below some hundreds. The kernel's table of descriptors
# is small up to the second of these numbers.
_ROOM = 24
_HIGHEST = 1024


def out_of_the_way(descriptor: int) -> int:
    """The same file under a high number that no other program inherits; the old number is closed.

    A program that may open few files gets the highest number that it may have.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _HIGHEST if soft == resource.RLIM_INFINITY else min(soft, _HIGHEST)
    try:
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, max(0, limit - _ROOM))
    except OSError as error:
        let_through(error)
        return descriptor
    os.close(descriptor)
    return high

"""With which status a command exits; those of errors are in `lowwater.errors`. Never renumbered."""

from typing import Final

FINDINGS: Final = 3
GATE_FAILED: Final = 4
# The guard has ended training, and the program went on to its end.
GUARDED: Final = 6

"""`python -m lowwater`."""

import sys

# `-m` puts the current folder first, where the user's `click.py` or `rich.py` may lie.
if not sys.flags.safe_path:
    del sys.path[0]

from lowwater.cli import main

main()

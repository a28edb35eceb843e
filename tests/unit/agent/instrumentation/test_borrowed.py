"""What we import is never the program's, and what the program imports is never ours."""

import subprocess
import sys


def test_nothing_but_our_own_is_imported_when_a_census_is_due():
    """What else would be looked for in the program's folder, where other files have its name."""
    text = """
import sys, lowwater.agent.agent
from lowwater.agent.instrumentation import borrowed
borrowed.load_what_is_needed_later()
before = set(sys.modules)
import lowwater.agent.inquest
lowwater.agent.inquest.Inquest.prepare()
for name in borrowed.OURS_LATER: __import__(name)
import lowwater.agent.census.growth_site
print(sorted(name for name in set(sys.modules) - before if not name.startswith("lowwater.")))
"""
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120
    )

    assert (done.stdout, done.stderr) == ("[]\n", "")

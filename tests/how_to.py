"""Runs the code of README and the how-to pages as it stands there, for the tests of every lane."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = "README.md"


def text_of(name):
    folder = ROOT if name == README else ROOT / "docs" / "how-to"
    return (folder / name).read_text(encoding="utf-8")


def run_page(name, folder):
    """What the blocks of one page print, joined to one script."""
    blocks = re.findall(r"^```python\n(.*?)^```", text_of(name), re.DOTALL | re.MULTILINE)
    assert blocks, "the page has no code"
    script = folder / "page.py"
    script.write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=300,
        check=False,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

"""The code of the pages is run as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.trials, pytest.mark.xdist_group("ray")]

PAGES = Path(__file__).parents[3] / "docs" / "how-to"


def run_page(name, folder):
    text = (PAGES / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
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


def test_ray(tmp_path):
    shown = run_page("run-on-ray.md", tmp_path)

    assert sorted(shown.splitlines()[:3]) == ["training 128", "training 256", "training 64"]
    assert shown.splitlines()[3:] == ["[6.4, 12.8, 25.6]"]


def test_searches(tmp_path):
    shown = run_page("search-with-keras-tuner-and-optuna.md", tmp_path)

    told = dict(re.findall(r"^(\w+): (.+)$", shown, re.MULTILINE))
    assert "'units'" in told["tuner"]
    assert int(told["peak"]) > 100_000_000
    assert "'rate'" in told["optuna"]
    assert (told["folds"], told["scores"]) == ("2", "3")

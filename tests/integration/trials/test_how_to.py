"""The code of the pages is run as it stands there."""

import re

import pytest

from how_to import run_page

pytestmark = [pytest.mark.trials, pytest.mark.xdist_group("ray")]


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

"""`lowwater diagnose` refuses what makes no sense before it runs anything."""

import pytest
from click.testing import CliRunner

from lowwater.cli.diagnose import command
from lowwater.errors import UsageError


@pytest.fixture
def refused(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("open('has_run', 'w').close()\n")

    def refuse(*options):
        result = CliRunner().invoke(command, [*options, str(script)])
        assert not (tmp_path / "has_run").exists()
        assert isinstance(result.exception, UsageError)
        return str(result.exception)

    return refuse


@pytest.mark.parametrize("option", ["--epochs", "--steps", "--rounds"])
@pytest.mark.parametrize("value", ["0", "-3"])
def test_cut_below_one_is_refused(refused, option, value):
    assert f"{option} must be 1 or more (received: {value})" in refused(option, value)


def test_budget_of_nothing_is_refused(refused):
    assert "--budget must be more than 0" in refused("--budget", "0 s")

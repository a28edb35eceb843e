"""`[tool.lowwater.check]` says what is checked and shown."""

import pytest

from lowwater.check.config import CheckOptions, options_from
from lowwater.errors import UsageError


@pytest.fixture
def options(tmp_path):
    def read(table, folder="."):
        text = f"[tool.lowwater.check]\n{table}\n"
        (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
        inner = tmp_path / folder
        inner.mkdir(exist_ok=True, parents=True)
        return options_from(str(inner))

    return read


def test_without_a_file_everything_is_shown(tmp_path):
    assert options_from(str(tmp_path)) == CheckOptions(root=str(tmp_path))


def test_all_settings_are_read_from_above(options, tmp_path):
    found = options(
        'select = ["LW1", "LW205"]\nignore = ["LW102"]\nexclude = ["old"]\npreview = true\n'
        'per-file-ignores = { "tests/*" = ["LW1"] }',
        folder="src/deep",
    )

    assert (found.exclude, found.preview, found.root) == (("old",), True, str(tmp_path))
    assert [found.selects(code) for code in ("LW101", "LW102", "LW205", "LW201")] == [
        True, False, True, False,
    ]  # fmt: skip
    assert found.wants("LW101", str(tmp_path / "src" / "a.py"))
    assert not found.wants("LW101", str(tmp_path / "tests" / "a.py"))
    assert found.wants("LW205", str(tmp_path / "tests" / "a.py"))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("colour = true", "unknown setting in [tool.lowwater.check] (received: colour)"),
        ('select = "LW1"', "select of [tool.lowwater.check] must be a list of strings"),
        ('select = ["E501"]', "select: no such code (received: E501)"),
        ("preview = 1", "preview of [tool.lowwater.check] must be true or false"),
        ("per-file-ignores = []", "per-file-ignores of [tool.lowwater.check] must be a table"),
        ("preview = ", "cannot read"),
    ],
)
def test_mistakes_are_told(options, table, message):
    with pytest.raises(UsageError) as error:
        options(table)

    assert message in str(error.value)


def test_folders_are_excluded(checked):
    leak = """
    import keras
    class K(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs):
            self.k.append(self.model.get_weights())
    """
    report = checked(CheckOptions(exclude=("old", "b.py")), old__a_py=leak, b_py=leak, c_py=leak)

    assert [one.path for one in report.findings] == ["c.py"]

"""Whether a program seems to write files."""

import pytest

from lowwater.experiments.written_files import writes_files


@pytest.mark.parametrize(
    "source",
    [
        "model.save('model.keras')",
        "open('log.txt', 'w').write('x')",
        "open('log.txt', mode='a')",
        "Path('x').open('wb')",
        "Path('x').write_text('y')",
        "keras.callbacks.ModelCheckpoint('best.keras')",
    ],
)
def test_program_that_writes_is_recognised(source, tmp_path):
    (script := tmp_path / "train.py").write_text(source)

    assert writes_files(script)


@pytest.mark.parametrize(
    "source",
    ["open('data.csv').read()", "open('x', 'rb')", "Path('data').open()", "print(1)", "(", "\0"],
)
def test_program_that_only_reads_is_not(source, tmp_path):
    (script := tmp_path / "train.py").write_text(source)

    assert not writes_files(script)


def test_modules_beside_the_script_are_looked_at_where_it_imports_them(tmp_path):
    (tmp_path / "saving.py").write_text("model.save('x')")
    (tmp_path / "unused.py").write_text("model.save('x')")
    (script := tmp_path / "train.py").write_text("from saving import save")
    assert writes_files(script)

    script.write_text("import os, numpy")
    assert not writes_files(script)

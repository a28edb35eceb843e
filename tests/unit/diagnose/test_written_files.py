"""Whether a program seems to write files."""

import pytest

from lowwater.diagnose.written_files import writes_files


@pytest.mark.parametrize(
    "source",
    [
        "model.save('model.keras')",
        "open('log.txt', 'w').write('x')",
        "open('log.txt', mode='a')",
        "Path('x').open('wb')",
        "Path('x').write_text('y')",
        "keras.callbacks.ModelCheckpoint('best.keras')",
        "keras.models.save_model(model, 'x')",
        "h5py.File('x.h5', 'w')",
        "shutil.rmtree('results')",
        "os.remove('old.csv')",
    ],
)
def test_program_that_writes_is_recognised(source, tmp_path):
    (script := tmp_path / "train.py").write_text(source)

    assert writes_files(script)


@pytest.mark.parametrize(
    "source",
    [
        *("open('data.csv').read()", "open('x', 'rb')", "Path('data').open()", "print(1)"),
        *("(", "\0"),
        *("h5py.File('x.h5')", "seen.remove(3)", "text.replace('a', 'b')", "model.summary()"),
    ],
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


def test_modules_of_a_package_beside_the_script_are_looked_at(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "store.py").write_text("model.save('x')")
    (script := tmp_path / "train.py").write_text("from lib.store import save")

    assert writes_files(script)

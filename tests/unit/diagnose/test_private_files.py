"""Files for the owner alone."""

import os

from lowwater.diagnose.private_files import new_private_file


def test_new_file_takes_the_place_of_an_open_one(tmp_path, any_umask):
    (old := tmp_path / "old.txt").write_text("of an earlier release")
    old.chmod(0o644)
    (other := tmp_path / "other.txt").hardlink_to(old)

    with open(new_private_file(str(old)), "w") as file:
        file.write("secret")

    assert old.stat().st_mode & 0o777 == 0o600
    assert old.read_text() == "secret"
    assert other.read_text() == "of an earlier release"


def test_link_in_its_place_is_not_followed(tmp_path):
    (target := tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to(target)

    os.close(new_private_file(str(tmp_path / "link")))

    assert target.read_text() == "mine"

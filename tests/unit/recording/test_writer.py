"""A full disk costs records and nothing else."""

import errno
import os

from lowwater.recording.reader import load
from lowwater.recording.records import Noted
from lowwater.recording.writer import Writer


def test_a_full_device_never_raises():
    writer = Writer("/dev/full")

    for i in range(10):
        writer.append(Noted(i, "lost"))
    lost = writer._lost
    writer.close()

    assert lost >= 10


def test_records_lost_on_a_full_disk_are_counted_once_there_is_room_again(tmp_path, monkeypatch):
    path = tmp_path / "run.lw"
    writer = Writer(str(path))
    writer.append(Noted(0, "before"))
    really_write, is_full = os.write, True

    def write(fd, data):
        if is_full:
            really_write(fd, data[: len(data) // 2])  # what a full disk does to a record
            raise OSError(errno.ENOSPC, "No space left on device")
        return really_write(fd, data)

    monkeypatch.setattr("lowwater.recording.writer._write", write)
    writer.append(Noted(1, "lost"))
    writer.append(Noted(2, "lost"))
    is_full = False
    writer.append(Noted(3, "after"))
    writer.close()

    texts = [note.text for note in load(path).notes]
    assert texts[0] == "before"
    assert "after" in texts
    assert "lost" not in texts
    assert "the disk was full" in texts[-1]


def test_a_program_that_closes_all_descriptors_gets_none_of_our_records(tmp_path):
    path, theirs = tmp_path / "run.lw", tmp_path / "theirs.txt"
    writer = Writer(str(path))
    writer.append(Noted(0, "before"))
    descriptor = writer._fd
    os.close(descriptor)
    opened = os.open(theirs, os.O_WRONLY | os.O_CREAT)
    taken = os.dup2(opened, descriptor)  # the number is theirs now
    os.close(opened)
    try:
        writer.append(Noted(1, "after"))
        os.write(taken, b"mine")
        writer.close()
        os.fstat(taken)  # still open
    finally:
        os.close(taken)

    assert theirs.read_bytes() == b"mine"
    assert [note.text for note in load(path).notes] == ["before", "after"]


def test_a_recording_that_was_deleted_is_not_written_elsewhere(tmp_path):
    path = tmp_path / "run.lw"
    writer = Writer(str(path))
    os.close(writer._fd)
    path.unlink()
    path.write_text("somebody else's")
    writer.append(Noted(1, "lost"))
    writer.close()

    assert path.read_text() == "somebody else's"


def test_a_closed_writer_is_silent(tmp_path):
    writer = Writer(str(tmp_path / "run.lw"))
    writer.close()
    writer.append(Noted(1, "too late"))
    writer.close()

    assert load(tmp_path / "run.lw").notes == ()


def test_a_recording_is_for_its_owner_only(tmp_path):
    Writer(str(tmp_path / "run.lw")).close()

    assert (tmp_path / "run.lw").stat().st_mode & 0o077 == 0

"""Only censuses that can be compared with each other are read back."""

from lowwater.recording.reader import load
from lowwater.recording.records import Began, Counted, UnitSeen, Weighed
from lowwater.recording.writer import Writer


def test_censuses_before_one_that_starts_over_are_dropped(tmp_path):
    writer = Writer(str(tmp_path / "run.lw"))
    writer.append(Began({}))
    writer.append(UnitSeen(0, "epoch", None))
    for ordinal, starts_over in enumerate([True, False, True, False]):
        writer.append(Counted(0, ordinal, 10, 1, 100, 7, (ordinal,)))
        writer.append(Weighed(1000 + ordinal, 10, starts_over))
    writer.close()
    censuses = load(tmp_path / "run.lw").censuses

    assert [(one.ordinal, one.objects_bytes) for one in censuses] == [(2, 1002), (3, 1003)]

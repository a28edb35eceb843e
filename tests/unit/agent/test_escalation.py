"""A program that rises is collected, then scanned; one that does not is left alone."""

from lowwater.agent.clocks import Clocks
from lowwater.agent.escalation import Escalation, Means
from lowwater.agent.journal import Journal
from lowwater.agent.native_trace.tracer import Boundary
from lowwater.agent.readings import Readings
from lowwater.model import Reading
from lowwater.model.gauges import Level
from lowwater.recording.records import Collected, Counted, Noted, Weighed

MIB = 1 << 20


class Written(list):
    """A writer that remembers."""

    def append(self, record, elapsed_us=0):
        super().append(record)


class Program:
    """A made-up heap, on a made-up clock; a census takes as long as it is told."""

    name = "glibc"

    def __init__(self, census_s=0.1, census_fails=None):
        self.now_s, self.used, self.census_s, self.inquiries = 100.0, 100 * MIB, census_s, 0
        self.census_fails = census_fails
        self.on_device = 0
        self.written = Written()
        self.journal = Journal(self.written, Clocks(self.clock, self.clock, self.clock))
        readings = Readings([self], self.journal)
        self.escalation = Escalation(readings, self.journal, Means(self.inquire))

    def read(self):
        gauges = {"heap_used": self.used, "mmap_used": 0, "GPU:0 in use": self.on_device}
        return Reading(gauges)

    def clock(self):
        return self.now_s

    def inquire(self, _in_use_bytes, _risen_bytes):
        self.inquiries += 1
        self.now_s += self.census_s
        if self.census_fails is not None:
            raise self.census_fails
        return 1000, ()

    def run(self, rounds, *, grows_bytes=0, grows_on_device=0):
        for ordinal in range(1, rounds + 1):
            self.now_s += 1.0
            self.used += grows_bytes
            self.on_device += grows_on_device
            self.escalation.consider(
                Boundary(0, ordinal, self.now_s),
                Level(self.used, self.on_device),
                [ordinal],
                at_end=ordinal == rounds,
                around=None,
            )
        self.escalation.finish()

    def all(self, kind):
        return [record for record in self.written if isinstance(record, kind)]


def test_flat_program_is_never_collected_and_never_scanned():
    program = Program()

    program.run(50)

    assert (program.escalation.collections, program.inquiries) == (0, 0)
    assert program.written == []


def test_rising_program_is_collected_and_scanned_at_least_twice():
    program = Program()

    program.run(20, grows_bytes=8 * MIB)

    assert len(program.all(Collected)) == program.escalation.collections >= 2
    assert len(program.all(Counted)) == program.inquiries >= 2


def test_program_that_rises_on_a_device_alone_is_scanned_as_well():
    program = Program()

    program.run(20, grows_on_device=8 * MIB)

    assert len(program.all(Counted)) == program.inquiries >= 2
    first, *_, last = program.all(Counted)
    assert last.in_use_bytes - first.in_use_bytes >= 8 * MIB
    # What a collection frees is judged on the host: the device is no part of it.
    assert {(one.before_bytes, one.after_bytes) for one in program.all(Collected)} == {
        (100 * MIB, 100 * MIB)
    }


def test_scans_are_at_most_five_however_long_it_rises():
    program = Program(census_s=0.001)

    program.run(2000, grows_bytes=8 * MIB)

    assert program.inquiries == 5


def test_scan_that_fails_becomes_a_note_and_is_not_tried_again():
    program = Program(census_fails=ValueError("no such object"))

    program.run(40, grows_bytes=8 * MIB)

    assert program.inquiries == 1
    assert [note.text for note in program.all(Noted)] == [
        "the heap scan failed: ValueError: no such object"
    ]


def test_scan_that_takes_longer_than_the_program_is_not_made_twice_and_the_reader_is_told():
    program = Program(census_s=400.0)

    program.run(20, grows_bytes=8 * MIB)

    assert program.inquiries == 1
    [note] = program.all(Noted)
    assert note.text.startswith("the run was too short for a heap scan")


def test_inquiry_is_told_how_much_has_risen_and_one_that_starts_over_is_the_first_again():
    program = Program()
    told = []

    def inquire(in_use_bytes, risen_bytes):
        told.append((in_use_bytes, risen_bytes))
        return 1000, ([Weighed(1, 0, starts_over=True)] if len(told) == 2 else [])

    program.escalation = Escalation(
        Readings([program], program.journal), program.journal, Means(inquire)
    )
    program.run(9, grows_bytes=8 * MIB)

    # The mark after warm-up, at the second boundary, is what a rise is measured from.
    assert [in_use - risen for in_use, risen in told] == [116 * MIB] * len(told)
    assert len(told) == 3

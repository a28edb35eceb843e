"""The regions of TensorFlow's pool are told from arrays by their headers, in real memory."""

import ctypes
import mmap
import struct

import pytest

from lowwater.probes.glibc import malloc_library
from lowwater.probes.regions import PoolRegions

MIB = 1 << 20
PAGE = mmap.PAGESIZE


class Memory:
    """A file that stands for the memory of a process, and its map."""

    def __init__(self, folder):
        self.maps, self.memory = folder / "maps", folder / "mem"
        self.memory.write_bytes(b"")
        self.maps.write_text("")
        self.regions = PoolRegions(str(self.maps), str(self.memory))

    def write(self, start, *blocks):
        """Blocks one after the other: a size, and whether it is aligned; None is no block."""
        at = start
        with self.memory.open("r+b") as file:
            for size, is_aligned in blocks:
                file.seek(at)
                if is_aligned is None:
                    file.write(bytes(64))
                    at += size
                    continue
                head = (size + PAGE) | 2
                lead = struct.pack("<QQ", 48, head - 48) if is_aligned else bytes(16)
                file.write(struct.pack("<QQ", 0, head) + bytes(32) + lead)
                at += size + PAGE
            file.truncate(max(at, self.memory.stat().st_size))
        with self.maps.open("a") as file:
            file.write(f"{start:x}-{at:x} rw-p 00000000 00:00 0 \n")
        return self

    @property
    def total_mib(self):
        return self.regions.total_bytes() // MIB


@pytest.fixture
def memory(tmp_path):
    return Memory(tmp_path)


def test_regions_are_aligned_and_a_power_of_two(memory):
    memory.write(PAGE, (4 * MIB, True), (16 * MIB, False), (5 * MIB, True), (64 * MIB, True))

    assert memory.total_mib == 4 + 64
    assert memory.regions.largest_bytes == 64 * MIB


def test_regions_behind_memory_of_python_are_found(memory):
    memory.write(PAGE, (3 * MIB, None), (8 * MIB, True), (1 * MIB, None), (4 * MIB, True))

    assert memory.total_mib == 8 + 4


def test_a_third_region_of_one_size_is_somebody_elses(memory):
    memory.write(PAGE, *[(8 * MIB, True)] * 5)

    assert memory.total_mib == 2 * 8


def test_the_last_region_before_a_limit_takes_what_is_left_of_it(memory):
    memory.write(PAGE, *[(size * MIB, True) for size in (2, 4, 8, 16, 32, 38)])

    assert memory.total_mib == 62
    assert memory.regions.total_bytes(100 * MIB) == 100 * MIB
    assert memory.regions.largest_bytes == 38 * MIB


def test_mapped_files_and_memory_that_cannot_be_written_are_passed_over(memory):
    memory.write(PAGE, (8 * MIB, True))
    text = memory.maps.read_text()
    memory.maps.write_text(text.replace("rw-p", "r--p") + text.replace("00:00 0 ", "08:01 77 /lib"))

    assert memory.total_mib == 0


def test_a_region_that_was_found_is_not_lost_behind_other_mappings(memory):
    memory.write(MIB, (8 * MIB, True))
    assert memory.total_mib == 8

    # Something small was mapped right below it.
    memory.maps.write_text(f"{MIB - 3 * PAGE:x}-{9 * MIB + PAGE:x} rw-p 00000000 00:00 0 \n")

    assert memory.total_mib == 8


def test_a_block_that_was_given_back_is_forgotten(memory):
    memory.write(MIB, (8 * MIB, True))
    assert memory.total_mib == 8

    memory.write(MIB, (8 * MIB, None))

    assert memory.total_mib == 0


def test_what_cannot_be_read_is_not_known(tmp_path):
    assert PoolRegions(str(tmp_path / "maps"), "/proc/self/mem").total_bytes() is None
    assert PoolRegions("/proc/self/maps", str(tmp_path / "mem")).total_bytes() is None


def test_memory_that_ends_early_is_no_error(memory):
    memory.write(PAGE, (8 * MIB, True))
    with memory.maps.open("a") as file:
        file.write("7fff00000000-7fff10000000 rw-p 00000000 00:00 0 \n")

    assert memory.total_mib == 8


def test_a_program_that_maps_terabytes_is_looked_at_for_a_while_only(memory):
    memory.maps.write_text(f"{PAGE:x}-{1 << 46:x} rw-p 00000000 00:00 0 \n")

    assert memory.total_mib == 0


@pytest.mark.skipif(malloc_library() != "libc.so.6", reason="reads the headers of glibc")
def test_aligned_blocks_of_this_very_process_are_found():
    libc, block = ctypes.CDLL(None), ctypes.c_void_p()
    libc.free.argtypes = [ctypes.c_void_p]
    regions = PoolRegions()
    before = regions.total_bytes()
    array = bytearray(64 * MIB)
    assert libc.posix_memalign(ctypes.byref(block), 64, 64 * MIB) == 0

    assert regions.total_bytes() - before == 64 * MIB

    libc.free(block)
    assert regions.total_bytes() == before
    assert len(array) == 64 * MIB

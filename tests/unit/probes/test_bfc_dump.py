"""The map of a pool is read from TensorFlow's file, whole or damaged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowwater.probes.bfc_dump import dumps, newest_pool, pool_of

MIB = 1 << 20


def varint(value):
    done = b""
    while value > 0x7F:
        done, value = done + bytes([value & 0x7F | 0x80]), value >> 7
    return done + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def nested(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def a_dump(*chunks, in_use=None, name="GPU_0_bfc"):
    """As TensorFlow writes it: `chunks` are sizes, below zero where they are free."""
    told = nested(1, name.encode())
    for size in chunks:
        told += nested(3, number(1, 4096) + number(2, abs(size)) + number(8, size > 0))
    return told + nested(5, number(1, 71) + number(2, in_use or sum(c for c in chunks if c > 0)))


def test_free_pieces_are_added_up_and_the_largest_is_known():
    pool = pool_of(a_dump(8 * MIB, -2 * MIB, 4 * MIB, -3 * MIB))

    assert (pool.name, pool.size_bytes, pool.in_use_bytes) == ("GPU_0_bfc", 17 * MIB, 12 * MIB)
    assert (pool.free_bytes, pool.largest_free_bytes, pool.free_pieces) == (5 * MIB, 3 * MIB, 2)


def test_the_newest_of_the_allocator_that_refused_is_taken(tmp_path):
    prefix = str(tmp_path / "map")
    for name, size in (("GPU_0_bfc.9", 1), ("GPU_0_bfc.10", 2), ("GPU_1_bfc.11", 3)):
        (tmp_path / f"map_{name}").write_bytes(a_dump(size * MIB))
    (tmp_path / "other").write_bytes(b"")

    assert newest_pool(prefix, "GPU_0_bfc").in_use_bytes == 2 * MIB
    assert newest_pool(prefix).in_use_bytes == 3 * MIB
    assert len(dumps(prefix)) == 3


def test_damaged_one_is_passed_over(tmp_path):
    (tmp_path / "map_GPU_0_bfc.1").write_bytes(a_dump(MIB))
    (tmp_path / "map_GPU_0_bfc.2").write_bytes(a_dump(MIB)[:-3])

    assert newest_pool(str(tmp_path / "map")).in_use_bytes == MIB
    assert newest_pool(str(tmp_path / "nowhere" / "map")) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_a_pool_or_refused(data):
    try:
        pool = pool_of(data)
    except ValueError:
        return
    assert 0 <= pool.largest_free_bytes <= pool.free_bytes <= pool.size_bytes


@pytest.mark.tensorflow
def test_it_says_the_same_as_the_protobuf_of_tensorflow():
    from tensorflow.core.protobuf import bfc_memory_map_pb2

    dump = bfc_memory_map_pb2.MemoryDump(allocator_name="cpu")
    dump.chunk.add(size=5, in_use=True, op_name="MatMul", bin=-1, address=1 << 47)
    dump.chunk.add(size=7, in_use=False, bin=3)
    dump.stats.bytes_in_use = 5
    dump.stats.fragmentation_metric = 0.5
    dump.bin_summary.add(bin=2)
    pool = pool_of(dump.SerializeToString())

    assert (pool.name, pool.size_bytes, pool.in_use_bytes) == ("cpu", 12, 5)
    assert (pool.free_bytes, pool.free_pieces) == (7, 1)

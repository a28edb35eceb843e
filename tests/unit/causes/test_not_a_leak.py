"""LW401 to LW403 and LW405: what explains a run that does not leak."""

from dataclasses import replace

import pytest

from lowwater.causes.catalogue import find_causes
from lowwater.model import Kind, Ledger, LedgerRow
from lowwater.model.devices import Device
from lowwater.testing import an_evidence

MIB = 1 << 20


def a_ledger(name, *mib):
    return Ledger((LedgerRow("any", name, tuple(one * MIB for one in mib)),))


def test_reserved_memory_is_told_with_who_keeps_it():
    ledger = a_ledger("malloc, free but kept", 0, 100, 208)

    [finding] = find_causes(an_evidence(kind=Kind.RESERVED, ledger=ledger))

    assert finding.code == "LW401"
    assert finding.message == "208.0 MiB is free inside malloc, kept for the next tensors."
    assert finding.share is None


def test_reserved_memory_of_the_pool_is_told_apart():
    ledger = a_ledger("TensorFlow pool, free for reuse", 0, 206)

    [finding] = find_causes(an_evidence(kind=Kind.RESERVED, ledger=ledger))

    assert finding.message == (
        "206.0 MiB is free inside TensorFlow's pool, kept for the next tensors."
    )
    # malloc cannot return what TensorFlow's pool holds.
    assert "heap_trim" not in finding.fix


def test_reserved_memory_of_a_device_is_not_trimmed_with_malloc():
    evidence = an_evidence(kind=Kind.RESERVED)
    on_gpu = replace(evidence, verdict=replace(evidence.verdict, place="GPU:0"))

    [finding] = find_causes(on_gpu)

    assert finding.code == "LW401"
    assert "heap_trim" not in finding.fix


def test_reserved_memory_without_a_number_is_told_without_one():
    [finding] = find_causes(an_evidence(kind=Kind.RESERVED))

    assert finding.message == "The allocator keeps freed memory for reuse; nothing holds it."


def test_fragmented_heap_is_explained():
    ledger = a_ledger("malloc, free but kept", 10, 80)

    [finding] = find_causes(an_evidence(kind=Kind.FRAGMENTED, ledger=ledger))

    assert finding.code == "LW402"
    assert finding.message == (
        "80.0 MiB of freed memory is stuck in malloc's heap, between objects that are still in use."
    )


def test_mapped_files_are_explained():
    ledger = a_ledger("resident, mapped files", 300, 300, 340, 380, 420)

    [finding] = find_causes(an_evidence(kind=Kind.FLAT, ledger=ledger))

    assert finding.code == "LW403"
    assert finding.message == (
        "120.0 MiB more pages of mapped files are resident; the kernel can drop them."
    )


def test_libraries_that_load_at_the_start_are_no_news():
    ledger = a_ledger("resident, mapped files", 100, 400, 400, 402, 404)

    assert not find_causes(an_evidence(kind=Kind.FLAT, ledger=ledger))


GREEDY = Device("GPU:0", "TensorFlow", 0, 7000 * MIB, grows=False)


def evidence_of(device, *in_use):
    found = an_evidence(kind=Kind.FLAT, ledger=a_ledger("GPU:0 in use", *in_use))
    return replace(found, devices=(device,))


def test_greedy_gpu_is_told_with_what_it_took_and_what_was_needed():
    [finding] = find_causes(evidence_of(GREEDY, 100, 400, 300))

    assert finding.code == "LW405"
    assert finding.message == (
        "TensorFlow took about 6.8 GiB of GPU:0 at its first operation; "
        "the program used 400.0 MiB of it at most."
    )


def test_greedy_gpu_that_was_refused_its_limit_is_told_with_what_it_got():
    """Refused 7000 MiB it asks for 6300; the driver counts those, and the context."""
    counted = a_ledger("GPU:0 taken, by the driver", 0, 6500, 6500).rows
    evidence = evidence_of(GREEDY, 100, 400, 300)
    ledger = replace(evidence.ledger, rows=(*evidence.ledger.rows, *counted))

    [finding] = find_causes(replace(evidence, ledger=ledger))

    assert finding.message.startswith("TensorFlow took about 6.2 GiB of GPU:0")


@pytest.mark.parametrize(
    ("device", "in_use"),
    [
        pytest.param(replace(GREEDY, grows=True), 400, id="it grows"),
        pytest.param(replace(GREEDY, grows=None), 400, id="it is not known"),
        pytest.param(replace(GREEDY, is_limited=True), 400, id="the program chose the limit"),
        pytest.param(GREEDY, 6900, id="it was needed"),
    ],
)
def test_gpu_is_not_called_greedy(device, in_use):
    assert not find_causes(evidence_of(device, in_use, in_use))


@pytest.mark.parametrize("kind", [Kind.FLAT, Kind.INCONCLUSIVE, Kind.WARM_UP, Kind.CACHE])
def test_run_in_which_nothing_happened_has_no_findings(kind):
    assert not find_causes(an_evidence(kind=kind))

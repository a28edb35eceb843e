from dataclasses import replace

from lowwater.causes.catalogue import find_causes
from lowwater.model import NativeSite, NativeTrace
from lowwater.testing import a_holder, a_module, a_step, an_array, an_evidence

MIB = 1 << 20


def test_growth_that_no_object_explains_is_said_with_its_bytes():
    [finding] = find_causes(an_evidence(unit="iteration", where="train.py:9", mib=4))

    assert finding.code == "LW404"
    assert finding.message == (
        "Of 16.0 MiB of growth, 16.0 MiB is in no Python object that Lowwater can see; it is not "
        "known which part of the loop at this line allocates it."
    )
    assert finding.where == "train.py:9"


def test_growth_without_a_loop_has_no_line():
    [finding] = find_causes(an_evidence())

    assert finding.message.endswith("not known which part of the program allocates it.")
    assert finding.where is None


def test_small_rest_beside_a_cause_is_not_told():
    held = a_holder(a_module(), a_step(".seen", "list"), an_array(), grows=".seen", mib=3.4)

    [finding] = find_causes(an_evidence(held, mib=4))

    assert (finding.code, finding.share) == ("LW102", 0.85)


def test_large_rest_beside_a_cause_is_told_after_it():
    held = a_holder(a_module(), a_step(".seen", "list"), an_array(), grows=".seen", mib=2.4)

    findings = find_causes(an_evidence(held, mib=4))

    assert [(one.code, one.share) for one in findings] == [("LW102", 0.6), ("LW404", 0.4)]


def watched(*sites, grown_mib, held=(), mib=4, where="train.py:9"):
    """The evidence of a run of which memray watched four rounds."""
    seen = tuple(NativeSite(*site, round(size * MIB)) for *site, size in sites)
    trace = NativeTrace(4, round(grown_mib * MIB), seen)
    return replace(an_evidence(*held, unit="iteration", where=where, mib=mib), native_trace=trace)


def test_line_and_function_that_memray_saw_are_named():
    evidence = watched(
        ("train.py:22", "step", "leak_some", 15.2), ("train.py:9", "main", "", 0.5), grown_mib=16
    )

    [finding] = find_causes(evidence)

    assert finding.message == (
        "Of 16.0 MiB of growth, 16.0 MiB is in no Python object that Lowwater can see. memray "
        "watched 4 rounds and saw most of it (95 %) allocated at train.py:22, in `leak_some`."
    )
    assert finding.where == "train.py:22"
    assert finding.fix.startswith("Look for what this call keeps")


def test_function_without_a_name_leaves_the_line():
    [finding] = find_causes(watched(("train.py:22", "step", "", 16), grown_mib=16))

    assert finding.message.endswith("(100 %) allocated at train.py:22, in a call from `step`.")


def test_native_thread_has_no_line_and_the_loop_is_named_instead():
    [finding] = find_causes(watched((None, "", "Pool::Fill", 16), grown_mib=16))

    assert finding.message.endswith(
        "allocated in `Pool::Fill`, in no Python function, at no line of the program."
    )
    assert finding.where == "train.py:9"


def test_library_without_a_line_of_the_program_is_named():
    [finding] = find_causes(watched((None, "load (lib/a.py)", "", 16), grown_mib=16))

    assert finding.message.endswith(
        "allocated in native code, called from `load (lib/a.py)`, at no line of the program."
    )


def test_site_of_less_than_half_is_a_part():
    [finding] = find_causes(watched(("train.py:22", "step", "leak_some", 6.4), grown_mib=16))

    assert "saw a part of it (40 %) allocated at train.py:22" in finding.message


def test_memory_that_memray_did_not_see_accuses_nobody():
    [finding] = find_causes(watched(("train.py:22", "step", "leak_some", 1), grown_mib=16))

    assert finding.message.endswith(
        "memray watched 4 rounds and found no place that allocates most of it."
    )
    assert finding.where == "train.py:9"
    assert "pip install" not in finding.fix


def test_line_that_may_be_that_of_python_objects_is_not_accused():
    held = a_holder(a_module(), a_step(".seen", "list"), an_array(), grows=".seen", mib=1.9)
    evidence = watched(("train.py:22", "step", "npy_alloc", 7.6), grown_mib=16, held=(held,))

    finding = next(one for one in find_causes(evidence) if one.code == "LW404")

    assert "no place that allocates most" in finding.message


def test_without_the_extra_the_fix_tells_how_to_get_it():
    [finding] = find_causes(an_evidence())

    assert "pip install 'lowwater[native]'" in finding.fix

import re
from dataclasses import replace

from lowwater.causes.catalogue import find_causes
from lowwater.testing import a_holder, a_module, a_running_call, a_step, an_array, an_evidence

CALLBACK = "keras.src.callbacks.callback.Callback"


def a_callback(module="__main__", line=6, attribute=".saved", root=None, key="[*]"):
    return a_holder(
        root or a_running_call(),
        a_step(key, f"{module}.SavePredictions", CALLBACK, where=f"train.py:{line}"),
        a_step(attribute, "list", about="8 items"),
        an_array(),
        grows=attribute,
        added_at=f"train.py:{line + 8}",
    )


def fingerprint(holder, **facts):
    [finding] = find_causes(an_evidence(holder, **facts))
    return finding.fingerprint


def test_fingerprint_is_twelve_digits():
    assert re.fullmatch(r"[0-9a-f]{12}", fingerprint(a_callback()))


def test_fingerprint_does_not_change_from_release_to_release():
    assert fingerprint(a_callback()) == "773c7e550c55"


def test_same_leak_at_another_line_in_another_run_is_the_same():
    later = replace(a_callback(), counts=(40, 60, 80), sizes_bytes=(1, 2, 3))

    assert fingerprint(later) == fingerprint(a_callback())
    assert fingerprint(a_callback(line=60)) == fingerprint(a_callback())
    assert fingerprint(a_callback(module="project.train")) == fingerprint(a_callback())
    assert fingerprint(a_callback(key="[3]")) == fingerprint(a_callback())


def test_way_to_the_callback_does_not_matter():
    from_variable = a_callback(root=a_module(), key=".recorder")

    assert fingerprint(from_variable) == fingerprint(a_callback())


def test_another_attribute_is_another_leak():
    assert fingerprint(a_callback(attribute=".other")) != fingerprint(a_callback())


def test_leak_of_a_library_has_one_fingerprint():
    def a_registry(key):
        return a_holder(
            a_module("tensorflow.python.framework.ops"),
            a_step("._gradient_registry", "tensorflow.python.framework.registry.Registry"),
            a_step("._registry", "dict"),
            a_step(key, "function"),
            grows="._registry",
            is_users=False,
        )

    assert fingerprint(a_registry("['CustomGradient-7']")) == fingerprint(a_registry("[*]"))


def test_growth_without_a_path_has_a_fingerprint_too():
    [finding] = find_causes(an_evidence())

    assert re.fullmatch(r"[0-9a-f]{12}", finding.fingerprint)

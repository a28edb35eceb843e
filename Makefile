# Every target does its own set-up on a fresh machine with `python3 -m venv` and pip alone;
# a second call uses what the first one made. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

PYTHON ?= python3
JOBS ?= 3
ROUNDS ?= 5
RECORD ?=

DEV := .venvs/dev
FAST := .venvs/fast
FRAMEWORKS := .venvs/frameworks
TRIALS := .venvs/trials
BENCH := .venvs/bench

SOURCES := $(shell find src -type f -not -name '*.pyc') pyproject.toml README.md LICENSE
export PIP_DISABLE_PIP_VERSION_CHECK := 1
INSTALL := -m pip install -qq --constraint constraints.txt

# The frameworks talk at import; what matters here is what the tests say.
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: help
help: ## show this list
	@sed -n 's/^\([a-z-]*\):.* ## /\1\t/p' $(MAKEFILE_LIST) | sort | expand -t 14

.PHONY: demo
demo: .venv/.ready ## watch a small leaking Keras program and print the diagnosis
	@.venv/bin/lowwater demo

.PHONY: test
test: ## build the wheel and test it: lanes `fast`, `frameworks`, `devices` and `trials`
	@$(MAKE) -j 3 $(FAST)/.ready $(FRAMEWORKS)/.ready $(TRIALS)/.ready
	@$(MAKE) fast
	@$(MAKE) frameworks
	@$(MAKE) devices
	@$(MAKE) trials

NO_FRAMEWORK := not tensorflow and not tf_keras and not devices and not trials and not slow
# These walk all objects of their own process: with few other tests in it, there are few.
WALKERS := tests/unit/agent/census tests/unit/giveback tests/unit/agent/test_inquest.py tests/test_leaves_no_trace.py

.PHONY: fast
fast: $(FAST)/.ready ## the tests that need no framework, with none installed
	@echo "== fast: the installed wheel, without TensorFlow"
	@$(call the_wheel_is_tested,$(FAST))
	@if $(FAST)/bin/python -c 'import tensorflow' 2>/dev/null; then \
	    echo "$(FAST) has TensorFlow, so this lane would prove nothing. Try: rm -r $(FAST)"; exit 1; fi
	@$(FAST)/bin/python -P -m pytest -q -n $(JOBS) --dist worksteal -m "$(NO_FRAMEWORK)" $(WALKERS)
	@$(FAST)/bin/python -P -m pytest -q -n $(JOBS) --dist worksteal -m "$(NO_FRAMEWORK)" $(addprefix --ignore=,$(WALKERS))

.PHONY: frameworks
frameworks: $(FRAMEWORKS)/.ready ## the tests that watch real Keras programs
	@echo "== frameworks: the installed wheel, with TensorFlow, Keras and tf_keras"
	@$(call the_wheel_is_tested,$(FRAMEWORKS))
	@$(FRAMEWORKS)/bin/python -P -m pytest -q -n $(JOBS) --dist worksteal -m "(tensorflow or tf_keras) and not slow"

.PHONY: devices
devices: $(FRAMEWORKS)/.ready ## the tests on a GPU that is only host memory
	@echo "== devices: the installed wheel, with TensorFlow on host memory that plays a GPU"
	@$(call the_wheel_is_tested,$(FRAMEWORKS))
	@$(FRAMEWORKS)/bin/python -P -m pytest -q -n $(JOBS) --dist worksteal -m "devices and not slow"

# Two at a time, but those with a cluster one after the other: they are `xdist_group("ray")`.
.PHONY: trials
trials: $(TRIALS)/.ready ## the tests with Ray, Optuna, KerasTuner and scikit-learn
	@echo "== trials: the installed wheel, with Ray, Optuna, KerasTuner and scikit-learn"
	@$(call the_wheel_is_tested,$(TRIALS))
	@$(TRIALS)/bin/python -P -m pytest -q -n 2 --dist loadgroup -m "trials and not slow"

.PHONY: record
record: $(FRAMEWORKS)/.ready ## record the specimens for the replay; RECORD="--only NAME" for one of them
	@echo "== record: the specimens, quiet and under load, into tests/recordings"
	@$(call the_wheel_is_tested,$(FRAMEWORKS))
	@$(FRAMEWORKS)/bin/python -P tests/recordings/record.py $(RECORD)

.PHONY: check
check: $(DEV)/.ready ## lint, format, types, spelling, style, generated pages and the architecture
	@echo "== check"
	@$(DEV)/bin/ruff check
	@$(DEV)/bin/ruff format --check
	@$(DEV)/bin/mypy
	@$(DEV)/bin/codespell
	@$(DEV)/bin/validate-pyproject pyproject.toml
	@$(DEV)/bin/python docs/generate.py --check
	@$(DEV)/bin/python -P -m pytest -q tests/test_voice.py tests/test_architecture.py tests/test_public_api.py

.PHONY: bench
bench: $(BENCH)/.ready ## the slow sweeps, faults, what `check` finds, what frees memory, devices, twenty models, fresh processes, overhead
	@echo "== bench: slow sweeps"
	@$(BENCH)/bin/python -P -m pytest -q -m slow || [ $$? -eq 5 ] # 5: nothing is marked slow
	@echo "== bench: Lowwater fails everywhere inside a program: injected, held"
	@$(BENCH)/bin/python -P benchmarks/faults.py
	@echo "== bench: how often the verdict is right under noise"
	@$(BENCH)/bin/python -P benchmarks/verdict_rates.py
	@echo "== bench: what each threshold does"
	@$(BENCH)/bin/python -P benchmarks/policy.py
	@echo "== bench: how right the verdict is after each round"
	@$(BENCH)/bin/python -P benchmarks/prefixes.py
	@echo "== bench: is the right cause named, at the right line"
	@$(BENCH)/bin/python -P benchmarks/causes.py
	@echo "== bench: what lowwater check finds in all specimens, and how fast it is"
	@$(BENCH)/bin/python -P benchmarks/check.py
	@echo "== bench: what really frees memory (writes docs/what-really-frees-memory.md)"
	@$(BENCH)/bin/python -P benchmarks/what_frees.py
	@echo "== bench: the same advice on a GPU made of host memory (adds its tables to that page)"
	@$(BENCH)/bin/python -P benchmarks/devices.py
	@echo "== bench: twenty models, one after the other"
	@$(BENCH)/bin/python -P benchmarks/rounds.py
	@echo "== bench: a fresh process for each trial"
	@$(BENCH)/bin/python -P benchmarks/isolation.py
	@echo "== bench: how far predicted peaks of a training step are from real ones"
	@$(BENCH)/bin/python -P benchmarks/footprint.py --again --write
	@echo "== bench: overhead"
	@$(BENCH)/bin/python -P benchmarks/overhead.py --rounds $(ROUNDS)

.PHONY: package
package: $(DEV)/.ready ## build the wheel and the source distribution into dist/
	@rm -rf dist
	@$(DEV)/bin/python -m build --outdir dist .
	@touch dist/.wheel

.PHONY: clean
clean: ## remove everything that the other targets made
	rm -rf .venv .venvs dist .hypothesis .mypy_cache .pytest_cache .ruff_cache

define the_wheel_is_tested
$(1)/bin/python -P -c 'import lowwater, sys; \
    sys.exit(0 if "site-packages" in lowwater.__file__ else f"not the wheel: {lowwater.__file__}")'
endef

.venv/bin/python $(DEV)/bin/python $(FAST)/bin/python $(FRAMEWORKS)/bin/python $(TRIALS)/bin/python \
  $(BENCH)/bin/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
	    "Lowwater needs Python 3.11 or newer (received: %s). Try: make PYTHON=python3.12 …" \
	    % sys.version.split()[0])'
	@$(PYTHON) -m venv $(@D)/..

.venv/.ready: $(SOURCES) constraints.txt | .venv/bin/python
	@echo "== set-up: .venv with TensorFlow (the first time takes a minute or two)"
	@.venv/bin/python $(INSTALL) '.[tensorflow-cpu]'
	@touch $@

$(DEV)/.ready: pyproject.toml constraints.txt | $(DEV)/bin/python
	@echo "== set-up: $(DEV) with the tools"
	@$(DEV)/bin/python $(INSTALL) --editable '.[dev,test]'
	@touch $@

dist/.wheel: $(SOURCES) | $(FAST)/bin/python
	@echo "== build: the wheel"
	@rm -rf dist
	@$(FAST)/bin/python -m pip wheel -qq --no-deps --wheel-dir dist .
	@touch $@

# A wheel of the same version counts as installed already, hence the second line of each.
$(FAST)/.ready: dist/.wheel constraints.txt | $(FAST)/bin/python
	@echo "== set-up: $(FAST)"
	@$(FAST)/bin/python $(INSTALL) "$$(echo dist/*.whl)[test]"
	@$(FAST)/bin/python $(INSTALL) --no-deps --force-reinstall dist/*.whl
	@touch $@

# JAX in a folder of its own: see `with_jax` in tests/conftest.py.
# tf_keras asks for the `tensorflow` distribution by name; tensorflow-cpu is the same code.
# `ziglang` is a C compiler, for the lane `devices` on machines without one.
$(FRAMEWORKS)/.ready: dist/.wheel constraints.txt | $(FRAMEWORKS)/bin/python
	@echo "== set-up: $(FRAMEWORKS) with TensorFlow (the first time takes a minute or two)"
	@$(FRAMEWORKS)/bin/python $(INSTALL) "$$(echo dist/*.whl)[test,tensorflow-cpu]"
	@$(FRAMEWORKS)/bin/python $(INSTALL) --no-deps --upgrade --target $(FRAMEWORKS)/jax jax jaxlib
	@$(FRAMEWORKS)/bin/python $(INSTALL) --no-deps tf_keras
	@$(FRAMEWORKS)/bin/python $(INSTALL) nvidia-ml-py ziglang
	@$(FRAMEWORKS)/bin/python $(INSTALL) --no-deps --force-reinstall dist/*.whl
	@touch $@

# KerasTuner imports TensorBoard without asking for it.
$(TRIALS)/.ready: dist/.wheel constraints.txt | $(TRIALS)/bin/python
	@echo "== set-up: $(TRIALS) with TensorFlow, Ray, Optuna, KerasTuner and scikit-learn"
	@$(TRIALS)/bin/python $(INSTALL) "$$(echo dist/*.whl)[test,tensorflow-cpu,ray,tensorboard]" \
	    optuna keras-tuner scikit-learn
	@$(TRIALS)/bin/python $(INSTALL) --no-deps --force-reinstall dist/*.whl
	@touch $@

$(BENCH)/.ready: dist/.wheel constraints.txt | $(BENCH)/bin/python
	@echo "== set-up: $(BENCH) with TensorFlow, JAX, torch, Ray, joblib, memray and scalene"
	@$(BENCH)/bin/python $(INSTALL) "$$(echo dist/*.whl)[test,tensorflow-cpu,native,ray]" \
	    scalene jax torch joblib nvidia-ml-py ziglang
	@$(BENCH)/bin/python $(INSTALL) --no-deps --force-reinstall dist/*.whl
	@touch $@

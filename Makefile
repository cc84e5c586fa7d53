# Two commands do all the set-up: `make repro` runs the main job, `make test` runs every test. They need Python 3.11+, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
export PATH := $(CURDIR)/$(BIN):$(PATH)
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: repro test lint lock clean

repro: $(INSTALLED)
	dvc repro

test: $(INSTALLED)
	python -m pytest

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

# Renew the lock after a change of dependencies: every version, for every platform and Python that the project supports.
lock:
	uv pip compile --universal --python-version 3.11 --extra dev --no-header --no-annotate --no-emit-index-url --upgrade pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

# Every target sets up what it needs in a local virtual environment, .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# What to install for the tests of torch modules, for instance torch==2.13.0; without it they are skipped.
TORCH ?=
# One thread: benchmarks are ratios, and small matrices are faster without threads.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: help setup demo test quick coverage reproduce bench promises jury tables gate pins pinned page lint docs clean

help:  ## Show what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(if $(TORCH),$(BIN)/python -m pip install --quiet --disable-pip-version-check '$(TORCH)')
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

setup: $(READY)  ## Make the virtual environment

demo: $(READY)  ## Explain refused rows of the synthetic data; writes demo/index.html
	$(ONE_THREAD) $(BIN)/robust-recourse demo --out demo

test: $(READY)  ## Run all tests and doctests
	$(ONE_THREAD) $(BIN)/pytest -n 2

quick: $(READY)  ## Run the tests that take no more than a moment, a minute or two
	$(ONE_THREAD) $(BIN)/pytest -n 2 -m 'not slow'

coverage: $(READY)  ## Run all tests, show which lines none of them reaches, and fail below the floor
	$(ONE_THREAD) $(BIN)/pytest -n 2 --cov --cov-report=term

reproduce: $(READY)  ## Run the paper's evaluation, quick profile; writes reproduction-quick/index.html
	$(ONE_THREAD) $(BIN)/robust-recourse reproduce all

bench: $(READY)  ## Measure speed, as ratios within one run
	$(ONE_THREAD) $(BIN)/python benchmarks/run.py

promises: $(READY)  ## Measure what tuning and certificates are worth on the data sets, some minutes
	$(ONE_THREAD) $(BIN)/python benchmarks/promises.py

jury: $(READY)  ## Measure what juries buy and cost on the data sets, half an hour
	$(ONE_THREAD) $(BIN)/python benchmarks/jury.py

tables: $(READY)  ## Measure what comes out on real tables, a minute or two for each and every model
	$(ONE_THREAD) $(BIN)/python benchmarks/tables.py

gate: $(READY)  ## Compare cost and questions of every person with what is recorded, three minutes; ARGS=--record records
	$(ONE_THREAD) $(BIN)/python benchmarks/engine_gate.py $(ARGS)

pins: $(READY)  ## Record again what the pins of the tests see; WHICH="paper tables" for some of them
	$(ONE_THREAD) $(BIN)/python tests/pins/pinning.py $(WHICH)

pinned: $(READY)  ## Compare what pins see with their records; WHICH="quick_profile" for one that the tests leave out
	$(ONE_THREAD) $(BIN)/python tests/pins/pinning.py --compare $(WHICH)

page: page/node_modules/.package-lock.json  ## Build the web page from its source, with Node; the built files are in the repository
	cd page && npm run --silent build

page/node_modules/.package-lock.json: page/package-lock.json
	cd page && npm ci --no-audit --no-fund

lint: $(READY)  ## Check style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY)  ## Build the documentation, warnings as errors; open docs/_build/html/index.html
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

clean:  ## Remove everything that was made
	rm -rf $(VENV) demo jury reproduction-quick reproduction-paper page/node_modules docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage*

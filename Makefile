# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: help setup demo up evaluate test check lint format clean

help:
	@echo "make demo   set up, run the main job on samples/, and end"
	@echo "make up     set up and run Pincite until Ctrl-C"
	@echo "make evaluate  set up, and measure search and refusals on samples/ (writes evaluation.json and evaluation.html)"
	@echo "make test   set up and run all checks and tests"
	@echo "make check  formatting, lint, types, import rule, unit tests (before every commit)"

setup: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Pincite needs Python 3.11 or later; name one with: make PYTHON=python3.11 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "This Python has no ensurepip; install it (Debian: apt-get install python3-venv) and try again."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo "Installing Python packages; this downloads about 2 GB and takes some minutes."
	$(BIN)/pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $(INSTALLED)

demo: setup
	$(BIN)/pincite demo

up: setup
	$(BIN)/pincite up

evaluate: setup
	$(BIN)/pincite evaluate samples --questions ops/evaluate/sample_questions.jsonl \
		--unanswerable ops/evaluate/sample_unanswerable.jsonl --json evaluation.json --html evaluation.html

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint
	$(BIN)/pytest tests/unit -q

test: lint
	$(BIN)/pytest -n 2 --dist loadfile

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info

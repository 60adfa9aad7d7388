# Two commands matter: `make demo` and `make test`. Both install what they need into .venv.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test lint docs bench kill-test clean

demo: $(INSTALLED)
	@$(BIN)/agentctl demo

test: $(INSTALLED)
	$(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(INSTALLED)
	$(BIN)/python docs/generate.py
	$(BIN)/python -m tests.cases.table

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.commands
	$(BIN)/python -m benchmarks.step
	$(BIN)/python -m benchmarks.sandbox

# Ends agentctl by SIGKILL at N random moments and looks at what is left.
N ?= 1000
SEED ?= 1
kill-test: $(INSTALLED)
	$(BIN)/python -m tests.kill.driver $(N) $(SEED)

$(INSTALLED): pyproject.toml
	@echo "installing into .venv (the first time takes some minutes: litellm is large)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(INSTALLED)

clean:
	rm -rf .venv dist build .mypy_cache .ruff_cache .hypothesis

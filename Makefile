# Two commands matter: `make demo` and `make test`. Both install what they need into .venv.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test lint docs bench kill-test kill-sweep disk-test ledger-test endurance fuzz clean

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
	$(BIN)/python -m benchmarks.commits

# Ends agentctl by SIGKILL at N random moments and looks at what is left.
N ?= 1000
SEED ?= 1
kill-test: $(INSTALLED)
	$(BIN)/python -m tests.kill.driver $(N) $(SEED)

# Ends agentctl, or a git that it started, by SIGKILL at every EVERY-th system call that changes something (Linux, strace).
EVERY ?= 1
kill-sweep: $(INSTALLED)
	$(BIN)/python -m tests.kill.sweep $(EVERY)

# Fills a small disk in amounts of KIB more room each time, until a step lands (Linux, as root: it mounts one).
KIB ?= 4
disk-test: $(INSTALLED)
	$(BIN)/python -m tests.kill.disk $(KIB)

# Ends agentctl by SIGKILL N times while a model server on loopback counts its calls.
ledger-test: $(INSTALLED)
	$(BIN)/python -m tests.kill.ledger $(N)

# Gives every parser and every tool FUZZ inputs that nobody foresaw; what failed is printed, and made small where SHRINK=1 is set.
FUZZ ?= 2000
fuzz: $(INSTALLED)
	FUZZ=$(FUZZ) $(BIN)/python -m pytest -n auto tests/fuzz $(ARGS)

# Takes STEPS steps on one repository with faults and kills, without waiting for the clock.
STEPS ?= 3744
endurance: $(INSTALLED)
	$(BIN)/python -m benchmarks.endurance $(STEPS)

$(INSTALLED): pyproject.toml
	@echo "installing into .venv (the first time takes some minutes: litellm is large)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(INSTALLED)

clean:
	rm -rf .venv dist build .mypy_cache .ruff_cache .hypothesis

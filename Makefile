# Two commands to know: `make run` and `make test`. Both install what they need into .venv first.
PYTHON ?= python3
ARGS ?=
MINUTES ?= 20
CLIENTS ?=
TAG ?=
LIVE ?= tests/live
BIN := .venv/bin
# Rules of the code, as its types are: `make check` holds them, and `make test` does not run them again.
CHECKED := tests/unit/test_imports.py tests/unit/test_modules.py
CHECKED += tests/security/test_linear_patterns.py tests/security/test_linear_time.py

# Does nothing where the lock, pyproject.toml, the place and the Python are those of the last time.
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo "skilld needs Python 3.11 or newer; $(PYTHON) is: $$($(PYTHON) --version 2>&1 || true)" >&2; \
	echo "  Install one, or name one that is there: make $@ PYTHON=python3.12" >&2; exit 1; }
@$(PYTHON) tools/install.py
endef

.PHONY: help run demo test test-quick test-faults test-live test-packages soak check bench docs pictures lock release clean
.NOTPARALLEL:
# Where Python may keep no bytecode, each program that a test starts compiles skilld anew: a second of processor time.
unexport PYTHONDONTWRITEBYTECODE

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

run: ## the daemon on your own transcripts (ARGS="--once --backfill 7")
	$(install) run
	@$(BIN)/skilld run $(ARGS)

demo: ## a bundled session in a temporary home, offline, ending in a proposal
	$(install) run
	@$(BIN)/skilld demo $(ARGS)

test: ## all tests but the live and slow ones and those of `make check` (ARGS="tests/unit -k tail")
	$(install) test
	@$(BIN)/python -m pytest -q --forks auto -m "not live and not slow" --durations=10 $(or $(ARGS),$(CHECKED:%=--ignore=%))

test-quick: ## unit tests that start no process, in less than a minute
	$(install) test
	@$(BIN)/python -m pytest -q --forks auto -m quick tests/unit $(ARGS)

test-faults: ## faults built for real, the slow ones too: kills, full disks, clocks, a whole day
	$(install) test
	@$(BIN)/python -m pytest -q --forks auto tests/faults $(ARGS)

test-live: ## real agent clients in a terminal, a real desktop, a real service manager; needs npm and tmux
	$(install) test
	@[ "$(LIVE)" != tests/live ] || $(BIN)/python tools/live_desktop.py || [ $$? -eq 77 ]
	@$(BIN)/python tools/live_clients.py $(CLIENTS) || code=$$?; \
	if [ "$${code:-0}" -eq 77 ]; then exit 0; elif [ "$${code:-0}" -ne 0 ]; then exit "$$code"; fi; \
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m live $(LIVE) $(ARGS)

test-packages: ## wheel, pipx, uv and the Debian package, built and installed; needs the package index
	$(install) test
	@$(BIN)/python -m pytest -q tests/packages $(ARGS)

soak: ## kills, random files, damaged bytes for MINUTES=20; says how far it came, as text and JSON
	$(install) test
	@PYTHONPATH=.:tests $(BIN)/python -m tools.soak --minutes $(MINUTES) $(ARGS)

check: ## format, lint, strict types, import rule, patterns, docs
	$(install) dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/python -m tools.docs check
	@$(BIN)/mypy & types=$$!; $(BIN)/python -m pytest -q $(CHECKED); code=$$?; wait $$types && exit $$code

bench: ## measurements, as JSON
	$(install) test
	@$(BIN)/python benchmarks/run.py $(ARGS)

docs: ## write the generated parts of docs/, and build/messages.txt: every text that a person may see
	$(install) run
	@$(BIN)/python -m tools.docs write

pictures: ## draw docs/pictures from a temporary home
	$(install) test
	@PYTHONPATH=.:tests $(BIN)/python -m tools.pictures

lock: ## write requirements/*.txt from pyproject.toml (ARGS=--upgrade for newer versions); needs uv
	@$(PYTHON) tools/lock.py $(ARGS)

release: ## make everything a release consists of into dist (TAG=v1.2.3); docs/releasing.md
	$(install) test
	@$(BIN)/python -m tools.release $(TAG) $(ARGS)

clean: ## remove everything that make and the tools made
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

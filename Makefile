# One word a habit. Each sets up .venv by itself the first time and is quick after that.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint bench bench-quick setup

demo: $(READY)
	@$(BIN)/memory-recall demo

test: $(READY)
	@$(BIN)/pytest -n auto

lint: $(READY)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

# The peers (bm25s, tantivy) are an extra that only the benchmarks need.
BENCH_READY := $(VENV)/.bench-ready

bench: $(BENCH_READY)
	@mkdir -p build
	@$(BIN)/python benchmarks/cold_start.py
	@$(BIN)/python -m benchmarks.hover
	@$(BIN)/python -m benchmarks.quality --peers
	@$(BIN)/python -m benchmarks.scale --docs --json build/scale.json

bench-quick: $(BENCH_READY)
	@$(BIN)/python -m benchmarks.quality
	@$(BIN)/python -m benchmarks.scale --quick

$(BENCH_READY): $(READY)
	@echo "Installing what the benchmarks compare with ..." >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	@touch $(BENCH_READY)

setup: $(READY)

# The first interpreter that is new enough and can make environments, which some systems package apart.
$(READY): pyproject.toml
	@for python in $$PYTHON python3 python3.13 python3.12 python3.11 python; do \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    found=$$python; \
	    "$$python" -c 'import ensurepip, venv' 2>/dev/null || continue; \
	    chosen=$$python; break; \
	done; \
	if [ -z "$$chosen" ] && [ -n "$$found" ]; then \
	    echo "$$found has no venv module: install it (Debian, Ubuntu: apt-get install python3-venv), then run make again." >&2; exit 1; \
	elif [ -z "$$chosen" ]; then \
	    echo "Python 3.11 or newer is needed and none was found: install one, or name it with PYTHON=/path/to/python3 make." >&2; exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$chosen (once; this fetches the dependencies) ..." >&2; \
	{ "$(BIN)/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || "$$chosen" -m venv --clear $(VENV); } && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' || { \
	    echo "Setting up $(VENV) failed: see the lines above (is a package index reachable?), then run make again." >&2; exit 1; }
	@touch $(READY)

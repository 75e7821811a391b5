# `make demo` and `make test` set up everything they need. They want git, make, Python with pip, and a package index.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

UV := .tools/bin/uv
UV_VERSION := 0.13.8
RUN := .venv/bin
PACKAGES := layers/core cli simulator
SOURCES := layers/core/src cli/src simulator/src tests bench tools
DOCS := docs/detectors

export UV_NO_PROGRESS := 1

help: ## say what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "make %-8s %s\n", $$1, $$2}'

setup: .venv/ready ## make .venv, with every version and hash of requirements.txt

.venv/ready: requirements.txt .python-version $(PACKAGES:%=%/pyproject.toml)
	@bash tools/setup.sh $(UV) $(UV_VERSION) $(PACKAGES)
	@touch $@

demo: setup ## audit the simulated account, and show what was planted in it
	@$(RUN)/slackwater demo

test: setup ## everything that CI checks
	$(RUN)/ruff check $(SOURCES)
	$(RUN)/ruff format --check $(SOURCES)
	$(RUN)/mypy
	$(RUN)/lint-imports --no-cache
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; $(RUN)/python -m slackwater_cli.docs "$$fresh"; \
	  diff -r "$$fresh" $(DOCS) || { echo "docs/detectors is stale: run 'make docs'"; exit 1; }
	$(RUN)/pytest -q

docs: setup ## write the detectors' pages again
	$(RUN)/python -m slackwater_cli.docs $(DOCS)

format: setup ## lay out the code
	$(RUN)/ruff format $(SOURCES)
	$(RUN)/ruff check --fix $(SOURCES)

lock: setup ## choose versions again, within the pyproject files' bounds
	$(UV) pip compile -q --upgrade --universal --generate-hashes --no-annotate --no-header --python-version 3.13 \
	  --no-emit-package slackwater --group dev $(PACKAGES:%=%/pyproject.toml) -o requirements.txt

bench: setup ## calls against the floor, CPU and memory, on 5,000 and 20,000 simulated resources
	$(RUN)/python bench/scan.py

.PHONY: help setup demo test docs format lock bench

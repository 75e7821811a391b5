# `make demo` and `make test` set up everything they need. They want git, make, Python with pip, and a package index.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

UV := .tools/bin/uv
UV_VERSION := 0.13.8
RUN := .venv/bin
PACKAGES := layers/core cli simulator
SOURCES := layers/core/src cli/src simulator/src functions tests bench tools
DOCS := docs/detectors
TOOLS := .tools/ministack/ready .tools/lambda-runtime/ready

export UV_NO_PROGRESS := 1
export SAM_CLI_TELEMETRY := 0

help: ## say what can be made
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "make %-18s %s\n", $$1, $$2}'

setup: .venv/ready ## make .venv, with every version and hash of requirements.txt

.venv/ready: requirements.txt .python-version $(PACKAGES:%=%/pyproject.toml)
	@bash tools/setup.sh $(UV) $(UV_VERSION) $(PACKAGES)
	@touch $@

demo: setup ## audit the simulated account, and show what was planted in it
	@$(RUN)/slackwater demo

test: setup check-template tests/browser/node_modules/ready ## everything that CI checks
	$(RUN)/ruff check $(SOURCES)
	$(RUN)/ruff format --check $(SOURCES)
	$(RUN)/mypy
	for function in functions/*/app.py; do $(RUN)/mypy "$$function"; done
	$(RUN)/lint-imports --no-cache
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; $(RUN)/python -m slackwater_cli.docs "$$fresh"; \
	  diff -r "$$fresh" $(DOCS) || { echo "docs/detectors is stale: run 'make docs'"; exit 1; }
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; $(RUN)/python tools/estimate_pages.py "$$fresh"; \
	  diff -r "$$fresh" docs/estimates || { echo "docs/estimates is stale: run 'make docs'"; exit 1; }
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; $(RUN)/python tools/slack_messages.py "$$fresh"; \
	  diff -r "$$fresh" docs/slack/messages || { echo "docs/slack/messages is stale: run 'make docs'"; exit 1; }
	$(RUN)/pytest -q
	node --test --test-reporter=spec tests/browser/*.test.mjs

check-template: setup .tools/checkov/ready tools/asl/node_modules/ready ## the templates and the state machines, by everybody's validators
	for template in template.yaml template-cleanup.yaml template-member.yaml; do \
	  $(RUN)/sam validate --template $$template --region us-east-1 >/dev/null; \
	  $(RUN)/sam validate --template $$template --lint --region us-east-1 >/dev/null; \
	  .tools/checkov/bin/checkov --file $$template --framework cloudformation --skip-download --quiet --compact; \
	done
	for machine in statemachines/*.asl.yaml; do \
	  tools/asl/node_modules/.bin/asl-validator --yaml-definition "$$(sed 's/$${Partition}/aws/' $$machine)"; \
	done

docs: setup ## write the generated pages again
	$(RUN)/python -m slackwater_cli.docs $(DOCS)
	$(RUN)/python tools/estimate_pages.py docs/estimates
	$(RUN)/python tools/running_cost.py
	$(RUN)/python tools/openapi.py docs/openapi.json
	$(RUN)/python tools/slack_messages.py docs/slack/messages
	PYTHONPATH=tests $(RUN)/python tools/cleanup_fault_page.py docs/cleanup-faults.md

format: setup ## lay out the code
	$(RUN)/ruff format $(SOURCES)
	$(RUN)/ruff check --fix $(SOURCES)

lock: setup ## choose versions again, within the pyproject files' bounds
	$(UV) pip compile -q --upgrade --universal --generate-hashes --no-annotate --no-header --python-version 3.13 \
	  --no-emit-package slackwater --group dev $(PACKAGES:%=%/pyproject.toml) -o requirements.txt
	$(UV) pip compile -q --generate-hashes --no-annotate --no-header --python-version 3.13 --python-platform aarch64-manylinux_2_28 \
	  --constraints requirements.txt layers/core/pyproject.toml -o layers/core/requirements.txt
	for tool in ministack lambda-runtime checkov; do $(UV) pip compile -q --upgrade --universal --generate-hashes --no-annotate --no-header \
	  --python-version 3.13 tools/requirements/$$tool.in -o tools/requirements/$$tool.txt; done

e2e: setup $(TOOLS) ## deploy to a stand-in for AWS on this machine, and watch audits come and go
	$(RUN)/pytest -q -s -x tests/e2e

bench: setup .tools/custodian/ready ## what a scan costs, beside the least it could and beside Cloud Custodian; half an hour
	$(RUN)/python bench/scan.py --write docs/performance.md
	$(RUN)/python bench/compare.py --write docs/performance.md --picture docs/performance.svg

bench-faults: setup .tools/custodian/ready ## five situations in which Cloud Custodian goes wrong, played to it and to Slackwater; five minutes
	PYTHONPATH=tests $(RUN)/python bench/faults.py --write docs/faults.md

chaos: setup ## 200 scans while calls go wrong at random; some minutes
	PYTHONPATH=tests $(RUN)/python tools/chaos_page.py docs/chaos.md

bench-organization: setup ## what an audit of a thousand simulated accounts costs; half an hour
	PYTHONPATH=tools $(RUN)/python bench/organization.py --write docs/organization.md

score: setup ## what the detectors get right and wrong on labelled fleets; ten minutes
	$(RUN)/python bench/score.py --seeds report --write docs/score.md

bench-cold-start: setup $(TOOLS) ## how long each function takes to start, on Lambda's runtime emulator
	PYTHONPATH=tools:tests $(RUN)/python bench/cold_start.py --write docs/performance.md

.tools/%/ready: tools/requirements/%.txt .venv/ready
	@bash tools/venv.sh $(@D) $<
	@touch $@

screenshots: setup tests/browser/node_modules/ready ## pictures of the report, to look at, in build/screenshots
	@node tests/browser/screenshots.mjs build/screenshots

%/node_modules/ready: %/package-lock.json
	@node -e '[a, b] = process.versions.node.split("."); if (a < 20 || (a == 20 && b < 11)) process.exit(1)' && command -v npm >/dev/null || \
	  { echo "'make test' needs Node.js 20.11 or newer with npm, for the state machine and the report: https://nodejs.org" >&2; exit 1; }
	@npm ci --prefix $* --silent --no-fund --no-audit
	@touch $@

.PHONY: help setup demo test screenshots check-template docs format lock e2e bench bench-faults chaos bench-organization score bench-cold-start

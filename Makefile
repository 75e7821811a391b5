# `make demo` and `make test` set up everything they need. They want git, make, Python with pip, and a package index.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

UV := .tools/bin/uv
UV_VERSION := 0.13.8
RUN := .venv/bin
SOURCES := layers/core/src cli/src simulator/src functions tests bench tools
DOCS := docs/detectors
TEMPLATES := template.yaml template-cleanup.yaml template-member.yaml
# Tests that share an expensive fixture stay together, and a worker that is done takes over from another.
SIDE_BY_SIDE := --dist worksteal
# One worker more than cores: many of the quick tests wait.
QUICK_WORKERS := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
CHECKERS := .tools/checkov/ready tools/asl/node_modules/ready tests/browser/node_modules/ready
TOOLS := .tools/ministack/ready .tools/aws-cli/ready .tools/lambda-runtime/ready

export UV_NO_PROGRESS := 1
# Without bytecode each of the many processes here would compile all that it imports, for a second or more.
unexport PYTHONDONTWRITEBYTECODE
export SAM_CLI_TELEMETRY := 0

help: ## say what can be made
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "make %-18s %s\n", $$1, $$2}'

venv: .venv/ready ## install the command into .venv, with every version and hash of requirements.txt

setup: .venv/collected $(CHECKERS) ## install what the tests need

.venv/ready: requirements.txt .python-version pyproject.toml
	@bash tools/setup.sh $(UV) $(UV_VERSION)
	@touch $@

# Every test can be collected; and its bytecode is there before several workers would each compile it.
.venv/collected: .venv/ready
	@echo "setting up: tests" >&2
	@$(RUN)/pytest -q --collect-only >.venv/collected.log || { cat .venv/collected.log; exit 1; }
	@touch $@

demo: .venv/ready ## audit the simulated account, and show what was planted in it
	@$(RUN)/slackwater demo

test: setup ## the static checks, all tests but the slow ones, and the report in a browser; about four minutes
	@$(MAKE) --no-print-directory -j4 pytest-quick check browser-smoke

test-all: setup ## the same with every test; at most twelve minutes
	@$(MAKE) --no-print-directory -j4 pytest-all check browser

test-changed: .venv/ready ## the tests that import what differs from HEAD (or from BASE=...): a quick look, no proof
	@set -e; tests=$$($(RUN)/python tools/changed_tests.py $(BASE)); \
	[ -z "$$tests" ] || $(RUN)/pytest -q -m "not slow" $$tests || [ $$? -eq 5 ]

pytest-quick: .venv/ready
	$(RUN)/pytest -q -n $(QUICK_WORKERS) $(SIDE_BY_SIDE) -m "not slow"

pytest-all: .venv/ready
	$(RUN)/pytest -q -n auto $(SIDE_BY_SIDE) --hypothesis-profile=thorough --over-http

browser-smoke: .venv/ready tests/browser/node_modules/ready
	node --test --test-reporter=dot tests/browser/safety.test.mjs tests/browser/vendor.test.mjs

browser: .venv/ready tests/browser/node_modules/ready
	node --test --test-reporter=spec tests/browser/*.test.mjs

check: check-code check-types check-pages check-template ## everything that is checked without running it

check-code: .venv/ready
	$(RUN)/ruff check $(SOURCES)
	$(RUN)/ruff format --check $(SOURCES)
	$(RUN)/lint-imports --no-cache
	$(RUN)/python tools/plain_names.py $(SOURCES)

check-types: .venv/ready
	$(RUN)/mypy

check-pages: .venv/ready
	@set -e; fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(RUN)/python -m slackwater_cli.docs "$$fresh/detectors"; \
	$(RUN)/python tools/estimate_pages.py "$$fresh/estimates"; \
	$(RUN)/python tools/slack_messages.py "$$fresh/slack/messages"; \
	$(RUN)/python tools/policy_reference.py "$$fresh/policy-reference.md"; \
	$(RUN)/python tools/deployment_parameters.py "$$fresh/parameters.md"; \
	$(RUN)/python tools/running_cost.py "$$fresh/running-cost.md"; \
	for pages in detectors estimates slack/messages policy-reference.md parameters.md running-cost.md; do \
	  diff -r "$$fresh/$$pages" "docs/$$pages" || { echo "docs/$$pages is stale: run 'make docs'"; exit 1; }; \
	done

check-template: check-sam check-checkov check-machines ## validate the templates and the state machines

check-sam: .venv/ready
	$(RUN)/python tools/validate_templates.py $(TEMPLATES)

check-checkov: .venv/ready .tools/checkov/ready
	.tools/checkov/bin/checkov $(TEMPLATES:%=--file %) --framework cloudformation --skip-download --quiet --compact

audit: .tools/audit/ready ## check every locked version for known vulnerabilities; ADVISORIES="PATH ..." names copies of OSV's records
	@.tools/audit/bin/python tools/audit.py $(ADVISORIES:%=--advisories %)

check-machines: .venv/ready tools/asl/node_modules/ready
	@set -e; for machine in statemachines/*.asl.yaml; do \
	  tools/asl/node_modules/.bin/asl-validator --yaml-definition "$$(sed 's/$${Partition}/aws/' $$machine)"; \
	done

docs: .venv/ready ## write the generated pages again
	$(RUN)/python -m slackwater_cli.docs $(DOCS)
	$(RUN)/python tools/estimate_pages.py docs/estimates
	$(RUN)/python tools/running_cost.py docs/running-cost.md
	$(RUN)/python tools/openapi.py docs/openapi.json
	$(RUN)/python tools/slack_messages.py docs/slack/messages
	$(RUN)/python tools/deploy_rights.py iam/deploy.json
	$(RUN)/python tools/slack_pictures.py docs/slack
	$(RUN)/python tools/policy_reference.py docs/policy-reference.md
	$(RUN)/python tools/deployment_parameters.py docs/parameters.md
	$(RUN)/python tools/terminal_picture.py docs/pictures/terminal.svg

format: .venv/ready ## lay out the code
	$(RUN)/ruff format $(SOURCES)
	$(RUN)/ruff check --fix $(SOURCES)

lock: .venv/ready ## choose versions again, within the pyproject files' bounds
	$(UV) pip compile -q --upgrade --universal --generate-hashes --no-annotate --no-header --python-version 3.13 \
	  --no-emit-package slackwater --group dev --extra demo pyproject.toml -o requirements.txt
	$(UV) pip compile -q --generate-hashes --no-annotate --no-header --python-version 3.13 --python-platform aarch64-manylinux_2_28 \
	  --constraints requirements.txt layers/core/requirements.in -o layers/core/requirements.txt
	for tool in ministack aws-cli lambda-runtime checkov audit; do $(UV) pip compile -q --upgrade --universal --generate-hashes --no-annotate --no-header \
	  --python-version 3.13 tools/requirements/$$tool.in -o tools/requirements/$$tool.txt; done

release: .venv/ready ## build the tagged commit into dist: the wheel (twice, and compare), the bundle, and SHA256SUMS
	@$(RUN)/python tools/release.py dist

bundle: .venv/ready ## pack a template with its artifacts into build/bundle: deploying it needs the AWS CLI only
	$(RUN)/sam build --build-dir build/sam
	@$(RUN)/python tools/bundle.py build/sam/template.yaml build/bundle

e2e: .venv/ready $(TOOLS) ## deploy to a stand-in for AWS on this machine, and watch audits come and go
	$(RUN)/pytest -q -s -x tests/e2e

local-service: .venv/ready $(TOOLS) ## deploy to a replacement for AWS on this machine, to try it; Ctrl-C ends it
	@PYTHONPATH=tools:tests $(RUN)/python tools/local_service.py build

bench: .venv/ready .tools/slackwater/ready .tools/custodian/ready ## what a scan costs, beside the least it could and beside Cloud Custodian; half an hour
	$(RUN)/python bench/scan.py --write docs/performance.md
	$(RUN)/python bench/compare.py --write docs/performance.md --picture docs/performance.svg

bench-start: .venv/ready ## how long commands take to start, beside the import of Typer and Rich; a minute
	@$(RUN)/python bench/start.py

bench-faults: .venv/ready .tools/custodian/ready ## five situations in which Cloud Custodian goes wrong, played to it and to Slackwater; five minutes
	PYTHONPATH=tests $(RUN)/python bench/faults.py --write docs/faults.md

explore: .venv/ready ## every clean-up, with everything that may happen at each of its calls; up to half an hour on two cores
	PYTHONPATH=tests $(RUN)/python -m explorer

chaos: .venv/ready ## 200 scans while calls go wrong at random; some minutes
	PYTHONPATH=tests $(RUN)/python tools/chaos_page.py docs/chaos.md

bench-organization: .venv/ready ## what an audit of a thousand simulated accounts costs; an hour
	PYTHONPATH=tools $(RUN)/python bench/organization.py --write docs/organization.md
	PYTHONPATH=tools $(RUN)/python bench/organization.py --fleet hard-organization --write docs/organization.md

score: .venv/ready ## what the detectors get right and wrong on labelled fleets; half an hour
	$(RUN)/python bench/score.py --seeds report --write docs/score.md

bench-cold-start: .venv/ready $(TOOLS) ## how long each function takes to start, on Lambda's runtime emulator
	PYTHONPATH=tools:tests $(RUN)/python bench/cold_start.py --write docs/performance.md

# The command as a user installs it, without the tests' packages, from this folder.
.tools/slackwater/ready: .venv/ready
	@bash tools/uv.sh venv --quiet --clear --python .venv/bin/python $(@D)
	@VIRTUAL_ENV=$(@D) bash tools/uv.sh pip install --quiet --constraints requirements.txt --editable .
	@touch $@

.tools/%/ready: tools/requirements/%.txt .venv/ready
	@bash tools/venv.sh $(@D) $<
	@touch $@

screenshots: .venv/ready tests/browser/node_modules/ready ## pictures of the report, to look at, in build/screenshots
	@node tests/browser/screenshots.mjs build/screenshots

report-picture: .venv/ready tests/browser/node_modules/ready ## the demo's report, as README shows it
	@set -e; work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	$(RUN)/slackwater demo --output "$$work" >/dev/null; \
	node tests/browser/screenshots.mjs "$$work/shots" "$$work/report.html"; \
	cp "$$work/shots/report-light.png" docs/pictures/report.png

%/node_modules/ready: %/package-lock.json
	@node -e '[a, b] = process.versions.node.split("."); if (a < 20 || (a == 20 && b < 11)) process.exit(1)' && command -v npm >/dev/null || \
	  { echo "the tests need Node.js 20.11 or newer with npm, for the state machine and the report: https://nodejs.org" >&2; exit 1; }
	@npm ci --prefix $* --silent --no-fund --no-audit
	@touch $@

.PHONY: help venv setup demo test test-all test-changed pytest-quick pytest-all browser browser-smoke check check-code check-types check-pages \
  audit check-template check-sam check-checkov check-machines screenshots report-picture docs format lock release bundle e2e bench bench-start bench-faults explore chaos bench-organization score \
  bench-cold-start

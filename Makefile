# Everything a checkout needs, from Python 3.11 or newer, make and a package index alone.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# As many at once as there are CPUs; the tests of one file one after the other, since they share what is slow to make.
PARALLEL ?= --numprocesses auto --dist loadfile
# Tests with a broker wait most of the time: twice as many at once, each with a broker of its own, and in the order
# that is given, since the files with the fewest tests take longest.
WAITING ?= --numprocesses 4 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help install demo demo-desk demo-judge test lint unit integration faults bench requirements clean

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(INSTALLED) ## make .venv with everything in it

$(INSTALLED): pyproject.toml requirements/dev.txt requirements/files.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "truthgate needs Python 3.11 or newer; name one with PYTHON=..."; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/files.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: install ## watch answers being judged: a broker, a worker and a sample chat log
	$(BIN)/truthgate demo

demo-desk: install ## the same with the review desk, where you decide about the answers that wait
	$(BIN)/truthgate demo --desk

demo-judge: install ## the same with answers in doubt asked about: a real language model, far too small to judge well
	$(BIN)/python -m tests.support.demo_judge

test: lint unit ## everything that is checked before a change is taken
	$(BIN)/python -m pytest tests/faults tests/integration $(WAITING)

lint: install ## style, types and the directions of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

UNIT ?= tests/unit
unit: install ## the tests that need no broker, or those of UNIT="path ..."
	$(BIN)/python -m pytest $(UNIT) $(PARALLEL)

SBOM ?= dist/truthgate.cdx.json

.PHONY: sbom
sbom: install ## write the software bill of materials
	$(BIN)/python -m tests.support.bill $(SBOM)

.PHONY: audit
audit: install ## look up what is pinned among known weaknesses
	$(BIN)/python -m tests.support.audit

.PHONY: explore
explore: install ## the unit tests with examples that were never tried before
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest tests/unit -m hypothesis

.PHONY: mutants
mutants: install ## change the lines that a change touches, or MUTANTS="path ...": do unit tests notice?
	$(BIN)/python -m tests.support.mutants $(MUTANTS)

integration: install ## the tests on a real Apache Kafka
	$(BIN)/python -m pytest tests/integration $(WAITING)

.PHONY: faults-short
faults-short: install
	$(BIN)/python -m pytest tests/faults $(WAITING)

faults: install ## kill workers and brokers, break the network: the long form, about half an hour, and an hour of steady load
	TRUTHGATE_TEST_FAULTS=long $(BIN)/python -m pytest tests/faults

bench: install ## measure; see tests/benchmarks/README.md
	$(BIN)/python -m tests.benchmarks.stream
	$(BIN)/python -m tests.benchmarks.scoring
	$(BIN)/python -m tests.benchmarks.scoring --language nl
	$(BIN)/python -m tests.benchmarks.prepared
	$(BIN)/python -m tests.benchmarks.serving
	$(BIN)/python -m tests.benchmarks.enrichment --documents 1000
	$(BIN)/python -m tests.benchmarks.leader
	$(BIN)/python -m tests.benchmarks.singletons
	$(BIN)/python -m tests.benchmarks.fleet

.PHONY: cluster cluster-tests
cluster: install ## look at the chart in a Kubernetes on this machine, with Kafka and a replayed log, until Ctrl-C
	@$(BIN)/python -m tests.support.cluster

cluster-tests: install ## the chart in that Kubernetes: every values file, upgrades under load, a drained node
	$(BIN)/python -m pytest tests/cluster

.PHONY: docs docs-serve
docs: install ## build the documentation into site/, whole and with nothing from elsewhere
	$(BIN)/python -m mkdocs build --config-file docs/generate/mkdocs.yml

docs-serve: install ## show the documentation on this machine, and anew whenever it changes, until Ctrl-C
	$(BIN)/python -m mkdocs serve --config-file docs/generate/mkdocs.yml

.PHONY: generate
generate: install ## write what is made from the code: pages, AsyncAPI, the chart's files, and renders of it
	$(BIN)/python -m docs.generate
	$(BIN)/python -m tests.support.charts

.PHONY: golden
golden: generate ## write anew all that users see and tests compare with: what changed is then a diff
	$(BIN)/python -m tests.support.transcripts
	$(BIN)/python -m tests.support.sample_verdicts

requirements: install ## pin the newest versions that pyproject.toml allows, with their hashes
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --upgrade \
		--no-header --no-emit-index-url --no-emit-find-links --quiet --extra monitoring -o requirements/runtime.txt
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --upgrade \
		--no-header --no-emit-index-url --no-emit-find-links --quiet --extra demo --extra monitoring --extra plot --extra verifier --group dev -o requirements/dev.txt
	$(BIN)/uv pip compile --group pyproject.toml:build --universal --python-version 3.11 --generate-hashes --upgrade \
		--no-header --no-emit-index-url --no-emit-find-links --quiet -o requirements/build.txt
	$(BIN)/uv pip compile --group pyproject.toml:files --no-deps --universal --python-version 3.11 --generate-hashes --upgrade \
		--no-header --no-emit-index-url --no-emit-find-links --quiet -o requirements/files.txt

clean: ## remove what was made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .mutants dist build site

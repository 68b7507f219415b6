# `make run` starts Planwright, `make test` runs every test. Both install what is missing.

.PHONY: run chat demo test check bench bench-scale fuzz simulate chaos docs clean help

CARGO ?= cargo

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: toolchain dashboard ## Build Planwright and start its server; it prints the address. PLANWRIGHT_MODEL chooses the model, else the rehearsal answers
	@$(CARGO) build -p planwright
	@$(CARGO) run --quiet -p planwright -- serve

chat: toolchain ## Build Planwright and talk to the agent in this terminal
	@$(CARGO) build -p planwright
	@$(CARGO) run --quiet -p planwright -- chat

demo: toolchain ## Build Planwright and show what an agent tries and what Planwright answers
	@$(CARGO) build -p planwright
	@$(CARGO) run --quiet -p planwright -- demo

# The same cases in every run, so that a failure can be repeated. `make fuzz` tries new ones.
PROPERTY_SEED ?= 20261115

test: toolchain dashboard ## Run every test and lint; installs PostgreSQL, schemathesis, systemd-analyze, Chromium and MCP servers from npm if they are missing. ONLY="attacks store" runs these test programs only
	@scripts/ensure-test-tools
	@scripts/ensure-mcp-servers >/dev/null
	$(CARGO) fmt --all -- --check
	$$(scripts/ensure-python-tool typos 1.51.1)
	scripts/check-workflows
	@PROPTEST_RNG_SEED=$(PROPERTY_SEED) scripts/with-schemathesis scripts/with-postgres scripts/run-tests $(ONLY)

.PHONY: test-clients
test-clients: toolchain ## Drive real clients against Planwright and write docs/clients/results.md (docs/clients/README.md): make test-clients ONLY=codex
	@scripts/test-clients $(ONLY)

.PHONY: test-gateway
test-gateway: toolchain ## Replay AgentDojo (installed from PyPI) through the gateway, write the table of docs/gateway.md, and kill the gateway 50 times on each store: make test-gateway ONLY=recorded
	@scripts/with-postgres scripts/test-gateway $(ONLY)

.PHONY: test-attacks
test-attacks: toolchain ## Make every attack on approval as root and as an ordinary user, on SQLite and PostgreSQL, from this host and from a second one, and write docs/attacks.md (RESUME=1 goes on after an interruption)
	@scripts/with-postgres scripts/test-attacks

.PHONY: dashboard
dashboard: ## Build the dashboard, which the program contains; installs Node if it is missing or too old
	@scripts/build-dashboard

.PHONY: dist dist-twice test-dist
dist: toolchain ## Build every package into target/packages (docs/packages.md): archive, Debian, wheel, npm, container, bundle; installs what is missing. KINDS="archive npm" builds these alone
	@scripts/dist $(KINDS)

dist-twice: toolchain ## Build every package twice, in two folders, and compare them byte by byte
	@scripts/dist-twice $(KINDS)

test-dist: ## Install the packages of `make dist` into bare Debians without a network, use them and remove them; writes docs/packages.md; as root
	@scripts/test-dist $(ONLY)

check: toolchain ## Formatting, lints, spelling and dependencies, as errors; installs typos, actionlint, cargo-machete and cargo-deny into the build folder
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS=-Dwarnings $(CARGO) doc --workspace --no-deps
	$$(scripts/ensure-python-tool typos 1.51.1)
	scripts/check-workflows
	$$(scripts/ensure-cargo-tool cargo-machete 0.9.2)
	$$(scripts/ensure-cargo-tool cargo-deny 0.20.2) check --hide-inclusion-graph bans licenses sources

bench: toolchain ## Run the benchmarks (docs/performance.md)
	$(CARGO) build --release -p planwright -p planwright-bench
	PLANWRIGHT_POSTGRES_DURABLE=1 scripts/with-postgres target/release/planwright-bench commits target
	target/release/planwright-bench size target
	target/release/planwright-bench turns target
	target/release/planwright-bench steps target
	target/release/planwright-bench search target
	target/release/planwright-bench sandbox target
	target/release/planwright-bench upstream target
	target/release/planwright-bench telegram target
	target/release/planwright-bench memory-latency target 10000 50000
	target/release/planwright-bench mcp target/release/planwright
	target/release/planwright-bench gateway target/release/planwright target
	target/release/planwright-bench hook target/release/planwright target
	target/release/planwright-bench cold-start target/release/planwright target
	target/release/planwright-bench chat target/release/planwright target
	target/release/planwright-bench serve target/release/planwright target

SCALE_FOLDER ?= target/scale

SCALE ?= 10000 100000 1000000

SCALE_POSTGRES ?= 10000 100000

bench-scale: toolchain ## Measure stores with up to a million sessions (docs/performance.md): make bench-scale SCALE="10000 100000"
	$(CARGO) build --release -p planwright -p planwright-bench
	mkdir -p $(SCALE_FOLDER)
	target/release/planwright-bench scale target/release/planwright $(SCALE_FOLDER) $(SCALE)
	PLANWRIGHT_POSTGRES_DURABLE=1 scripts/with-postgres sh -c \
		'target/release/planwright-bench scale target/release/planwright "$$PLANWRIGHT_TEST_POSTGRES" $(SCALE_POSTGRES)'

FUZZ_SECONDS ?= 60

PROPERTY_CASES ?= 5000

fuzz: toolchain ## Run the fuzz targets for longer, and the properties on new cases: make fuzz FUZZ_SECONDS=600
	PLANWRIGHT_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test --workspace fuzz
	PROPTEST_CASES=$(PROPERTY_CASES) $(CARGO) test -p planwright-core --test core

SIMULATE_SECONDS ?= 60

simulate: toolchain ## Simulate the agent for longer: make simulate SIMULATE_SECONDS=600; SEED=… repeats one run
	PLANWRIGHT_SIMULATE_SECONDS=$(SIMULATE_SECONDS) PLANWRIGHT_SIMULATE_SEED=$(SEED) PLANWRIGHT_SIMULATE_ACTS=$(ACTS) \
		$(CARGO) test --release -p planwright-agent --test simulation what_must_hold -- --nocapture

docs: toolchain ## Write docs/configuration.md anew from the program's settings, and the crates' documentation to target/doc/
	WRITE_DOCS=1 $(CARGO) test --quiet -p planwright configuration_page
	RUSTDOCFLAGS=-Dwarnings $(CARGO) doc --workspace --no-deps

CHAOS_SECONDS ?= 120

CHAOS_ROUND ?= 30

CHAOS_SEED = $(if $(SEED),$(SEED),$(shell date +%s))

chaos: toolchain ## Kill, freeze and starve servers under load (docs/chaos.md): make chaos CHAOS_SECONDS=600; SEED=… repeats one run
	PLANWRIGHT_CHAOS_SECONDS=$(CHAOS_SECONDS) PLANWRIGHT_CHAOS_SEED=$(CHAOS_SEED) PLANWRIGHT_CHAOS_ROUND=$(CHAOS_ROUND) \
		PLANWRIGHT_CHAOS_STORE=$(CHAOS_STORE) scripts/with-postgres $(CARGO) test -p planwright --test chaos under_faults -- --nocapture

clean: ## Remove everything that was built
	$(CARGO) clean

.PHONY: toolchain
toolchain:
	@scripts/ensure-toolchain

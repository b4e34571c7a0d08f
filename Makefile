# Commands for developers; `make help` lists the targets.
#
# The package is installed into two virtual environments, one per interpreter:
#   .venv/gil   the system's CPython
#   .venv/ft    free-threaded CPython 3.14t, found or built by tools/get_python.py
# `make test-314` adds .venv/314, for CPython 3.14 with a GIL, from the same tool.
# All installations are editable: changes to Python code take effect immediately, and
# the extensions are rebuilt when something in cpp/ has changed.
#
# Settings:
#   PYTHON      interpreter for .venv/gil
#   FT_PYTHON   interpreter for .venv/ft; found or built if empty
#   PYTHON_314  interpreter for .venv/314; found or built if empty
#   ARGS        additional arguments for pytest, the benchmarks or the training
#   PGO=1       benchmark with an optimized build of 3.14t (.venv/ft-pgo)

PYTHON ?= python3
FT_PYTHON ?=
PYTHON_314 ?=
ARGS ?=
PGO ?=

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

# --- Tests --------------------------------------------------------------------------

.PHONY: test test-cpp test-gil test-ft test-314 test-slow system-packages sanitize
# The two Pythons are tested concurrently: most tests use one core.
test: system-packages test-cpp .venv/gil/.built .venv/ft/.built ## Run all tests on both Pythons
	@mkdir -p build; echo "Testing both Pythons concurrently; the output of 3.14t follows at the end."; \
	.venv/ft/bin/python -m pytest $(ARGS) > build/test-ft.log 2>&1 & ft=$$!; \
	trap 'kill $$ft 2>/dev/null || true' INT TERM; \
	gil=0; .venv/gil/bin/python -m pytest $(ARGS) || gil=$$?; \
	free=0; wait $$ft || free=$$?; cat build/test-ft.log; \
	exit $$(( gil ? gil : free ))

test-gil: system-packages .venv/gil/.built ## Run the Python tests on the system's CPython
	.venv/gil/bin/python -m pytest $(ARGS)

test-ft: system-packages .venv/ft/.built ## Run the Python tests on free-threaded CPython
	.venv/ft/bin/python -m pytest $(ARGS)

test-314: system-packages .venv/314/.built ## Run the Python tests on CPython 3.14 with a GIL
	.venv/314/bin/python -m pytest $(ARGS)

test-slow: .venv/gil/.built .venv/ft/.built ## Run the slow tests (train to stated returns, soak); an hour
	.venv/gil/bin/python -m pytest -m slow --timeout 3600 $(ARGS)
	.venv/ft/bin/python -m pytest -m slow --timeout 3600 $(ARGS)

system-packages: ## Install a browser, Graphviz and shells for the tests, if possible
	@$(PYTHON) tools/system_packages.py

comma := ,

# $(call cpp_tests,BUILD DIRECTORY,MORE CMAKE OPTIONS,COMMAND PREFIX)
# Builds the core and its tests, without Python, and runs them.
define cpp_tests
	@export PATH="$(CURDIR)/.venv/gil/bin:$$PATH"; \
	cmake -S . -B $(1) -G Ninja --log-level=WARNING \
	  -DREACTORL_PYTHON=OFF -DREACTORL_TESTS=ON -DREACTORL_WERROR=ON $(2) >/dev/null; \
	cmake --build $(1); \
	$(3) ctest --test-dir $(1) --output-on-failure --no-tests=error
endef

test-cpp: .venv/gil/.deps ## Run the C++ tests
	$(call cpp_tests,build/cpp)

# ThreadSanitizer's fixed memory layout conflicts with the address randomization of some
# kernels; `setarch -R` disables it where that is permitted.
sanitize: .venv/gil/.deps ## Run the C++ tests under the sanitizers
	$(call cpp_tests,build/tsan,-DREACTORL_SANITIZE=thread \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo,$(shell setarch -R true 2>/dev/null && echo setarch -R))
	$(call cpp_tests,build/asan,-DREACTORL_SANITIZE=address$(comma)undefined \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo)

# --- Code quality -------------------------------------------------------------------

CPP_FILES = $(shell find cpp -name '*.cpp' -o -name '*.hpp')

.PHONY: lint format stubs grammar
lint: .venv/lint/.deps .venv/gil/.deps ## Check style, types and formatting, and look for defects in C++
	.venv/lint/bin/ruff check
	.venv/lint/bin/ruff format --check
	.venv/lint/bin/mypy
	.venv/lint/bin/clang-format --dry-run --Werror $(CPP_FILES)
	@PATH="$(CURDIR)/.venv/gil/bin:$$PATH" cmake -S . -B build/tidy -G Ninja \
	  --log-level=WARNING -DREACTORL_PYTHON=OFF >/dev/null
	ls cpp/src/*.cpp | xargs -P $$(nproc) -n 2 .venv/lint/bin/clang-tidy -p build/tidy --quiet

format: .venv/lint/.deps ## Format all code and apply automatic fixes
	.venv/lint/bin/ruff check --fix-only
	.venv/lint/bin/ruff format
	.venv/lint/bin/clang-format -i $(CPP_FILES)

stubs: .venv/gil/.built ## Regenerate the type stubs of the extensions
	.venv/gil/bin/python -m nanobind.stubgen -m reactorl._core -p cpp/bind/stub.pat \
	  -o src/reactorl/_core.pyi
	for name in envs._preemption envs._stepping envs.native._bodies wrappers._resize; do \
	  .venv/gil/bin/python -m nanobind.stubgen -m reactorl.rl.$$name \
	    -o src/reactorl/rl/$${name//.//}.pyi; \
	done

grammar: .venv/gil/.deps ## Generate the LALR tables of the LF grammar
	.venv/gil/bin/python tools/lf_grammar.py

# --- Training and benchmarks --------------------------------------------------------

FT_BENCH := $(if $(PGO),ft-pgo,ft)

.PHONY: train bench bench-runtime bench-lf bench-vector bench-training bench-cluster bench-atari bench-results
train: .venv/gil/.built ## Train DQN on CartPole-v1, and print where the results are
	.venv/gil/bin/python -m reactorl train dqn --env-id CartPole-v1 --num-envs 16 \
	  --seed 1 --workers 2 $(ARGS)

BENCH = .venv/gil/bin/python -m benchmarks
BENCH_HERE = --gil $(CURDIR)/.venv/gil/bin/python \
  --ft $(CURDIR)/.venv/$(FT_BENCH)/bin/python $(ARGS)
BENCH_READY := .venv/gil/.bench .venv/$(FT_BENCH)/.bench
# Up to 3.13 the machine's CPython has Atari already, for the tests.
ATARI_READY := .venv/gil/.atari .venv/$(FT_BENCH)/.atari

bench: .venv/gil/.built ## Compare with Ray and others, engines in turns (--quick, --full)
	FT_PYTHON="$(FT_PYTHON)" PGO="$(PGO)" $(BENCH) $(ARGS)

bench-runtime: $(BENCH_READY) ## Compare the runtime with others (--against REV: with itself)
	$(BENCH) --suite runtime $(BENCH_HERE)

bench-lf: $(BENCH_READY) ## Measure the LF front end
	$(BENCH) --suite lf $(BENCH_HERE)

bench-vector: $(BENCH_READY) $(ATARI_READY) ## Compare the vector environment with Gymnasium's
	$(BENCH) --suite vector $(BENCH_HERE)

bench-atari: $(BENCH_READY) $(ATARI_READY) ## Measure the parts of a step of Atari (--docs)
	$(BENCH) --suite atari $(BENCH_HERE)

bench-training: $(BENCH_READY) ## Compare training with an ordinary loop, and its variants
	$(BENCH) --suite training $(BENCH_HERE)

bench-cluster: .venv/gil/.built ## Compare federates with RLlib
	$(BENCH) --suite cluster $(ARGS)

# Other libraries get environments of their own, with pinned versions.
bench-results: .venv/gil/.built .venv/ft/.built ## Train to thresholds beside other libraries (--smoke, --docs)
	.venv/gil/bin/python -m benchmarks.results --gil .venv/gil/bin/python \
	  --ft .venv/ft/bin/python $(ARGS)

.PHONY: atari-ft atari-gil
atari-ft: .venv/$(FT_BENCH)/.atari ## Install Atari for free-threaded CPython

atari-gil: .venv/gil/.atari ## Install Atari for the system's CPython

# --- Documentation ------------------------------------------------------------------

# Silences the theme's announcement of its successor.
MKDOCS = NO_MKDOCS_2_WARNING=1 .venv/docs/bin/mkdocs

.PHONY: docs docs-serve docs-pictures
docs: .venv/docs/.deps ## Build the documentation in build/site; warnings are errors
	$(MKDOCS) build --strict
	@echo "The documentation is in build/site/index.html."

docs-serve: .venv/docs/.deps ## Serve the documentation and rebuild it on changes
	$(MKDOCS) serve

docs-pictures: .venv/gil/.built ## Redraw the diagrams of the documentation (needs Graphviz)
	.venv/gil/bin/python tools/docs_pictures.py

# --- Releases -----------------------------------------------------------------------

.PHONY: wheels test-wheels bench-wheels release-check
wheels: ## Build the sdist and manylinux2014 wheels in dist/ (ARGS: cp311 cp314t ...)
	$(PYTHON) tools/wheels.py $(ARGS)

test-wheels: ## Test the wheels without a compiler, and compare digests with gcc's build
	$(PYTHON) tools/wheel_test.py -- $(ARGS)

bench-wheels: ## Compare the speed of the wheels with gcc's build (ARGS: --tag cp311 ...)
	$(PYTHON) tools/wheel_test.py --speed $(ARGS)

release-check: docs ## Check everything that a release needs
	$(PYTHON) tools/release_check.py $(ARGS)

# --- Environments -------------------------------------------------------------------
#
# Stamp files in each environment record its state:
#   .python  the virtual environment exists
#   .deps    dependencies for building, testing or linting are installed
#   .built   the package is installed
#   .bench   dependencies of the benchmarks are installed
#   .atari   ale-py is installed, built from source where there is no wheel

# Remove environments whose interpreter no longer exists.
$(shell for venv in .venv/*/; do [ -x "$$venv/bin/python" ] || rm -rf "$$venv"; done)

PACKAGE_VENVS := gil ft ft-pgo 314
PIP_INSTALL = .venv/$*/bin/python -m pip install -qq --disable-pip-version-check

.venv/gil/.python .venv/lint/.python .venv/docs/.python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or \
	  sys.exit(f"PYTHON must be 3.11 or later, got $(PYTHON): {sys.version}")'
	$(PYTHON) -m venv --clear $(@D)
	@touch $@

# The interpreter that is given, or what get_python.py finds with these arguments.
.venv/ft/.python: GIVEN = $(FT_PYTHON)
.venv/ft/.python: WANTED = 3.14t
.venv/ft-pgo/.python: GIVEN = $(FT_PYTHON)
.venv/ft-pgo/.python: WANTED = 3.14t --optimize
.venv/314/.python: GIVEN = $(PYTHON_314)
.venv/314/.python: WANTED = 3.14

.venv/ft/.python .venv/ft-pgo/.python .venv/314/.python:
	@python="$(GIVEN)"; \
	[ "$$python" ] || python=$$($(PYTHON) tools/get_python.py $(WANTED)); \
	echo "$$python -m venv --clear $(@D)"; \
	"$$python" -m venv --clear $(@D)
	@touch $@

# Without a wheel, these would be built from source, and need swig or SDL.
WHEELS_ONLY = --only-binary box2d,box2d-py,mujoco,mujoco-core,pygame-ce

# Dependency groups need pip 25.1.
$(PACKAGE_VENVS:%=.venv/%/.deps): .venv/%/.deps: pyproject.toml .venv/%/.python
	$(PIP_INSTALL) --upgrade pip
	$(PIP_INSTALL) $(WHEELS_ONLY) --group build --group test
	@touch $@

.venv/lint/.deps: .venv/%/.deps: pyproject.toml .venv/%/.python
	$(PIP_INSTALL) --upgrade pip
	$(PIP_INSTALL) $(WHEELS_ONLY) --group lint
	@touch $@

.venv/docs/.deps: .venv/%/.deps: pyproject.toml .venv/%/.python
	$(PIP_INSTALL) --upgrade pip
	$(PIP_INSTALL) --group docs
	@touch $@

# Directories are prerequisites, too: they change when a file is added or removed.
$(PACKAGE_VENVS:%=.venv/%/.built): .venv/%/.built: \
    .venv/%/.deps CMakeLists.txt $(shell find cpp/include cpp/src cpp/bind cpp/rl) \
    $(shell find src -type d -not -name __pycache__)
	$(PIP_INSTALL) --no-build-isolation -C build-dir=build/$* \
	  -C cmake.define.REACTORL_WERROR=ON --editable .
	@touch $@

$(PACKAGE_VENVS:%=.venv/%/.bench): .venv/%/.bench: .venv/%/.built
	$(PIP_INSTALL) --group bench
	@touch $@

# Order-only: the tool needs .deps, but its result does not depend on their versions.
.venv/ft/.atari .venv/ft-pgo/.atari: .venv/%/.atari: \
    tools/ale_wheel.py .venv/%/.python | .venv/%/.deps
	@$(PYTHON) tools/ale_wheel.py .venv/$*/bin/python
	@touch $@

.venv/gil/.atari: .venv/%/.atari: .venv/%/.python | .venv/%/.deps
	$(PIP_INSTALL) --group atari
	@touch $@

.PHONY: clean
clean: ## Remove everything that make created here
	rm -rf .venv build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# The README's two commands are `make demo` and `make test`; each sets everything up first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := .stamps
CPP    := $(wildcard cpp/*/*.?pp)

# Two workers fill two cores: threads of BLAS beside them only wait for each other. Compiled modules
# are kept even where the environment says not to, since hundreds of tests start a process. Types are
# checked meanwhile, in the time that the workers leave; what was found is said at the end.
TESTING := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST  := $(TESTING) $(BIN)/python -m pytest --dist worksteal
# What failed is run once more by itself: browsers, signals and clusters may be late on a busy machine.
AGAIN   := --last-failed --last-failed-no-failures none

.PHONY: demo studio test test-all bench docs lint coverage engines clean

demo: $(STAMP)/install
	@$(BIN)/credo demo -o build/demo

# The page of `credo studio`, from web/ by npm (about 20 s); everything else works without it.
# `npm install`, not `npm ci`, which fails where a registry lacks the binaries of other platforms.
studio:
	@command -v npm >/dev/null || { echo "The studio's page is built by npm; install Node.js 20 or newer."; exit 2; }
	@cd web && npm install --no-audit --no-fund --loglevel=error && npm run --silent check && npm run --silent build

test: $(STAMP)/dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@nice -n 19 $(BIN)/mypy > $(STAMP)/types 2>&1 & types=$$!; \
	$(PYTEST) -n 2 -m "not slow" tests || $(PYTEST) -m "not slow" $(AGAIN) tests; tested=$$?; \
	wait $$types; typed=$$?; cat $(STAMP)/types; exit $$((tested + typed))

# What takes longer: simulations of levels and coverage, rows held out of many real tables.
test-all: test
	@$(PYTEST) -n 2 -m slow tests || $(PYTEST) -m slow $(AGAIN) tests

lint: $(STAMP)/dev
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format . && $(BIN)/mypy && $(BIN)/lint-imports

coverage: $(STAMP)/dev
	@$(BIN)/python -m pytest -n 2 --cov --cov-report=term-missing:skip-covered tests

# `make bench` runs every area; `make bench AREA=counting` runs one.
bench: $(STAMP)/peers
	@$(BIN)/python -m benchmarks $(AREA)

docs: $(STAMP)/dev
	@$(BIN)/python docs/build.py

# One virtual environment, in layers: what a user needs, what a developer needs, the peers.
# A layer is renewed when the files it is made from change.
$(STAMP)/venv:
	@mkdir -p $(STAMP)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "scikit-build-core>=0.11" "nanobind>=3.1" "numpy>=2.0" ninja cmake
	@touch $@

$(STAMP)/install: $(STAMP)/venv pyproject.toml CMakeLists.txt $(CPP)
	@echo "Building and installing credo ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e .
	@cp $(VENV)/lib/python3*/site-packages/credo/_core.pyi src/credo/  # where type checkers look
	@touch $@

$(STAMP)/dev: $(STAMP)/install
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e ".[dev]"
	@touch $@

# Dask and Spark; without them the tests of the engines are skipped.
engines: $(STAMP)/engines

$(STAMP)/engines: $(STAMP)/dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "setuptools>=77" wheel  # PySpark comes as source
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e ".[dask,spark]"
	@touch $@

$(STAMP)/peers: $(STAMP)/dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e ".[peers]"
	@touch $@

clean:
	rm -rf $(VENV) $(STAMP) build

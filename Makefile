# `make help` lists the targets. Every target that needs the environment makes it first (make setup).
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-nightly reproduce ui lint types bench clean

PYTHON ?=
PROFILE ?=
SEMICROWD_UI_PORT ?= 5000
SEMICROWD_DOCS_PORT ?= 8000
PY := .venv/bin/python
# Without an activated environment: programs that start programs (dvc) find its commands.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Tests start many interpreters: where bytecode is not kept, each of them would compile the package anew.
test test-nightly: export PYTHONDONTWRITEBYTECODE =
test test-nightly: export OMP_NUM_THREADS = 1
# DVC asks for the user's name, which a number in a container may not have.
export LOGNAME ?= $(shell id -u)

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | awk -F '\t' '{printf "  make %-13s %s\n", $$1, $$2}'

setup:  ## make .venv with the versions of constraints.txt (a no-op when it is current)
	@PYTHON="$(PYTHON)" tools/setup.sh

demo: setup  ## a first look in two minutes: the pinwheel without and with answers, both models; see demo/
	OMP_NUM_THREADS=1 $(PY) src/train.py -m data=pinwheel model=scdc,bayes annotations=none,two_coin model.restarts=3 seed=0 \
		hydra.sweep.dir=demo hydra/launcher=joblib hydra.launcher.n_jobs=2

test: setup  ## run the tests (all but the slow ones) on two cores
	$(PY) -m pytest -q -n 2 --dist worksteal -m "not slow"

test-nightly: setup  ## fetch the real data and run what `make test` leaves out: slow tests, real data, bars of quality (an hour)
	-$(PY) -m dvc repro -q --keep-going fetch
	$(PY) -m pytest -q -n 2 --dist worksteal -rs -m "slow or needs_data"

.PHONY: test-lowest
test-lowest: setup  ## run the tests with the lowest versions that pyproject.toml allows, in .venv-lowest (slow)
	$(PY) -m pip install --quiet uv
	.venv/bin/uv venv --quiet --clear --python $(PY) .venv-lowest
	.venv/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable '.[dev]'
	OMP_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -q -n 2 --dist worksteal -m "not slow" -W default

# A stage that fails does not stop the others; the report is then written of what there is.
reproduce: setup  ## run the pipeline (dvc repro) and write reports/index.html and reports/REPORT.md (PROFILE=laptop or paper)
	@if [ -n "$(PROFILE)" ]; then ls conf/profile/$(PROFILE).yaml >/dev/null && ln -sf conf/profile/$(PROFILE).yaml params.yaml; fi
	@if [ ! -e .git ]; then $(PY) -m dvc config -q --local core.no_scm true; fi
	@echo "profile: $$(basename $$(readlink params.yaml) .yaml)"
	@$(PY) -m dvc repro --keep-going || { $(PY) src/report.py; exit 1; }
	@echo "report: reports/index.html (the same as text: reports/REPORT.md)"

.PHONY: results record verify
results: setup  ## docs/results.md, and what other pages quote of it, from recorded/
	@PYTHONPATH=src:. $(PY) tools/results_page.py

record: setup  ## keep a long sweep's numbers in recorded/ (EXPERIMENT=name ARGS="data=mnist model=bayes seed=0-2")
	@$(PY) -m reproduction.recorded record $(EXPERIMENT) $(ARGS)

verify: setup  ## run one recorded run of each paper again and compare (ARGS=pinwheel_two_coin)
	@$(PY) -m reproduction.recorded verify $(ARGS)

ui: setup  ## open the tracking UI on this machine (SEMICROWD_UI_PORT=5000)
	@$(PY) -m reproduction ui --port $(SEMICROWD_UI_PORT)

lint: setup  ## ruff
	$(PY) -m ruff check

types: setup  ## mypy
	$(PY) -m mypy

.PHONY: wheel
wheel: setup  ## build the wheel, and fit with it in an empty environment without extras
	@tools/check_wheel.sh

.PHONY: docs tutorial
docs: setup  ## make the documentation's site, site/index.html; a broken link fails (SERVE=1: on this machine, made again at every change)
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs $(if $(SERVE),serve --dev-addr 127.0.0.1:$(SEMICROWD_DOCS_PORT),build --quiet)

tutorial: setup  ## run every command of the tutorial, as it is printed, in a folder of its own: a minute
	OMP_NUM_THREADS=1 $(PY) -m pytest -q tests/docs/test_tutorial.py

.PHONY: size
size:  ## lines of src and tests and words of the documentation, by folder
	@python3 tools/size.py

bench: setup  ## measure speed, some ten minutes; one subject: python benchmarks/run.py NAME (--help)
	@$(PY) benchmarks/run.py

clean:  ## delete the environment and the caches of tools; data, results and the tracking store stay
	rm -rf .venv .venv-lowest .venv.lock .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

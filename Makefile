# Two commands: `make crawl` and `make test`. Each makes what it needs in .venv; nothing else is touched.
#
#   make crawl                                    the demo: a small site on this machine, crawled in rounds
#   make crawl SEEDS=seeds/mine.txt CONTACT=…     real sites; CONTACT is a URL or mail address they see
#   make test                                     format, lint, types, tests
#   make soak, make bench                         long fault tests; figures, as ratios within one run

VENV := .venv
BIN := $(VENV)/bin
# The first Python that is new enough; `make PYTHON=/path/to/python …` names another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# The other files there are parts of these.
BENCHMARKS := $(wildcard $(addprefix benchmarks/,cores.py changes.py frontier.py crawl.py policies.py))

.PHONY: crawl demo seeds test lint soak bench format clean

crawl: $(if $(SEEDS),seeds,demo)

demo: $(VENV)/.for-crawl
	@$(BIN)/python -m incrawl.demo

seeds: $(VENV)/.for-crawl
	@$(BIN)/scrapy crawl incremental -a seeds="$(SEEDS)" $(if $(CONTACT),-s INCRAWL_CONTACT="$(CONTACT)")

test: lint
	$(BIN)/pytest -m "not soak" --numprocesses 2 --dist loadfile --no-loadscope-reorder

lint: $(VENV)/.for-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

soak: $(VENV)/.for-test
	$(BIN)/pytest -m soak -s

bench: $(VENV)/.for-test
	@for file in $(BENCHMARKS); do echo; echo "== $$file"; $(BIN)/python $$file || exit 1; done

format: $(VENV)/.for-test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	@test ! -d .demo || $(BIN)/scrapy server stop -s INCRAWL_STATE_DIR=.demo -s REDIS_URL= > /dev/null
	rm -rf $(VENV) .demo build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@test -n "$(PYTHON)" || { \
	  echo "incrawl needs Python 3.11 or newer: install it, or say make PYTHON=/path/to/python."; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module: install it (on Debian and Ubuntu: apt install python3-venv)."; exit 2; }
	@echo "Making $(VENV) with $(PYTHON) …"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.for-crawl: setup.py | $(BIN)/python
	@echo "Installing incrawl and what it needs into $(VENV) …"
	@$(PIP) -e .
	@touch $@

$(VENV)/.for-test: setup.py pyproject.toml | $(BIN)/python
	@echo "Installing incrawl and what its tests need into $(VENV) …"
	@$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.for-crawl

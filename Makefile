# Targets explain themselves: the text behind ## is what `make` lists.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
AUDIT := $(VENV)/audit.json
OTHERS := .venv-integrations
PEERS := .venv-peers
CASES ?= many

.DEFAULT_GOAL := help
.PHONY: help demo test databases integrations hostile dist docs pages docs-serve notebooks lint audit format bench bench-check \
	bench-spark bench-growth accuracy clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "suffice needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

demo: $(READY) ## set up, learn the handwritten digits, show what was learned and how well it does
	$(BIN)/suffice demo

test: $(READY) ## set up, run the tests (about ten minutes)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m 'not server and not pages and not integrations'

databases: $(READY) ## Spark, and SQL on PostgreSQL, MariaDB and Spark (about five minutes)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m server tests

$(OTHERS)/.ready: pyproject.toml constraints-integrations.txt
	$(PYTHON) -m venv $(OTHERS)
	$(OTHERS)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints-integrations.txt --editable '.[integrations]'
	@touch $@

integrations: $(OTHERS)/.ready ## mlflow, skops, shap, eli5 and yellowbrick, in their own environment (about two minutes)
	$(OTHERS)/bin/python -m pytest tests/test_integrations.py

hostile: $(READY) ## damaged files, kills, fuzzed tables, with counts (about 15 minutes; with CASES=all, two hours)
	$(BIN)/python -m pytest tests/hostile --hostile $(CASES) --numprocesses auto --dist worksteal

dist: $(READY) ## build wheel and sdist, install each in a clean environment, run the README's commands there
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python tests/installed_commands.py dist

docs: $(READY) ## build the documentation in site/ (half a minute); a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean

pages: $(READY) ## every page of the documentation in a browser: accessibility, width, requests (about three minutes)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m pages tests

docs-serve: $(READY) ## show the documentation at localhost:8000, and again when a page changes
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

notebooks: $(READY) ## make the notebooks of docs/notebooks from the pages, and run them (about a minute)
	$(BIN)/python website/notebooks.py docs/notebooks

lint: $(READY) ## ruff, mypy (strict), bandit, and the layers of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive src

audit: $(READY) ## look for known vulnerabilities of the pinned packages, if the network allows
	@rm -f $(AUDIT)
	@$(BIN)/pip-audit --no-deps --disable-pip --requirement constraints.txt --timeout 15 --progress-spinner off \
		--format json --output $(AUDIT) || test ! -s $(AUDIT) || { cat $(AUDIT); exit 1; }
	@test -s $(AUDIT) || echo '{"dependencies": []}' > $(AUDIT)
	@$(BIN)/python -c 'import json, sys; all_ = json.load(open(sys.argv[1]))["dependencies"]; \
		found = [each for each in all_ if "skip_reason" not in each]; print(f"{len(found)} packages audited" \
		if found else "not audited: the database of vulnerabilities cannot be reached, or knows none of the packages")' $(AUDIT)

format: $(READY) ## let ruff lay out the code and mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# river, mixed-naive-bayes, wnb and pyAgrum; pomegranate is measured if you install it: its torch brings 3 GB
$(PEERS)/.ready: pyproject.toml constraints-peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints-peers.txt --editable '.[plots,spark]' river mixed-naive-bayes wnb pyagrum
	@touch $@

bench: $(PEERS)/.ready ## speed and memory beside other libraries, written to docs/benchmarks (with QUICK=1, two minutes)
	$(PEERS)/bin/python benchmarks/run.py $(if $(QUICK),--quick)

bench-check: $(PEERS)/.ready ## say which ratios of a quick run fell by a third since the stored baseline
	$(PEERS)/bin/python benchmarks/run.py --quick --check

bench-spark: $(PEERS)/.ready ## Spark with two workers, beside MLlib (about ten minutes)
	$(PEERS)/bin/python benchmarks/run.py --only spark $(if $(QUICK),--quick)

bench-growth: $(PEERS)/.ready ## time and memory by rows, columns, classes, levels and words (about ten minutes)
	$(PEERS)/bin/python benchmarks/growth.py

accuracy: $(READY) ## accuracy and log-loss on real tables beside scikit-learn, and the speed of exports
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/structures.py
	$(BIN)/python benchmarks/pool.py time
	$(BIN)/python benchmarks/texts.py
	$(BIN)/python benchmarks/logistic.py
	$(BIN)/python benchmarks/selection.py
	$(BIN)/python benchmarks/verdicts.py 50
	$(BIN)/python benchmarks/exports.py
	$(BIN)/python benchmarks/exports_onnx.py
	$(BIN)/python benchmarks/digits.py

clean: ## remove the environment and all caches
	rm -rf $(VENV) $(OTHERS) $(PEERS) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build site
	find . -name __pycache__ -prune -exec rm -rf {} +

# Every command of the project. Each one brings its own set-up up to date first;
# what is up to date costs a few file hashes (scripts/bootstrap.py).
PYTHON ?= python3
PY := .venv/bin/python
NODE := $(PY) -m scripts.node
PYTEST_WORKERS ?= 2
CHECK_JOBS ?= 2

# Compiled modules are kept, whatever the caller's environment says: collecting tests takes half the time then, and every
# process of ours a second less.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help setup run advisories test test-python test-frontend test-live check check-types check-python check-layers \
	check-frontend check-generated check-migrations generate format lock prove bench screenshots

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

setup: ## .venv, frontend/node_modules and the built UI
	@$(PYTHON) -m scripts.bootstrap --dev

run: ## start the playground and print its link (HOST, PORT, REDIS_URL, DATABASE_URL)
	@$(PYTHON) -m scripts.bootstrap
	@exec $(PY) manage.py playground

test: test-frontend test-python ## every test: Vitest, then pytest with the browser tests

test-frontend: setup
	$(NODE) npm --prefix frontend run test

test-python: setup
	@$(PY) -m scripts.chromium --install
	@$(PY) -m scripts.debian --install
	$(PY) -m pytest -n $(PYTEST_WORKERS) --dist loadgroup

test-live: setup ## the scenarios of tests/live at the real API server that TEST_KUBECONFIG names (docs/live-clusters.md)
	@test -n "$$TEST_KUBECONFIG" || { echo "TEST_KUBECONFIG names no kubeconfig; its user has to be the cluster's administrator"; exit 2; }
	@$(PY) -m scripts.debian --install
	$(PY) -m pytest -k real tests/live

# Two at a time, what takes longest first: each of them keeps one processor busy. Make 3.81, as macOS has it, mixes their lines.
check: setup ## everything that needs no test run
	@$(MAKE) --no-print-directory --keep-going --jobs=$(CHECK_JOBS) $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) \
		check-types check-frontend check-generated check-python check-layers check-migrations

check-types: setup
	$(PY) -m mypy framework schedweb tests scripts manage.py

check-python: setup
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

check-layers: setup
	.venv/bin/lint-imports

check-frontend: setup
	$(NODE) npm --prefix frontend run format:check
	$(NODE) npm --prefix frontend run lint
	$(NODE) npm --prefix frontend run typecheck
	$(NODE) npm --prefix frontend run size

check-generated: setup
	$(PY) -m scripts.generated --check
	$(PY) -m scripts.catalogs --check

check-migrations: setup
	$(PY) manage.py makemigrations --check --dry-run

generate: setup ## write what comes from the code: the OpenAPI file, its types, the catalogs of texts
	$(PY) -m scripts.generated --write
	$(PY) -m scripts.catalogs --write

format: setup ## ruff format and the fixes ruff is sure of; Prettier in frontend
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	$(NODE) npm --prefix frontend run format

lock: setup ## resolve pyproject.toml into the hashed locks
	$(PY) -m scripts.lock

advisories: setup ## the locks held against known advisories, where their lists can be reached
	$(PY) -m scripts.advisories

prove: setup ## every fix proposed for 300 random clusters, tried on forks of the running product
	$(PY) -m scripts.prove_fixes

bench: setup ## pods per second through the framework, all workloads as Markdown (docs/benchmarks.md)
	$(PY) -m framework bench --markdown --growth

screenshots: setup ## docs/screenshots, taken from the running product
	$(PY) -m scripts.screenshots

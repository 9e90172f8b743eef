# Every command of the project. `make help` lists them.
PORT   ?= 8000
DATA   ?= var
TORCH  ?= cpu
COURSE ?= .
PY     := .venv/bin/python
# Folders whose few fast tests are not worth what importing the rest takes.
NOT_FAST := browser faults graders/tracer graders/exercises

export TORCH

.DEFAULT_GOAL := help
.PHONY: help serve worker migrate preview check test test-fast test-nightly test-lti gpu-acceptance test-kubernetes lint bench assets assets-check environment environment-dev environment-fleet lock clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

serve: environment ## open the course: website and one grader (PORT=8000 DATA=var COURSE=. TORCH=cpu|cuda)
	@UNWIND_PORT="$(PORT)" UNWIND_DATA="$(DATA)" UNWIND_COURSE="$(COURSE)" exec $(PY) -m app serve

worker: environment ## start one more grader on this machine, for the same DATA
	@UNWIND_DATA="$(DATA)" UNWIND_COURSE="$(COURSE)" exec $(PY) -m graders worker --queue cpu

migrate: environment ## bring the database in DATA up to date
	@UNWIND_DATA="$(DATA)" $(PY) -m app migrate

preview: environment ## serve, and reload chapters when they change
	@UNWIND_PORT="$(PORT)" UNWIND_DATA="$(DATA)" UNWIND_COURSE="$(COURSE)" UNWIND_PREVIEW=1 exec $(PY) -m app serve

check: environment ## check the course in the real box: structure, cells, claims, exercises (COURSE=. ARGS=--update)
	@$(PY) -m app check "$(COURSE)" $(ARGS)

test: environment-dev lint ## run everything CI runs
	$(PY) -m app check
	# Two workers, because the tests mostly wait for browsers and boxes; files with slow tests come first. Failed tests
	# run once more, alone, because a busy machine can fail them; the first failure stays in the log.
	$(PY) -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder $(ARGS) || $(PY) -m pytest -q --last-failed --last-failed-no-failures none $(ARGS)

test-fast: environment-dev ## run the tests that need no torch, box, browser or website, and a few that open one
	$(PY) -m pytest -q -n 2 --dist loadfile $(addprefix --ignore=tests/,$(NOT_FAST)) -m "not torch and not box and not browser and not slow and not site and not postgresql and not nightly" $(ARGS)

test-nightly: environment-dev ## run what takes long: a stranger in a fresh clone, every width, theme and chapter, known answers judged 20 times, the box without each layer (root), other Pythons, Debian 13 (root; ARGS=-k NAME)
	$(PY) -m pytest -q -m nightly $(ARGS)
	@[ -n "$(ARGS)" ] || tools/test_pythons
	@[ -n "$(ARGS)" ] || tools/test_debian13

test-lti: environment-dev ## run the way through a learning platform against Open edX's own code, in an environment of its own
	@[ -x .venv-lti/bin/python ] || { python3 -m venv .venv-lti && .venv-lti/bin/pip install -q --require-hashes -r requirements-lti.txt; }
	$(PY) -m pytest -q -m nightly -k open_edx tests/app/web/lti $(ARGS)

gpu-acceptance: environment ## try on a machine with a card what no other test can, and print the table for docs/operating.md (TORCH=cuda; without a card: status 2)
	$(PY) tools/gpu_acceptance.py

test-kubernetes: environment-dev ## check docs/kubernetes against the schemas of Kubernetes, in an environment of its own
	@[ -x .venv-kubernetes/bin/kubernetes-validate ] || { python3 -m venv .venv-kubernetes && .venv-kubernetes/bin/pip install -q --require-hashes -r requirements-kubernetes.txt; }
	$(PY) -m pytest -q -m "nightly or not nightly" tests/test_kubernetes.py $(ARGS)

lint: environment-dev ## run ruff, mypy and the import rules
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-cache

bench: environment-dev ## measure, and print the ratios of bench/
	@for file in bench/*.py; do echo "== $$file"; $(PY) $$file || exit 1; done

assets: ## rebuild static/dist (needs Node 18+)
	cd static && npm ci --no-audit --no-fund && node build.mjs dist

assets-check: ## rebuild into an empty folder and compare it with static/dist
	@tools/check_assets

environment: ## make .venv: torch first, then the locked dependencies
	@tools/make_environment requirements.lock

environment-fleet: ## make .venv with PostgreSQL's driver too
	@tools/make_environment requirements-fleet.lock

environment-dev: ## make .venv with the test dependencies too
	@tools/make_environment requirements-dev.lock

lock: environment-dev ## resolve the dependencies again
	.venv/bin/uv pip compile -q --universal --generate-hashes --no-header pyproject.toml tools/torch-needs.in -o requirements.lock
	.venv/bin/uv pip compile -q --universal --generate-hashes --no-header --extra fleet pyproject.toml tools/torch-needs.in -o requirements-fleet.lock
	.venv/bin/uv pip compile -q --universal --generate-hashes --no-header --extra dev pyproject.toml tools/torch-needs.in -o requirements-dev.lock
	echo "lti-consumer-xblock<12 cryptography setuptools" | tr " " "\n" | .venv/bin/uv pip compile -q --generate-hashes --no-header - -o requirements-lti.txt
	echo "kubernetes-validate>=1.37,<2" | .venv/bin/uv pip compile -q --generate-hashes --no-header - -o requirements-kubernetes.txt

clean: ## remove the environment and caches, but never DATA
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

# What can be done here. The work itself is in tools/ and threebrokers/.
PYTHON ?= python3
RUN := .venv/bin/python -m

help:  ## list this
	@awk -F ':.*## ' '/^[a-z]+:.*##/ { printf "make %-8s %s\n", $$1, $$2 }' Makefile

lab: runtime  ## set everything up, start three brokers, open JupyterLab (LAB=02 PORT=8890 BROWSER=none)
	@.venv/bin/threebrokers lab $(LAB)

test: authors  ## set everything up and run all tests that need no Docker
	@$(RUN) tools.test

bench: runtime  ## measure the brokers on this machine: start, failover, memory
	@$(RUN) tools.bench

repeat: authors  ## run a solution many times and count what came true (LAB=04 N=20)
	@$(RUN) tools.repeat $(LAB) --times $(or $(N),20)

down:  ## stop the brokers; their data stays
	@[ ! -x .venv/bin/threebrokers ] || .venv/bin/threebrokers down

clean:  ## stop the brokers and delete all that was set up; work/ and your progress stay
	@[ ! -x .venv/bin/python ] || $(RUN) tools.clean
	@rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache

build: authors  ## build labs/ and solutions/ from lessons/
	@$(RUN) tools.build

run: authors  ## run the solutions whose sources changed, and keep their outputs
	@$(RUN) tools.run

topics: authors  ## build docs/topics.md and list what no lab meets yet
	@$(RUN) tools.topics

lint: authors  ## check style and types
	@$(RUN) ruff check
	@$(RUN) ruff format --check
	@$(RUN) mypy

lock: authors  ## resolve Kafka's and Spark's jars anew (versions: tools/lock.py)
	@$(RUN) tools.lock

runtime authors:
	@command -v $(PYTHON) >/dev/null || { echo "✗ $(PYTHON) was not found: install Python 3.11 or newer, then run make again."; exit 1; }
	@$(PYTHON) -m tools.setup $@

.PHONY: help lab test bench repeat down clean build run topics lint lock runtime authors

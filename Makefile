# SPDX-License-Identifier: Apache-2.0
# The entry for people: each target is one command elsewhere, which also works alone.
.DEFAULT_GOAL := help

help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

build: ## build the probe and the command line
	./chokepoint build

demo: ## the whole way on this machine, on shipped captures or PCAP="file..."
	./demo start $(PCAP)

demo-stop: ## end what make demo started
	./demo stop

test: ## run all tests of all components; closes with their counts
	./chokepoint packages test
	.ci/test

chaos: ## kill and freeze every process of the pipeline, again and again; SEED=N KILLS=N AWAY=SECONDS without ClickHouse
	./chokepoint packages test
	mvn -B -q -pl integration-tests -am verify -Dtest=none -Dsurefire.failIfNoSpecifiedTests=false -Dit.test=ChaosIT \
		-Dchokepoint.chaos.seed=$(or $(SEED),$(shell date +%s)) -Dchokepoint.chaos.kills=$(or $(KILLS),25) \
		-Dchokepoint.chaos.away=$(or $(AWAY),60)

lint: ## check form and forbidden words; changes nothing
	./chokepoint packages test
	.ci/lint

fmt: ## bring Java and C into the house's form
	./chokepoint packages test
	mvn -B -q spotless:apply
	! command -v clang-format >/dev/null || git ls-files '*.c' '*.h' | xargs clang-format -i

bench: ## print the figures of docs/benchmarks.md
	bench/run

dataset: ## run the cases of the testbed into build/dataset (as root, half an hour; resumes)
	testbed/dataset

proof: ## run them with other seeds into build/proof, for evaluate to measure on; SEED_OFFSET=N for yet others
	testbed/dataset --seed-offset $(or $(SEED_OFFSET),7000) --out build/proof

paths: ## run cases that are captured at four taps into build/paths, for evaluate (as root, ten minutes; resumes)
	testbed/dataset --edge-taps --out build/paths

evaluate: ## measure the verdicts against the truth, of proof if it was made, and write their pages
	./chokepoint packages evaluate
	evaluation/evaluate
	test ! -d build/paths || evaluation/evaluate-paths
	test ! -d build/dataset || evaluation/groups --page docs/groups.md

mutate: ## plant bugs in the analysis and count those its tests see; CLASSES="io.chokepoint.analysis.verdict.*" for some
	nice -n 10 mvn -B -P mutation -pl flink-jobs/analysis-core -am test $(if $(CLASSES),-DtargetClasses='$(CLASSES)')

.PHONY: help build demo demo-stop test chaos lint fmt bench dataset proof paths evaluate mutate

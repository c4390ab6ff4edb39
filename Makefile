# The entrance to nfvbed. Every target calls a script of setup/ or a verb of the command line.
# `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.SUFFIXES:
MAKEFLAGS += --no-print-directory

PYTHON := .venv/bin/python
NFVBED := .venv/bin/nfvbed
CHECKS := lint contract
TIERS := unit golden image functional browser
VARIANTS := $(sort $(basename $(notdir $(wildcard deploy/variants/*.yml))))
# The VNF existing runs already: it is neither onboarded nor packaged.
VNFS := $(filter-out existing,$(sort $(notdir $(patsubst %/vnf.yml,%,$(wildcard vnfd/*/vnf.yml)))))
SUITES := $(sort $(basename $(notdir $(wildcard vsperf-conf/experiments/*.yml vsperf-conf/experiments/seeds/*.yml))))
SEEDS := $(sort $(basename $(notdir $(wildcard vsperf-conf/experiments/seeds/*.yml))))
# An experiment's quick form, of minutes on two cores: `make run-seed-kisti-vswitch QUICK=1`.
QUICK ?=

BENCHMARKS := generator overhead switching-overhead gateway search verdicts store

RUNS := $(addprefix run-,$(SUITES))
DEPLOYS := $(addprefix deploy-,$(VARIANTS))
ONBOARDS := $(addprefix onboard-,$(VNFS))
PACKAGES := $(addprefix package-,$(VNFS))
SCALES := scale-1 scale-2
TRACES := $(addprefix trace-,$(VARIANTS))
TESTS := $(addprefix test-,$(CHECKS) $(filter-out browser,$(TIERS)))

# Where: `make deploy-ovs-dpdk SITE=devcloud`; a name in deploy/sites, without it the lab.
SITE ?=
AT := $(if $(SITE),--site $(SITE))
# Sites whose machines are a box on this machine.
BOXES := $(basename $(notdir $(shell grep -l '^machines: box' deploy/sites/*.yml)))
# Sites of several machines; an inventory of one's own for one: `make deploy-ovs-dpdk SITE=rack INVENTORY=FILE`.
RACKS := $(basename $(notdir $(shell grep -l '^kind: kolla' deploy/sites/*.yml)))
INVENTORY ?=
# A rack's name, in place of typing it: `make destroy SITE=rack YES=rack`.
YES ?=
# What a recommendation is for: `make recommend NEED=latency`.
NEED ?= throughput
# What a site's targets need beside the build: a cloud on this machine is unpacked, its guests boot an image.
FOR_SITE := $(if $(filter devcloud devcloud-sol devcloud-pair,$(SITE)),devcloud-packages images)$(if $(filter $(RACKS),$(SITE)),kolla-ansible)$(if $(filter $(BOXES),$(SITE)), kolla-box)

# Targets share the machine's cores and hugepages: never two at once, also with -j.
.NOTPARALLEL:

# A line "target: ... ## text" is listed; for $(RUNS) and the like there is one line for each, NAME filled in.
.PHONY: help
help: ## list the targets
	@printf 'make TARGET, as root on Debian 13 or 12:\n\n'
	@sed -nE 's/^([a-z$$][^:]*):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r target text; do \
	    case $$target in \
	        *RUNS*) targets='$(RUNS)' ;; \
	        *DEPLOYS*) targets='$(DEPLOYS)' ;; \
	        *ONBOARDS*) targets='$(ONBOARDS)' ;; \
	        *PACKAGES*) targets='$(PACKAGES)' ;; \
	        *SCALES*) targets='$(SCALES)' ;; \
	        *TRACES*) targets='$(TRACES)' ;; \
	        *TESTS*) targets='$(TESTS)' ;; \
	        *) targets=$$target ;; \
	    esac; \
	    for name in $$targets; do \
	        if [ "$$targets" = "$$target" ]; then of=$$text; else of=$${text/NAME/$${name#*-}}; fi; \
	        printf '  %-24s %s\n' "$$name" "$$of"; \
	    done; \
	done

# For a target that there is not. Those of many names are in variables, the others are the lines that help lists.
.DEFAULT:
	@setup/target '$(subst ','\'',$@)' $(RUNS) $(DEPLOYS) $(ONBOARDS) $(PACKAGES) $(SCALES) $(TRACES) $(TESTS) \
	    $$(sed -nE 's/^([a-z][^:$$]*):.*## .*/\1/p' $(MAKEFILE_LIST))

# --- set-up -----------------------------------------------------------------------------------------------------

.PHONY: setup
setup: ## install packages, unpack Open vSwitch, make .venv; idempotent
	@setup/setup

.PHONY: setup-test
setup-test:
	@setup/setup test
	@setup/postgresql
	@setup/openssh

.PHONY: build
build: setup ## build the native programs
	@setup/native

.PHONY: images
images: setup ## build the image of the VNF vloop from Debian packages; cached
	@setup/images

.PHONY: image-vepc
image-vepc: setup ## build the image of the VNF vepc from Debian packages, nextepc among them; cached
	@setup/images vepc

.PHONY: node
node: build ## unpack the kernel of the guest compute node; cached
	@setup/node

.PHONY: requirements
requirements: ## pin the Python packages: pyproject.toml -> requirements.txt, requirements-test.txt
	@setup/requirements

.PHONY: reference
reference: setup ## write what is generated from the code: the reference, the manual page, what shells complete
	@$(PYTHON) docs/generate.py

.PHONY: releases
releases: setup ## unpack Open vSwitch 2.15, 3.1, 3.5 and 4.0, each with all of its suite (560 MB); cached
	@setup/releases

.PHONY: wheel
wheel: setup reference ## make the wheel, dist/nfvbed-VERSION-py3-none-any.whl: a viewer of stores for other machines
	@rm -rf dist
	@$(PYTHON) -m hatchling build --target wheel --directory dist
	@ls dist/*.whl

# --- measure ----------------------------------------------------------------------------------------------------

.PHONY: demo
demo: build ## deploy two data planes, measure and compare them, write a page
	@# The comparison comes last: its screen is the answer, and names the page.
	@$(NFVBED) run demo
	@$(NFVBED) report --quiet
	@$(NFVBED) compare

.PHONY: demo-openstack
demo-openstack: build devcloud-packages images ## an OpenStack on this machine: VNFs through Tacker on two data planes
	@$(PYTHON) demo/openstack.py

# Second data plane of the demonstration: `make demo-kolla SECOND=ovs-kernel`.
SECOND ?= ovs-afxdp

.PHONY: demo-kolla
demo-kolla: kolla-box ## a rack in a box: kolla-ansible deploys it, a VNF through its Tacker on two data planes (SECOND=NAME)
	@$(PYTHON) demo/kolla.py $(SECOND)

.PHONY: demo-all
demo-all: build ## measure every data plane that this host can run, within 30 minutes, write a page
	@# A variant that failed does not take the page of the others away; the run's exit status is reported all the same.
	@$(NFVBED) run demo-all; status=$$?; \
	case $$status in 10|12|13|30|130) exit $$status ;; esac; \
	$(NFVBED) report --quiet && $(NFVBED) compare; shown=$$?; \
	test $$status -eq 0 && exit $$shown || exit $$status

.PHONY: hardware
hardware: build ## measure on this host's cabled NICs, write a redacted bundle, print its rows of docs/evidence/hardware.md
	@$(PYTHON) demo/hardware.py $(if $(SITE),--site $(SITE))

.PHONY: switch-all
switch-all: build ## switch through all data planes twice: frames through each, nothing left, and how long it takes
	@$(PYTHON) bench/switching.py

.PHONY: doctor
doctor: build ## what this host has (SITE=NAME: that site), and which variants it can run
	@$(NFVBED) doctor $(AT)

.PHONY: $(RUNS)
$(RUNS): run-%: build $(FOR_SITE) ## measure the experiment NAME (QUICK=1: its quick form)
	@$(NFVBED) run $* $(AT) $(if $(QUICK),--quick)

.PHONY: run-seeds
run-seeds: build images image-vepc ## measure every published experiment, and write docs/evidence/papers.md (QUICK=1: 75 to 90 minutes)
	@# One that is blocked, or lacks something here, does not take the others away.
	@for seed in $(SEEDS); do \
	    $(NFVBED) run $$seed $(AT) $(if $(QUICK),--quick); status=$$?; \
	    case $$status in 10|12|13|130) exit $$status ;; esac; \
	done
	@$(MAKE) papers

.PHONY: compare
compare: setup ## compare the variants of the newest run
	@$(NFVBED) compare

.PHONY: papers
papers: setup ## write docs/evidence/papers.md: what others published beside what has run here, and verdicts on its claims
	@$(NFVBED) compare --published > docs/evidence/papers.md.new
	@mv docs/evidence/papers.md.new docs/evidence/papers.md

.PHONY: recommend
recommend: setup ## which data plane the stored results of this host speak for (NEED=latency, jitter, cpu, raw-ethernet)
	@$(NFVBED) recommend --need $(NEED)

.PHONY: report
report: setup ## write the page, CSV and JSON of the newest run
	@$(NFVBED) report

.PHONY: dashboard
dashboard: build ## results and jobs in a browser, on this machine alone
	@$(NFVBED) dashboard --operate

.PHONY: $(DEPLOYS)
$(DEPLOYS): deploy-%: build $(FOR_SITE) ## set up NAME and leave it deployed (SITE=devcloud: in an OpenStack; a rack: INVENTORY=FILE)
	@$(NFVBED) deploy $* $(AT) $(if $(INVENTORY),--inventory $(INVENTORY))

# Variants that have no path without a guest: their targets need its image.
OF_GUESTS := $(shell grep -lE '^native_vnf:.*kind: vm' deploy/variants/*.yml | xargs -r grep -LE '^topologies:.*[[ ]p2p[], ]')
GUESTS := $(basename $(notdir $(OF_GUESTS)))
$(addprefix deploy-,$(GUESTS)) $(addprefix trace-,$(GUESTS)): images

.PHONY: $(ONBOARDS)
$(ONBOARDS): onboard-%: build $(FOR_SITE) ## start the VNF NAME on the deployed data plane (pvp)
	@$(NFVBED) onboard $* $(AT)

ifneq ($(filter-out lab,$(SITE)),)
onboard-vepc: image-vepc
endif

run-releases: releases

# Revisions of which only the mode matters: generic from the third on.
KNOWN_STEP := --revision own --revision mode=native --revision mode=generic --revision mode=generic,core_use=threaded-napi
.PHONY: bisect-known
bisect-known: build ## a bisection whose answer is known: from which revision on xdp is generic (BUDGET=15m)
	@$(NFVBED) bisect xdp $(KNOWN_STEP) --budget $(or $(BUDGET),15m)

run-openstack-vepc: devcloud-packages image-vepc

run-openstack run-openstack-sockets run-openstack-sockets-apart: devcloud-packages images

# Published experiments with guests boot an image, and sockets in guests one whose agent starts their tools.
SEEDS_OF_GUESTS := $(shell grep -lE 'kind: vm|emulated-nic' vsperf-conf/experiments/seeds/*.yml)
$(addprefix run-,$(basename $(notdir $(SEEDS_OF_GUESTS)))) run-v2v-sockets: images

.PHONY: $(PACKAGES)
$(PACKAGES): package-%: images ## write the package of the VNF NAME for Tacker, NAME.csar
	@$(NFVBED) package $*

.PHONY: heal
heal: build ## start VNFs again that died
	@$(NFVBED) heal $(AT)

.PHONY: $(SCALES)
$(SCALES): scale-%: build ## have NAME of the onboarded VNF side by side
	@$(NFVBED) scale $* $(AT)

.PHONY: offboard
offboard: build ## take the VNFs away, leave their data plane
	@$(NFVBED) offboard $(AT)

.PHONY: $(TRACES)
$(TRACES): trace-%: build $(FOR_SITE) ## send 1,000 frames through NAME, hop by hop
	@$(NFVBED) trace $* $(AT)

.PHONY: destroy
destroy: ## remove whatever nfvbed has deployed on this machine (SITE=RACK: on that rack, after its name was typed)
	@if [ -x $(NFVBED) ]; then $(NFVBED) destroy $(AT) $(if $(YES),--yes $(YES)); else echo 'destroy: nfvbed is not set up in this folder'; fi

.PHONY: devcloud-packages
devcloud-packages: setup ## install what unpacks a cloud of one's own
	@setup/packages devcloud

.PHONY: kolla-ansible
kolla-ansible: setup ## install what deploys a rack: kolla-ansible of the maintained release
	@setup/kolla

.PHONY: kolla-box
kolla-box: build kolla-ansible images ## install what makes a rack in a box; nfvbed rack start makes it
	@setup/packages kolla-box

.PHONY: devcloud
devcloud: devcloud-packages ## start a real OpenStack on this machine; nfvbed devcloud stop takes it down
	@$(NFVBED) devcloud start

# --- test -------------------------------------------------------------------------------------------------------

.PHONY: test
test: setup-test ## set everything up and run the tests: unit, golden, image, functional, browser
	@setup/native
	@# The image of vloop is built by the tests that need it first, while others run.
	@$(PYTHON) tests/tiers.py $(TIERS)

.PHONY: check
check: setup-test ## style, types, and what no tracked file may hold; two minutes
	@$(PYTHON) tests/tiers.py $(CHECKS)

.PHONY: test-paths
test-paths: setup-test ## one whole path through each room: the dashboard by mouse, a devcloud's life cycle, Kolla's files; 10 minutes
	@setup/native
	@setup/images
	@setup/packages devcloud
	@setup/kolla
	@setup/kolla-ocata
	@$(PYTHON) tests/tiers.py dashboard-path openstack-path kolla-path

.PHONY: test-hosts
test-hosts: setup ## the demo, the lab's tests and the mobile core's on the other Debian (13 on 12, 12 on 13), in a private root; 30 minutes
	@setup/packages devcloud
	@tests/other-debian

.PHONY: test-all
test-all: ## everything there is: check, test, and every room on demand; five hours
	@for target in check test test-vepc test-slow test-dashboard test-node test-kolla-all test-kolla-box-all test-openstack-all; do $(MAKE) $$target || failed=1; done; exit $${failed:-0}

.PHONY: $(TESTS)
$(TESTS): test-%: setup-test ## the tier NAME alone
	@setup/native
	$(if $(filter functional image,$*),@setup/images)
	@$(PYTHON) tests/tiers.py $*

.PHONY: test-browser
test-browser: setup-test ## the tiers browser and dashboard
	@setup/native
	@setup/images
	@$(PYTHON) tests/tiers.py browser dashboard

.PHONY: test-vepc
test-vepc: setup-test ## a mobile core's faults, gateways, sockets and kinds of tests; 5 minutes, no part of test
	@setup/native
	@setup/images
	@$(PYTHON) tests/tiers.py vepc

.PHONY: test-slow
test-slow: setup-test ## what takes long and seldom breaks: images built twice, a mobile core in two guests and in eight, old NICs, own images, tests inside guests, a kernel in a guest node, bearers on DPDK; up to 20 minutes, no part of test
	@setup/native
	@setup/images vloop vepc
	@setup/releases 4.0
	@setup/node
	@$(PYTHON) tests/tiers.py slow

.PHONY: test-dashboard
test-dashboard: setup-test ## the dashboard: pages, API, the whole job by mouse and orders of chains on this host; 7 minutes, no part of test
	@setup/native
	@setup/images
	@$(PYTHON) tests/tiers.py dashboard

.PHONY: test-node
test-node: setup-test ## all that is proven inside guest nodes; takes 20 to 60 minutes, and is no part of test
	@setup/native
	@setup/images
	@setup/node
	@$(PYTHON) tests/tiers.py node

.PHONY: test-kolla
test-kolla: setup-test ## kolla-ansible makes services' files of what nfvbed renders; up to 8 minutes, no part of test
	@setup/native
	@setup/kolla
	@setup/kolla-ocata
	@$(PYTHON) tests/tiers.py kolla

.PHONY: test-kolla-all
test-kolla-all: setup-test ## as test-kolla, with every combination, and Ansible's roles on emulated machines; 70 minutes, no part of test
	@setup/native
	@setup/kolla
	@setup/kolla-guest
	@setup/kolla-agents
	@setup/kolla-ocata
	@$(PYTHON) tests/tiers.py kolla-all

.PHONY: test-kolla-box
test-kolla-box: setup-test kolla-box ## a rack in a box: a healthy Keystone, an image that is not there, destroy; 10 minutes, 12 GiB of memory, no part of test
	@$(PYTHON) tests/tiers.py kolla-box

.PHONY: test-kolla-box-all
test-kolla-box-all: setup-test kolla-box ## as test-kolla-box, with the machines' own tests, guests on two computes, two variants through all faults; two hours, no part of test
	@$(PYTHON) tests/tiers.py kolla-box-all

.PHONY: test-openstack
test-openstack: setup-test ## a real OpenStack: start, boot, onboard, measure, kill, stop; 12 minutes when quiet, no part of test
	@setup/native
	@setup/packages devcloud
	@setup/images
	@$(PYTHON) tests/tiers.py openstack

.PHONY: test-openstack-all
test-openstack-all: setup-test ## as test-openstack, with all faults; two hours and a quarter
	@setup/native
	@setup/packages devcloud
	@setup/images vloop vepc
	@setup/kolla
	@$(PYTHON) tests/tiers.py openstack-all

# Seconds of each target.
FUZZ_S ?= 30

.PHONY: fuzz-native
fuzz-native: setup ## let libFuzzer try the native programs' parsers, each for FUZZ_S seconds (30); no part of test
	@setup/packages fuzz
	@setup/fuzz $(FUZZ_S)

.PHONY: lint
lint: test-lint ## style and types: ruff, mypy, clang-format

.PHONY: bench
bench: build ## measure nfvbed itself: all benchmarks
	@# One that misses its aim, as on a disturbed host, does not keep the others from being run; the status tells it.
	@status=0; for name in $(BENCHMARKS); do $(MAKE) bench-$$name || status=$$?; done; exit $$status

.PHONY: bench-generator
bench-generator: build ## the generator against testpmd in the same loop
	@$(PYTHON) bench/generator.py

.PHONY: bench-overhead
bench-overhead: build ## what stamps and telemetry cost: the rate with them against without
	@$(PYTHON) bench/overhead.py

.PHONY: bench-price-of-switch
bench-price-of-switch:
	@echo "bench-price-of-switch is called bench-switching-overhead now" >&2; exit 2

.PHONY: bench-switching-overhead
bench-switching-overhead: build ## Open vSwitch against testpmd io in its place
	@$(PYTHON) bench/switching_overhead.py

.PHONY: bench-gateway
bench-gateway: build ## the gateway of a mobile core's user plane against the XDP forwarder and the kernel's routing
	@$(PYTHON) bench/gateway.py

.PHONY: bench-search
bench-search: setup ## searches for a known answer, against plain binary search
	@$(PYTHON) bench/search.py

.PHONY: bench-estimands
bench-estimands: build ## how well searches of one data plane repeat: of clean trials, relative to testpmd, as delivered
	@$(PYTHON) bench/estimands.py

.PHONY: bench-verdicts
bench-verdicts: setup ## how often verdicts are right, on simulated hosts of which the truth is known
	@$(PYTHON) bench/verdicts.py

.PHONY: bench-gate
bench-gate: setup ## how often gates are wrong, made of recorded rounds
	@$(PYTHON) bench/gate_errors.py

.PHONY: bench-bisect
bench-bisect: setup ## how often bisections blame the right revision, on simulated hosts
	@$(PYTHON) bench/bisections.py

.PHONY: bench-store
bench-store: setup ## the dashboard's pages over a store of a million trials: their time, and the server's memory
	@$(PYTHON) bench/store_scale.py

# --- tidy up ----------------------------------------------------------------------------------------------------

.PHONY: clean
clean: destroy ## remove what was built and set up here, a cloud too; results stay
	@if [ -x $(NFVBED) ] && [ -d .nfvbed/devcloud ]; then $(NFVBED) devcloud stop; fi
	@setup/clean

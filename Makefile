# SPDX-License-Identifier: GPL-2.0
#
# Falcon for Linux, out of tree: what a person types.
#
# Builds the kernel modules against installed headers, hands the user-space
# parts and the tests to their own Makefiles and scripts.  Nothing is built
# outside build/.  `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := modules

top := $(CURDIR)
prefix ?= /usr/local

# --- which kernel ------------------------------------------------------------
# KVER is 6.1, 6.12, debug, or a release; KDIR a directory of headers.

ifdef KDIR
release := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
else
KVER ?= $(shell [ -e /lib/modules/$$(uname -r)/build ] && uname -r || echo 6.1)
KDIR = $(shell scripts/kernel.sh kdir $(KVER))
release = $(shell scripts/kernel.sh release $(KVER))
endif
export DEBUG_KERNEL

# Where the modules are built.
BUILD ?= $(top)/build/$(release)

# --- modules -----------------------------------------------------------------

# The configuration that a kernel tree would have.
CONFIG := CONFIG_FALCON=m CONFIG_E2100SIM=m CONFIG_INFINIBAND_FALCON=m
CONFIG += CONFIG_SAMPLE_FALCON_ECHO=m CONFIG_SAMPLE_FALCON_NIC=m
CONFIG += CONFIG_SAMPLE_FALCON_FAE_ECN=m
CONFIG += CONFIG_FALCON_PSP_TEST=m
kbuild = $(MAKE) -C $(KDIR) M=$(BUILD) $(CONFIG)

.PHONY: modules
modules:
	scripts/mirror.sh $(BUILD)
	+flock $(BUILD)/.lock $(kbuild) modules

# --- user space --------------------------------------------------------------

tools_make = $(MAKE) -C tools/net/falcon O=$(top)/build/tools prefix=$(prefix)
provider_make = $(MAKE) -s -C tools/rdma/libfalcon O=$(top)/build/tools prefix=$(prefix)

.PHONY: tools
tools:
	+$(tools_make)
	+$(provider_make)

# --- install -----------------------------------------------------------------

.PHONY: install modules_install tools_install
install: modules_install tools_install

modules_install: modules
	+$(kbuild) INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates \
		CONFIG_MODULE_SIG_ALL= modules_install
	[ -n '$(DESTDIR)' ] || depmod $(release)

tools_install: tools
	install -D -m 644 -t $(DESTDIR)$(prefix)/include/linux include/uapi/linux/falcon*.h
	+$(tools_make) install DESTDIR=$(DESTDIR)
	+$(provider_make) install DESTDIR=$(DESTDIR)

# What a guest needs of this tree: modules, tools as installed (build/guest),
# the selftests' programs (build/selftests).
.PHONY: guest
guest: modules
	+$(MAKE) --no-print-directory tools_install DESTDIR=$(top)/build/guest
	+$(MAKE) --no-print-directory -C tools/testing/selftests all

# --- tests -------------------------------------------------------------------
# VM_KERNELS: what check and check-vm boot, one after the other.

VM_KERNELS ?= 6.1
TESTS ?=

.PHONY: check check-unit check-vm check-hosts check-debug lint conformance coverage property fuzz bench bench-verbs demo model
check:
	TESTS='$(TESTS)' scripts/check.sh unit $(VM_KERNELS:%=vm:%) \
		$(if $(TESTS),,$(VM_KERNELS:%=hosts:%))

check-unit:
	scripts/check.sh unit

check-vm:
	TESTS='$(TESTS)' scripts/check.sh $(VM_KERNELS:%=vm:%)

check-hosts:
	TESTS='$(TESTS)' scripts/check.sh $(VM_KERNELS:%=hosts:%)

check-debug:
	TESTS='$(TESTS)' scripts/check.sh vm:debug

lint:
	scripts/lint.sh

conformance:
	@scripts/conformance.py --check

coverage:
	scripts/deps.sh unit
	$(MAKE) --no-print-directory -C tools/testing/falcon/unit coverage

property:
	scripts/deps.sh unit
	$(MAKE) -C tools/testing/falcon/unit property

.PHONY: sim sim-check
sim:
	scripts/deps.sh sim
	$(MAKE) --no-print-directory -C tools/testing/falcon/sim \
		E='$(or $(E),all)' FULL=$(FULL) FAE='$(abspath $(FAE))'

sim-check:
	scripts/deps.sh sim
	$(MAKE) --no-print-directory -C tools/testing/falcon/sim check

model:
	scripts/deps.sh unit
	$(MAKE) --no-print-directory -C tools/testing/falcon/model check

SECONDS ?= 60
fuzz:
	scripts/deps.sh fuzz
	$(MAKE) --no-print-directory -C tools/testing/falcon/fuzz check SECONDS=$(SECONDS)

bench bench-verbs demo:
	KVER='$(KVER)' scripts/$@.sh

.PHONY: bench-psp
bench-psp:
	KVER='$(KVER)' scripts/bench.sh psp

.PHONY: bench-flood
bench-flood:
	KVER='$(KVER)' scripts/bench.sh flood

# The protocol alone, in user space
.PHONY: bench-core bench-fae
bench-core:
	scripts/deps.sh unit
	$(MAKE) --no-print-directory -C tools/testing/falcon/bench B='core state'

bench-fae:
	scripts/deps.sh unit
	$(MAKE) --no-print-directory -C tools/testing/falcon/bench B=fae

# --- kernels -----------------------------------------------------------------

.PHONY: debug-kernel netdevsim in-tree
debug-kernel:
	tools/testing/vm/debug-kernel.sh build/debug-kernel

netdevsim:
	scripts/netdevsim.sh 6.12

in-tree:
	scripts/in-tree.sh '$(LINUX)'

# --- the rest ----------------------------------------------------------------

.PHONY: clean distclean help
clean:
	for dir in build/*; do \
		case $$dir in \
		build/kernels|build/linux-*|build/debug-kernel|build/apt) ;; \
		*) rm -rf $$dir ;; \
		esac; \
	done

distclean: clean
	rm -rf build

help:
	@echo 'Build:    modules (default)   falcon.ko and the other modules, in build/RELEASE'
	@echo '          tools               the falcon command and its companions'
	@echo '          install             modules, tools, man pages, headers (DESTDIR, prefix);'
	@echo '                              modules_install and tools_install are its halves'
	@echo '          guest               what a VM needs, in build/: modules, tools, selftests'
	@echo '          clean, distclean    distclean also drops fetched and built kernels'
	@echo '          in-tree LINUX=DIR   copy the sources into a kernel tree'
	@echo 'Test:     check               unit and VM tests, for each of VM_KERNELS ("6.1")'
	@echo '          check-unit          the protocol in user space'
	@echo '          check-vm            kselftests in a VM (TESTS=PATTERN, VM_KERNELS="6.1 6.12")'
	@echo '          check-hosts         those that need two machines'
	@echo '          check-debug         as check-vm, under KASAN, lockdep, kmemleak'
	@echo '          lint                warnings, sparse, checkpatch, kernel-doc, shellcheck, codespell'
	@echo '          conformance         every rule of the specification has its code and a test'
	@echo '          coverage            line coverage of the unit tests'
	@echo '          property            random tests for long (SEEDS, SCHEDULES, RUNS)'
	@echo '          model               spin looks at every run of the handshake'
	@echo '          fuzz                each fuzzer for SECONDS (60): executions and coverage'
	@echo '          sim-check           experiments at a tiny scale: they end, and repeat'
	@echo '          FULL=1, LONG=1      make some tests larger (so do CONNS and ENTRIES cache.sh,'
	@echo '                              NUMBER cm_flood.sh); VM_TIMEOUT=SECONDS of one VM;'
	@echo '                              CLOCK=icount for what is measured (pace, clock)'
	@echo 'Show:     sim                 simulate the paper (E="loss incast", FULL=1, FAE=FILE.c): build/sim'
	@echo '          demo                two hosts in a VM talk Falcon'
	@echo '          bench               Falcon beside TCP, on the same link (ROUNDS=3, MIB=32,'
	@echo '                              CLOCK=icount|host); the others take these as well'
	@echo '          bench-verbs         verbs over Falcon beside rxe and TCP, two VMs'
	@echo '          bench-psp           what encryption costs, beside kernel TLS'
	@echo '          bench-flood         set-ups under forged requests'
	@echo '          bench-core          packets a second and cycles each of the protocol alone,'
	@echo '                              and the cache lines of a connection that they use'
	@echo '          bench-fae           events a second of congestion control'
	@echo 'Kernels:  debug-kernel        build one with the checkers, in build/debug-kernel'
	@echo '          netdevsim           build the driver for 6.12, which Debian leaves out'
	@echo 'Choose:   KVER=6.1|6.12|debug|RELEASE, or KDIR=DIRECTORY of headers;'
	@echo '          DEBUG_KERNEL=DIRECTORY of a ready debug kernel'
	@echo 'Packages: scripts/deps.sh installs what is missing'

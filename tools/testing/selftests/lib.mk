# SPDX-License-Identifier: GPL-2.0
#
# What a directory of selftests includes, out of a kernel tree.
#
# Understands the variables that the kernel's own file does:
#
#	TEST_PROGS		scripts that are tests
#	TEST_PROGS_EXTENDED	scripts that tests use
#	TEST_FILES		other files that tests use
#	TEST_GEN_PROGS		programs to build that are tests
#	TEST_GEN_FILES		programs to build that tests use
#
# Everything is built, or copied, into OUTPUT (default: build/selftests/), so
# that it can be run from there in a guest that sees the tree read only.

top := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../../..)
selftests := $(top)/tools/testing/selftests
target := $(patsubst $(selftests)/%,%,$(CURDIR))
OUTPUT ?= $(top)/build/selftests/$(target)

CC ?= gcc
CFLAGS := -O2 -g -Wall -Wextra -isystem $(top)/include/uapi $(CFLAGS)
LINK.c = $(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_ARCH)

programs := $(addprefix $(OUTPUT)/,$(TEST_GEN_PROGS) $(TEST_GEN_FILES))
copies := $(addprefix $(OUTPUT)/,$(TEST_PROGS) $(TEST_PROGS_EXTENDED) \
	$(TEST_FILES) $(wildcard settings config))

all: $(programs) $(copies)

$(programs): | $(OUTPUT)
$(OUTPUT):
	mkdir -p $@

$(OUTPUT)/%: %.c
	$(LINK.c) $(filter %.c,$^) $(LDLIBS) -o $@

$(copies): $(OUTPUT)/%: % | $(OUTPUT)
	cp $< $@

run_tests: all
	@$(selftests)/run.sh $(OUTPUT) $(TEST_PROGS) $(TEST_GEN_PROGS)

install: all
	@mkdir -p $(INSTALL_PATH)/$(target)
	cp $(programs) $(copies) $(INSTALL_PATH)/$(target)

clean:
	rm -rf $(OUTPUT)

.PHONY: all run_tests install clean

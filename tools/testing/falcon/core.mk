# SPDX-License-Identifier: GPL-2.0
#
# net/falcon/core, and the headers of the verbs driver, for user space: what
# the unit tests, benchmarks and fuzzers share. The including Makefile sets $(here), its own directory, and $(out),
# where products go, and may set CFLAGS, SAN and EXTRA; programs link
# $(out)/libcore.a, with -lcrypto if they use keys. V=1 shows commands.

top  := $(abspath $(here)../../../..)
core := $(top)/net/falcon/core
Q    := $(if $(V),,@)

WARN := -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare
WARN += -Wdeclaration-after-statement -Wmissing-prototypes -Werror
INC  := -I$(top)/tools/testing/falcon/include -I$(top)/include -I$(top)
BUILD = $(CC) -std=gnu11 $(CFLAGS) $(WARN) $(SAN) $(EXTRA) $(INC) -MMD -MP

core_src := $(wildcard $(core)/*.c)
core_obj := $(core_src:$(core)/%.c=$(out)/core/%.o)
core_obj += $(out)/core/shim_crypto.o $(out)/rdma/wire.o

$(out)/core/%.o: $(core)/%.c
	@mkdir -p $(@D)
	@echo "  CC      $(@F)"
	$(Q)$(BUILD) -c -o $@ $<

$(out)/core/shim_crypto.o: $(top)/tools/testing/falcon/crypto.c
	@mkdir -p $(@D)
	@echo "  CC      $(@F)"
	$(Q)$(BUILD) -c -o $@ $<

$(out)/rdma/%.o: $(top)/drivers/infiniband/sw/falcon/%.c
	@mkdir -p $(@D)
	@echo "  CC      $(@F)"
	$(Q)$(BUILD) -c -o $@ $<

$(out)/%.o: $(here)%.c
	@mkdir -p $(@D)
	@echo "  CC      $(@F)"
	$(Q)$(BUILD) -c -o $@ $<

$(out)/libcore.a: $(core_obj)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

-include $(wildcard $(out)/*.d $(out)/core/*.d $(out)/rdma/*.d)

.SECONDARY:

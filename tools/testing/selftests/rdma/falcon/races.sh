#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Objects go while another thread's requests or a peer's messages come for them.

. "$(dirname "$0")/lib.sh"

need_verbs falcon_verbs
make_devices || exit 1
falcon_verbs races "$DEV_A" "$GID_A"

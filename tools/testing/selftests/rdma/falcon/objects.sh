#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Verbs objects as libibverbs sees them: limits, errors, transitions.

. "$(dirname "$0")/lib.sh"

need_verbs falcon_verbs
make_devices || exit 1
falcon_verbs objects "$DEV_A" "$GID_A"

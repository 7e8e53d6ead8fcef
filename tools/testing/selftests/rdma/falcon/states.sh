#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The state machine of queue pairs: every transition of every type.

. "$(dirname "$0")/lib.sh"

need_verbs falcon_verbs
make_devices || exit 1
falcon_verbs states "$DEV_A" "$GID_A"

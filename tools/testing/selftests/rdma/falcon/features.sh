#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What verbs promise of requests, completions, events and memory, one by one.

. "$(dirname "$0")/lib.sh"

need_verbs falcon_verbs
make_devices || exit 1
falcon_verbs features "$DEV_A" "$GID_A"

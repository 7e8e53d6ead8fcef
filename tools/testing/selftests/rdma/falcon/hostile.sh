#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rings that their user scribbles over while they run hurt its own queue pair
# alone: a neighbour in the same process goes on, its data intact, and the
# kernel has nothing to say.

. "$(dirname "$0")/lib.sh"

need_verbs falcon_verbs
make_devices || exit 1
falcon_verbs hostile "$DEV_A" "$GID_A"

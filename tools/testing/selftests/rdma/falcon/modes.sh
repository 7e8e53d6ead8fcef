#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ordering and error modes of RDMA over Falcon, which verbs have no word for.

. "$(dirname "$0")/lib.sh"

need_verbs falcon_verbs
make_devices || exit 1
falcon_verbs modes "$DEV_A" "$GID_A"

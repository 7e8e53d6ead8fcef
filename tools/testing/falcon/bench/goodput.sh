#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Lossless goodput, trains on: a Falcon stream and Falcon messages beside TCP, and
# an encrypted stream.  The goal is half of TCP's at least.

. "$(dirname "$0")/lib.sh"

set_up
for ((round = 0; round < ROUNDS; round++)); do
	measure tcp none -p tcp
	measure stream none
	measure seqpacket none -t seqpacket
	security opportunistic
	measure encrypted none -b 4M
	security none
done

header "goodput, no loss, trains of packets (median of $ROUNDS, $MIB MiB)"
row tcp TCP
row stream "Falcon stream"
row seqpacket "Falcon messages"
row encrypted "Falcon stream, encrypted"
tcp=$(median tcp mbytes_per_s)
goal "stream / TCP:" "$(ratio "$(median stream mbytes_per_s)" "$tcp")" ">=" 0.5
echo "messages / TCP: $(ratio "$(median seqpacket mbytes_per_s)" "$tcp")"
echo "encrypted / in the clear: $(ratio "$(median encrypted mbytes_per_s)" \
	"$(median stream mbytes_per_s)")"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What encryption costs: one stream with no encryption and with each cipher,
# beside TCP and TCP under kernel TLS, by turns on one link.

. "$(dirname "$0")/lib.sh"

# cipher NAME SECURITY VERSIONS: a transfer with what the namespaces allow
cipher()
{
	local name=$1 security=$2 versions=$3

	both sysctl -q net.falcon.security="$security" \
		net.falcon.psp_versions="$versions"
	measure "$name" none
}

set_up
modprobe -q tls
for ((round = 0; round < ROUNDS; round++)); do
	measure tcp none -p tcp
	measure ktls none -p ktls
	cipher none none 1
	cipher gcm128 opportunistic 1
	cipher gcm256 opportunistic 2
	cipher gmac128 opportunistic 4
done

header "goodput of one stream, no loss (median of $ROUNDS, $MIB MiB)"
row tcp TCP
row ktls "TCP, kernel TLS, GCM-128"
row none "Falcon, no encryption"
row gcm128 "Falcon, AES-GCM-128"
row gcm256 "Falcon, AES-GCM-256"
row gmac128 "Falcon, AES-GMAC-128"
echo "GCM-128 / none:          $(ratio "$(median gcm128 mbytes_per_s)" \
	"$(median none mbytes_per_s)")"
echo "kernel TLS / TCP:        $(ratio "$(median ktls mbytes_per_s)" \
	"$(median tcp mbytes_per_s)")"
echo "GCM-128 / kernel TLS:    $(ratio "$(median gcm128 mbytes_per_s)" \
	"$(median ktls mbytes_per_s)")"

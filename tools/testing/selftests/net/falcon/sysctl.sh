#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# net.falcon.*: every setting has its default, keeps within its bounds, belongs
# to one namespace, and is heeded by the connections made after it.

. "$(dirname "$0")/lib.sh"

need_falcon
make_pair
ip netns add "$A-new"

dir=/proc/sys/net/falcon

read_setting()
{
	in_a cat "$dir/$1"
}

# shellcheck disable=SC2016 # the inner shell's arguments
write_setting()
{
	in_a sh -c 'printf %s "$2" >"$1"' sh "$dir/$1" "$2" 2>/dev/null
}

# NAME VALUE DEFAULT MIN MAX of each number, as the kernel tells them.
all_settings()
{
	falcon -N "$A" param | sed -nE \
		's/^([a-z0-9_]+) +(-?[0-9]+) .*\(default (-?[0-9]+), (-?[0-9]+) to (-?[0-9]+)\)$/\1 \2 \3 \4 \5/p'
}

every_setting_is_a_file_with_its_default()
{
	local name value default least most count=0

	while read -r name value default least most; do
		[ "$(read_setting "$name")" = "$value" ]
		[ "$(ip netns exec "$A-new" cat "$dir/$name")" = "$default" ]
		[ "$least" -le "$default" ]
		[ "$default" -le "$most" ]
		count=$((count + 1))
	done < <(all_settings)
	expect $count -ge 20 "settings"
}

refuse_setting()
{
	! write_setting "$1" "$2" && return
	echo "# $1 took $2"
	return 1
}

every_setting_keeps_its_bounds()
{
	local name value default least most

	while read -r name value default least most; do
		write_setting "$name" "$least"
		[ "$(read_setting "$name")" = "$least" ]
		write_setting "$name" "$most"
		[ "$(read_setting "$name")" = "$most" ]
		refuse_setting "$name" $((least - 1))
		refuse_setting "$name" $((most + 1))
		refuse_setting "$name" nonsense
		[ "$(read_setting "$name")" = "$most" ]
		write_setting "$name" "$default"
	done < <(all_settings | grep -v '^cm_port ')
}

buffers_are_three_growing_sizes()
{
	local name

	for name in wmem rmem; do
		write_setting $name "8192 100000 200000"
		[ "$(read_setting $name | tr '\t' ' ')" = "8192 100000 200000" ]
		refuse_setting $name "200000 100000 8192"
		refuse_setting $name "100 100000 200000"
		[ "$(read_setting $name | tr '\t' ' ')" = "8192 100000 200000" ]
	done
	transfer 4 -b 1M
}

congestion_control_is_one_that_exists()
{
	local name

	for name in aimd fixed swift; do
		write_setting fae $name
		[ "$(read_setting fae)" = $name ]
		transfer 4 -b 200K
		grep -q "\"fae\": *\"$name\"" "$scratch/conn.json"
	done
	refuse_setting fae nonesuch
	[ "$(read_setting fae)" = swift ]
}

switches_are_on_or_off()
{
	local file=$dir/swift/rtt_smoothing was value

	was=$(cat "$file")
	for value in 2 255 256; do
		fails sh -c "echo $value >$file" 2>/dev/null
	done
	echo $((1 - was)) >"$file"
	[ "$(cat "$file")" = $((1 - was)) ]
	echo "$was" >"$file"
}

settings_belong_to_a_namespace()
{
	write_setting cm_retries 9
	[ "$(read_setting cm_retries)" = 9 ]
	[ "$(in_b cat $dir/cm_retries)" = 6 ]
	write_setting cm_retries 6
}

new_connections_heed_the_settings()
{
	both sysctl -q net.falcon.flows_ipv4=3
	transfer 4 -b 200K
	expect "$(number "$scratch/sent.json" flows)" -eq 3 "flows"
	both sysctl -q net.falcon.flows_ipv4=1 net.falcon.rto_us=50000 \
		net.falcon.min_rto_us=50000
	transfer 4 -b 200K
	expect "$(number "$scratch/sent.json" rto_us)" -ge 50000 "rto_us"
	both sysctl -q net.falcon.rto_us=1000 net.falcon.min_rto_us=20000
}

connections_are_bounded()
{
	both sysctl -q net.falcon.max_conns=1
	in_b falcon_xfer -l -b 1G 2>/dev/null &
	in_a falcon_xfer -b 1G -e 10000 "$B4" >/dev/null 2>&1 &
	sleep 1
	fails in_a falcon_xfer -b 1K -P 7005 "$B4" 2>/dev/null
	expect "$(counters "$A" 'conn_limit')" -gt 0 "refused by the bound"
	both sysctl -q net.falcon.max_conns=65536
}

cm_port_can_be_another()
{
	both sysctl -q net.falcon.cm_port=5000
	transfer 4 -b 100K
	in_b sysctl -q net.falcon.cm_port=5001
	fails in_a falcon_xfer -b 1K "$B4" 2>/dev/null
	both sysctl -q net.falcon.cm_port=4795
	transfer 6 -b 100K
}

# What its owner may set are its own ways, not the memory of the machine.
bounds_of_memory_are_not_for_user_namespaces()
{
	local name

	for name in max_conns peer_rx_bytes rx_pool_bytes linger_ms fae_batch; do
		fails unshare -Urn sh -c "echo 100 >$dir/$name" 2>/dev/null
		write_setting $name "$(read_setting $name)"
	done
	unshare -Urn sh -c "echo 7 >$dir/cm_retries && [ \$(cat $dir/cm_retries) = 7 ]"
}

run_tests every_setting_is_a_file_with_its_default every_setting_keeps_its_bounds \
	buffers_are_three_growing_sizes congestion_control_is_one_that_exists \
	switches_are_on_or_off \
	settings_belong_to_a_namespace new_connections_heed_the_settings \
	connections_are_bounded cm_port_can_be_another \
	bounds_of_memory_are_not_for_user_namespaces

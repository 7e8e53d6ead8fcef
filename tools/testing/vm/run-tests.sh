#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run-tests.sh - runs the kselftests in the guest, one after the other.
#
# A test is an executable NAME.sh in a selftest directory (lib*.sh are not);
# exit status 0 is a pass, 4 a skip, all else a failure.  Prints TAP, one line
# a test, the test's own output before it as comments; a log of each goes to
# /out.  TESTS is a shell pattern or a part of directory/NAME.  A directory's
# "settings" file may say timeout=SECONDS (for one test, default 120).  When
# TEST_BUDGET seconds are over, what is left has failed; with TEST_PARTIAL=1 it is
# skipped, and said to be.  A test that fails gets TEST_RETRIES more tries, unless
# it is the kernel that warned: an emulated machine stands still now and then.

# shellcheck source=tools/testing/vm/lib.sh
. "$FALCON_TOP/tools/testing/vm/lib.sh"

shopt -s extglob	# for TESTS
work=/run/falcon
dirs="net/falcon drivers/net/e2100sim rdma/falcon"
pattern=${TESTS-}
count=0
failed=0

# Scripts, helper programs and tools move into memory: 9p is slow to search.
copy_tests()
{
	local dir built

	for dir in $dirs; do
		mkdir -p "$work/$dir"
		built=$FALCON_TOP/build/selftests/$dir
		[ ! -d "$FALCON_TOP/tools/testing/selftests/$dir" ] ||
			cp -rL "$FALCON_TOP/tools/testing/selftests/$dir/." "$work/$dir/"
		[ ! -d "$built" ] || cp -rL "$built/." "$work/$dir/"
	done
}

list_tests()
{
	local dir file

	for dir in $dirs; do
		for file in "$work/$dir"/*.sh; do
			case ${file##*/} in
			lib*|'*.sh') continue ;;
			esac
			[ -x "$file" ] && wanted "$dir/${file##*/}" && echo "$dir/${file##*/}"
		done
	done
}

# shellcheck disable=SC2254 # the pattern is meant to be one
wanted()
{
	case $1 in
	*$pattern*|$pattern|*/$pattern|*/$pattern.sh) return 0 ;;
	esac
	return 1
}

result()
{
	local status=$1 name=$2

	count=$((count + 1))
	case $status in
	0) echo "ok $count - $name" ;;
	4) echo "ok $count - $name # SKIP${3:+ $3}" ;;
	*)
		failed=$((failed + 1))
		echo "not ok $count - $name # status $status" ;;
	esac
}

# out_of_time NAME WHY: a run that is to be whole is not.
out_of_time()
{
	if [ "${TEST_PARTIAL:-0}" = 1 ]; then
		result 4 "$1" "$2"
	else
		echo "# $1: $2"
		result 1 "$1"
	fi
}

# Seconds for one test of a directory; checkers make a kernel slow.
limit_of()
{
	local limit

	limit=$(sed -n 's/^timeout=//p' "$work/$1/settings" 2>/dev/null)
	limit=${limit:-${TEST_TIMEOUT:-120}}
	case $(uname -r) in
	*debug*) limit=$((limit * 4)) ;;
	esac
	echo "$limit"
}

# The kernel remembers in its taint that it warned (512) or died (128).
bad_taint()
{
	echo $(($(cat /proc/sys/kernel/tainted) & (512 | 128)))
}

# attempt TEST LIMIT: runs it, and leaves its exit status in $status.
attempt()
{
	local test=$1 log=$work/log before group

	: >"$log"
	echo "run-tests: $test" >/dev/kmsg
	before=$(bad_taint)
	cd "$work/${test%/*}" || return
	timeout -k 60 "$2" "./${test##*/}" >"$log" 2>&1 </dev/null &
	group=$!
	tail -n +1 -s 0.2 -f --pid=$group "$log" | sed -u 's/^/# /'
	wait $group
	status=$?
	# timeout(1) leads a process group: what the test left behind goes here.
	kill -KILL -- -$group 2>/dev/null
	cp "$log" "/out/${test//\//-}.log"
	cd /
	if [ "$(bad_taint)" != "$before" ]; then
		echo "# the kernel warned during this test"
		status=99
	fi
}

run_test()
{
	local test=$1 limit left status tries=${TEST_RETRIES:-0}

	limit=$(limit_of "${test%/*}")
	while :; do
		left=$((${TEST_BUDGET:-$((SECONDS + limit))} - SECONDS))
		if [ $left -le 0 ]; then
			out_of_time "$test" "no time left"
			return
		fi
		attempt "$test" $((left < limit ? left : limit))
		if [ "$status" -eq 124 ] && [ $left -lt "$limit" ]; then
			out_of_time "$test" "not done in the time left"
			return
		fi
		case $status in
		0|4|99) break ;;
		esac
		[ "$tries" -gt 0 ] || break
		tries=$((tries - 1))
		echo "# $test: status $status; once more, in a machine left as it is"
		ip -all netns delete
	done
	result "$status" "$test"
}

load_modules()
{
	[ -e "/lib/modules/$(uname -r)/updates/falcon.ko" ] || return 4
	modprobe falcon
}

# Modules that are still in use show here.  A test that was cut off may have
# left its namespaces; connections may linger for a while.
unload_modules()
{
	local module file

	ip -all netns delete
	for file in "/lib/modules/$(uname -r)"/updates/*.ko; do
		module=$(basename "$file" .ko)
		[ "$module" = falcon ] || modprobe -r "$module" || return 1
	done
	for _ in $(seq 60); do
		modprobe -r falcon 2>/dev/null && return
		sleep 1
	done
	modprobe -r falcon
}

install_tools
copy_tests
mapfile -t tests < <(list_tests)
echo "1..$((${#tests[@]} + 2))"
load_modules
result $? "modules load"
for test in "${tests[@]}"; do
	run_test "$test"
done
unload_modules
result $? "modules unload"
[ $failed -eq 0 ]

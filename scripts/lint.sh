#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lint.sh - what can be said against the tree without running it.
#
# Each step prints one TAP line, its findings before it as comments; no finding
# at all is a pass.  Steps run side by side.  The kernel's own checkers come
# from Debian's linux-source-6.1, unpacked under build/.

set -euo pipefail

[ $# -eq 0 ] || { echo "usage: scripts/lint.sh" >&2; exit 2; }

top=$(cd "$(dirname "$0")/.." && pwd)
work=$top/build/lint
kernel_scripts=$top/build/linux-source-6.1/scripts
cd "$top"

# checkpatch types that do not apply here, and why.
ignored=(
	# There is no MAINTAINERS file to update.
	FILE_PATH_CHANGES
	# The rule was dropped in 6.8: networking has the common comment style.
	NETWORKING_BLOCK_COMMENT_STYLE
	# Files open with what lives in them, makefiles speak of makefiles.
	EMBEDDED_FILENAME
	# Left to codespell, which does not contest "acknowledgement".
	TYPO_SPELLING
)

# checkpatch findings (FILE:LINE: LEVEL:TYPE:) accepted in some files only.
accepted=(
	# The files in which kernel versions are compared, and what old ones lack
	# is declared.
	'/compat\.h:[0-9]+: WARNING:(LINUX_VERSION_CODE|CONSTANT_COMPARISON|NEW_TYPEDEFS):'
	# Trace events are laid out as all trace events are.
	'/trace\.h:[0-9]+: CHECK:(OPEN_ENDED_LINE|PARENTHESIS_ALIGNMENT|SPACING):'
	# The verbs core's differences, likewise.
	'^drivers/infiniband/sw/falcon/compat\.h:[0-9]+: (WARNING|CHECK):(LINUX_VERSION_CODE|CONSTANT_COMPARISON|MACRO_ARG_REUSE):'
	# libibverbs' functions return errno as it is.
	'^tools/rdma/.*: WARNING:USE_NEGATIVE_ERRNO:'
	'^tools/rdma/.*: CHECK:PREFER_FALLTHROUGH:'
	# A family of functions that read one field each is defined by a macro.
	'^tools/rdma/libfalcon/cq\.c:[0-9]+: (ERROR:COMPLEX_MACRO|CHECK:LINE_SPACING):'
	'/(falcon_ib|falcon)\.h:[0-9]+: CHECK:(MACRO_ARG_PRECEDENCE|LINE_SPACING):'
	# libibverbs' private structures are laid out as it has them, and macros
	# define its commands.
	'^tools/rdma/libfalcon/private34\.h:[0-9]+: (WARNING|CHECK):(LINE_SPACING|MACRO_ARG_PRECEDENCE|OPEN_ENDED_LINE|CAMELCASE):'
	'^tools/rdma/libfalcon/falcon\.c:[0-9]+: CHECK:LINE_SPACING:'
	# A parameter is the name, the offset and the size of a field.
	'^net/falcon/sysctl_swift\.c:[0-9]+: CHECK:MACRO_ARG_REUSE:'
	# Headers byte by byte are lists.
	'^tools/testing/falcon/unit/test_rdma_wire\.c:[0-9]+: (ERROR:COMPLEX_MACRO|CHECK:MACRO_ARG_REUSE):'
	# What compilers call has its prototype where it is.
	'^tools/testing/falcon/bench/bench_state\.c:[0-9]+: WARNING:AVOID_EXTERNS:'
	# A check that fails ends its test.
	'^tools/testing/selftests/rdma/falcon/verbs\.h:[0-9]+: WARNING:MACRO_WITH_FLOW_CONTROL:'
	# gcc -o pan pan.c
	'^tools/testing/falcon/model/Makefile:[0-9]+: WARNING:REPEATED_WORD:'
	# OpenSSL calls its functions by these names.
	'CHECK:CAMELCASE: Avoid CamelCase: <SHA256_(Init|Update|Final)>'
	# libFuzzer calls its target by this name.
	'CHECK:CAMELCASE: Avoid CamelCase: <LLVMFuzzerTestOneInput>'
	# User space has neither the macros nor the accessors of the kernel.
	'^tools/.*: WARNING:(PREFER_DEFINED_ATTRIBUTE_MACRO|VOLATILE):'
)

# Words that codespell takes for misspelt others.
words=(
	inflight	# the name of a counter
	iif		# incoming interface
	ect		# ECN-capable transport
	filp		# a file, in the kernel
	clos		# a network of stages
	padd		# keyctl(1): add a key from a pipe
	usin		# an IPv4 socket address given by the user
)

sources()
{
	git ls-files -co --exclude-standard -- "$@" ':!LICENSES' |
		while read -r file; do
			[ ! -f "$file" ] || echo "$file"
		done
}

unpack_kernel_scripts()
{
	[ ! -e "$kernel_scripts/checkpatch.pl" ] || return 0
	tar -xJf /usr/src/linux-source-6.1.tar.xz -C "$top/build" linux-source-6.1/scripts
}

# build_anew DIRECTORY KERNEL [VARIABLE=VALUE]...: all modules, samples too.
build_anew()
{
	local build=$1 kernel=$2
	shift 2

	rm -rf "$build"
	make -s -j"$(nproc)" BUILD="$build" KVER="$kernel" "$@" modules 2>&1
}

# Prints what a build complains of, with paths of the source tree.
complaints()
{
	grep -E 'warning:|error:|WARNING|ERROR|\*\*\*|: In function|in expansion of|ld: ' |
		sed "s|$1/||g" || :
}

compile()
{
	local kernel=$1 build=$work/$1

	build_anew "$build" "$kernel" W=1 | complaints "$build"
}

# Sparse also looks into the kernel's headers; those are not ours to mend.
run_sparse()
{
	local build=$work/sparse

	build_anew "$build" 6.1 C=1 | grep -F "$build/" | complaints "$build"
}

run_checkpatch()
{
	# The user-space stand-ins for linux/*.h have to define what checkpatch asks
	# all others to use.
	sources '*.[ch]' '*Makefile' '*Kconfig' ':!tools/testing/falcon/include' |
		xargs -r -P 2 -n 16 "$kernel_scripts/checkpatch.pl" --no-tree --strict \
			--terse --quiet --no-summary --show-types --file \
			--ignore "$(IFS=,; echo "${ignored[*]}")" |
		grep -vE -f <(printf '%s\n' "${accepted[@]}") || :
}

run_kernel_doc()
{
	sources 'include/*.h' 'net/*.[ch]' 'drivers/*.[ch]' |
		xargs -r "$kernel_scripts/kernel-doc" -none || :
}

# Shell scripts are known by their first line.
run_shellcheck()
{
	sources | xargs -r -d '\n' grep -lE -m 1 -d skip '^#!.*[ /](ba)?sh( |$)' |
		xargs -r shellcheck -x -f gcc || :
}

run_codespell()
{
	sources | xargs -r codespell --quiet-level 3 \
		--ignore-words-list "$(IFS=,; echo "${words[*]}")" || :
}

# Every source, script and build file says its license in its first lines.
run_spdx()
{
	local file

	sources '*.[chS]' '*.sh' '*.py' '*.lua' '*Makefile' '*Kconfig' '*Kbuild' \
		'*.yaml' '*.rst' '*.conf' '*.config' |
	while read -r file; do
		head -n 3 "$file" | grep -q "SPDX-License-""Identifier: " ||
			echo "$file: no SPDX line"
	done
}

# Documents that say something else than the code.
run_doc_check()
{
	scripts/doc-check.sh || :
}

# Rules of the specification without code or test; prints what is wrong alone.
run_conformance()
{
	scripts/conformance.py --check >/dev/null || :
}

steps=(
	"compiler warnings (W=1), 6.1|compile 6.1"
	"compiler warnings (W=1), 6.12|compile 6.12"
	"sparse|run_sparse"
	"checkpatch --strict|run_checkpatch"
	"kernel-doc|run_kernel_doc"
	"shellcheck|run_shellcheck"
	"codespell|run_codespell"
	"SPDX|run_spdx"
	"documents agree with the code|run_doc_check"
	"every rule has its code and test|run_conformance"
)

scripts/deps.sh build lint
mkdir -p "$work"
exec 9>"$work/.lock"
flock 9
unpack_kernel_scripts
pids=()
for i in "${!steps[@]}"; do
	${steps[i]#*|} >"$work/$i.log" 2>&1 &
	pids+=($!)
done

failed=0
echo "1..${#steps[@]}"
for i in "${!steps[@]}"; do
	wait "${pids[i]}" || echo "ended with status $?" >>"$work/$i.log"
	result="ok $((i + 1)) - ${steps[i]%%|*}"
	if grep -q '^SKIP' "$work/$i.log"; then
		result+=" # $(cat "$work/$i.log")"
	elif [ -s "$work/$i.log" ]; then
		sed 's/^/# /' "$work/$i.log"
		result="not $result"
		failed=1
	fi
	echo "$result"
done
exit $failed

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# doc-check.sh - do the documents say what the code does? Prints what is missing
# and fails if anything is:
#
#	every setting in sysctl.rst, every counter and tracepoint in
#	observability.rst, and each counter once, every attribute of the netlink
#	header in its specification and in the same order, and every page in the
#	index's table and its toctree.

set -eu
export LC_ALL=C

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
docs=Documentation/networking/falcon
uapi=include/uapi/linux/falcon_netlink.h
spec=Documentation/netlink/specs/falcon.yaml
bad=0

complain()
{
	echo "$*"
	bad=1
}

# names FILE WHAT: each word of stdin is in FILE as a whole word.
names_in()
{
	file=$1
	what=$2
	while read -r name; do
		grep -qE "(^|[^a-z0-9_])$name([^a-z0-9_]|\$)" "$file" ||
			echo "$file: $what $name is missing"
	done
}

settings()
{
	sed -n 's/^	FALCON_PARAM(\([a-z_]*\),.*/\1/p' net/falcon/sysctl.c
	sed -n '/^	FALCON_PARAM_BY(/{n;s/^[[:space:]]*\([a-z_]*\),.*/\1/p;}' \
		net/falcon/sysctl.c
	sed -n 's/^	{ "\([a-z]*\)", offsetof(struct falcon_sysctls.*/\1/p' \
		net/falcon/sysctl.c
}

mib()
{
	sed -n 's/^FALCON_MIB(\([A-Z0-9_]*\),.*/\1/p' net/falcon/mib.h |
		tr '[:upper:]' '[:lower:]'
}

retransmissions()
{
	sed -n 's/^	FALCON_COUNTER(R[A-Z_]*, "\(retx_[a-z]*\)".*/\1/p' \
		net/falcon/netlink.c
}

tracepoints()
{
	sed -n 's/^TRACE_EVENT(\([a-z_]*\),.*/\1/p
		s/^DEFINE_EVENT[A-Z_]*([a-z_]*, \([a-z_]*\),.*/\1/p' \
		net/falcon/trace.h
}

# Attributes as prefix-name, in order, from the header and the specification.
header_attributes()
{
	sed -n 's/^	\(FALCON_A_[A-Z0-9_]*\)\( = 1\)\{0,1\},.*/\1/p' "$uapi" |
		tr '[:upper:]_' '[:lower:]-'
}

spec_attributes()
{
	awk '
	/^attribute-sets:/ { on = 1 }
	/^operations:/ { on = 0 }
	on && /^    name-prefix:/ { prefix = $2 }
	on && /^        name:/ { print prefix $2 }' "$spec"
}

pages()
{
	for page in "$docs"/*.rst; do
		page=${page##*/}
		[ "$page" = index.rst ] || echo "${page%.rst}"
	done
}

# Names in the first column of observability.rst that stand there twice
twice()
{
	sed -n 's/^   \* - \([a-z0-9_, ]*\)$/\1/p' $docs/observability.rst |
		tr -d ' ' | tr ',' '\n' | grep _ | sort | uniq -d |
		sed "s|^|$docs/observability.rst: twice: |"
}

tabled()
{
	pages | while read -r page; do
		grep -q "^   \* - :doc:\`$page\`\$" $docs/index.rst ||
			echo "$docs/index.rst: no row for $page"
	done
}

indexed()
{
	sed -n '/toctree/,$s/^   \([a-z-]*\)$/\1/p' $docs/index.rst |
		while read -r page; do
			[ -f "$docs/$page.rst" ] ||
				echo "$docs/index.rst: no page $page"
		done
}

report()
{
	[ -z "$1" ] || complain "$1"
}

for list in settings mib tracepoints retransmissions header_attributes; do
	[ -n "$($list)" ] || complain "doc-check.sh: no $list found"
done
report "$(settings | names_in $docs/sysctl.rst setting)"
report "$(mib | names_in $docs/observability.rst counter)"
report "$(retransmissions | names_in $docs/observability.rst counter)"
report "$(tracepoints | names_in $docs/observability.rst tracepoint)"
report "$(pages | names_in $docs/index.rst page)"
[ "$(header_attributes)" = "$(spec_attributes)" ] ||
	complain "$spec and $uapi have different attributes"
report "$(indexed)"
report "$(tabled)"
report "$(twice)"
exit $bad

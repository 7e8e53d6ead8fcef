#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# spec-map.sh - the table "section of the specification, code, tests".
#
# Above each unit test stands the rule that it holds core to:
#
#	/* spec: SECTION rule in our words */
#	TEST(name)
#
# This makes Documentation/networking/falcon/spec-map.rst of them; code is found
# by the sections that comments of the source name. --check changes nothing and
# fails if the table is stale, a marker has no test, or a section no code.

set -eu
export LC_ALL=C

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
out=Documentation/networking/falcon/spec-map.rst
tests=tools/testing/falcon/unit

usage()
{
	echo "usage: scripts/spec-map.sh [--check]" >&2
	exit 2
}

# section<TAB>rule<TAB>test<TAB>file, one line a test; "cm" is the section of
# rules of the connection manager, which the specification leaves open.
markers()
{
	awk '
	function flush_without_test() {
		if (rule == "")
			return
		print FILENAME ": no test after: " rule > "/dev/stderr"
		bad = 1
	}
	FNR == 1 {
		flush_without_test()
		rule = ""
		open = 0
	}
	/^\/\* spec: / || (/^ \* spec: / && comment) {
		flush_without_test()
		sub(/^.*spec: /, "")
		rule = ""
		open = 1
	}
	/^\/\*$/ { comment = 1 }
	open {
		line = $0
		if (line ~ /\*\/[ \t]*$/) {
			sub(/[ \t]*\*\/[ \t]*$/, "", line)
			open = 0
		}
		sub(/^ \* ?/, "", line)
		# The rule is the first paragraph.
		if (line == "")
			open = 0
		rule = rule (rule != "" && line != "" ? " " : "") line
	}
	/\*\// { comment = 0 }
	/^TEST\(/ {
		if (rule == "")
			next
		name = $0
		sub(/^TEST\(/, "", name)
		sub(/\).*/, "", name)
		section = "cm"
		if (rule ~ /^[0-9]/) {
			section = rule
			sub(/[ ,].*/, "", section)
			sub(/^[^ ]* +/, "", rule)
		}
		printf "%s\t%s\t%s\t%s\n", section, rule, name, FILENAME
		rule = ""
	}
	END {
		flush_without_test()
		exit bad
	}' "$tests"/test_*.c
}

# Source files whose comments name a section, or else the one it is part of.
code_of()
{
	section=${1%%-*}

	if [ "$1" = cm ]; then
		echo net/falcon/core/cm_wire.c
		return
	fi
	while [ -n "$section" ]; do
		pattern=$(printf '%s' "$section" | sed 's/\./\\./g')
		files=$(grep -lE "(^|[^0-9.])($pattern)([^0-9.]|\.?$|\.[^0-9])" \
			net/falcon/core/*.[ch] net/falcon/*.[ch] \
			include/net/falcon*.h | grep -v '/trace\.h$' || :)
		case $section in
		*.*) ;;
		*)
			# "11" is many things: only where it is called a section.
			files=$(grep -lE "[Ss]ection $section([^0-9.]|\.?$)" \
				net/falcon/core/*.[ch] net/falcon/*.[ch] \
				include/net/falcon*.h || :) ;;
		esac
		if [ -n "$files" ]; then
			# Headers only where no function says it.
			echo "$files" | grep '\.c$' || echo "$files"
			return
		fi
		case $section in
		*.*) section=${section%.*} ;;
		*) section= ;;
		esac
	done
	echo "spec-map.sh: no code names section $1" >&2
	return 1
}

title_of()
{
	case $1 in
	cm) echo "Connection manager" ;;
	*-*) echo "Sections $1" ;;
	*) echo "Section $1" ;;
	esac
}

section_table()
{
	title=$(title_of "$1")
	printf '\n%s\n%s\n\nCode:' "$title" "$(echo "$title" | sed 's/./-/g')"
	sep=' '
	for file in $(code_of "$1"); do
		[ -f "$file" ] || exit 1
		# shellcheck disable=SC2016 # the quotes are of reStructuredText
		printf '%s``%s``' "$sep" "$file"
		sep=', '
	done
	printf '\n\n.. list-table::\n   :widths: 40 60\n\n'
	awk -F '\t' -v section="$1" '$1 == section {
		file = $4
		sub(/.*\//, "", file)
		gsub(/[*`|]/, "\\\\&", $2)
		printf "   * - %s: ``%s``\n     - %s\n", file, $3, $2
	}' "$2"
}

table()
{
	cat <<-'EOT'
	.. SPDX-License-Identifier: GPL-2.0
	.. Made by scripts/spec-map.sh: do not edit.

	===================================
	The specification, in code and test
	===================================

	Sections of OCP *Falcon Transport Protocol* Rev 0.9, the files whose
	comments name them, and the unit tests that hold the code to their rules
	(``tools/testing/falcon/unit``). Rules of the connection manager, which the
	specification leaves to the implementation, come last.
	EOT
	printf '\n%s rules, %s sections.\n' "$(wc -l < "$1")" \
		"$(cut -f 1 "$1" | sort -u | wc -l)"
	cut -f 1 "$1" | sort -u | sort -V | while read -r section; do
		section_table "$section" "$1"
	done
}

check=
case $#,${1-} in
0,) ;;
1,--check) check=1 ;;
*) usage ;;
esac

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
markers > "$tmp/markers"
cut -f 1 "$tmp/markers" | sort -u | while read -r section; do
	code_of "$section" > /dev/null
done
table "$tmp/markers" > "$tmp/table"
if [ -z "$check" ]; then
	cp "$tmp/table" "$out"
elif ! cmp -s "$tmp/table" "$out"; then
	echo "$out is stale: run scripts/spec-map.sh" >&2
	exit 1
fi

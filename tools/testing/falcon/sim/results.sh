#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# results.sh - puts the tables of the last `make sim` into the document that
# has the results, between its two marks. No figure there is typed in.

set -euo pipefail

dir=$1
here=$(cd "$(dirname "$0")" && pwd)
doc=$here/../../../../Documentation/networking/falcon/results.rst

"$dir/sim" -R -o "$dir" >"$dir/tables.rst"
awk -v tables="$dir/tables.rst" '
/^\.\. tables begin/	{
	print
	print ""
	while ((getline line < tables) > 0)
		print line
	skip = 1
}
/^\.\. tables end/	{ skip = 0 }
!skip			{ print }
' "$doc" >"$dir/results.rst"
cat "$dir/results.rst" >"$doc"

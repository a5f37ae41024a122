#!/bin/sh
# Remakes python.txt and python-test.txt from their .in files with the newest releases; needs uv and network.
# A changed lock makes a new environment on every user's machine: change it on purpose.
set -eu
cd "$(dirname "$0")"

lock() { # lock IN OUT [more arguments]
	in=$1 out=$2
	shift 2
	{
		echo "# Made from $in by lock.sh; do not edit. Every CPython from 3.10 on, Linux, macOS and Windows."
		uv pip compile "$in" "$@" --quiet --universal --python-version 3.10 --generate-hashes \
			--no-header --no-annotate --no-emit-index-url --no-emit-find-links
	} >"$out.new"
	mv "$out.new" "$out"
}

lock python.in python.txt
lock python-test.in python-test.txt --constraints python.txt

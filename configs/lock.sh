#!/bin/sh
# Makes the lock files from the .in files with the newest releases. Needs uv and network.
# `lock.sh tests` leaves python.txt alone: a changed python.txt makes a new environment on every
# user's machine.
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

[ "${1:-}" = tests ] || lock python.in python.txt

pins=$(mktemp)
trap 'rm -f "$pins"' EXIT
# papermill asks for aiohttp on Python 3.12 and never imports it.
echo "aiohttp ; python_version < '3'" >"$pins"
lock python-test.in python-test.txt --constraints python.txt --overrides "$pins"
lock python-lab.in python-lab.txt --constraints python-test.txt --overrides "$pins"
lock python-clusters.in python-clusters.txt
grep -v '^ipykernel==' python.txt | sed -n 's/^\([^ #]*==[^\\]*\).*/\1/p' >"$pins"
lock python-ipykernel6.in python-ipykernel6.txt --constraints "$pins"

package main

import "testing"

// TestWrapped: sentences are wrapped at words, with the indentation of their line.
func TestWrapped(t *testing.T) {
	const text = "Seal Beach comes first, with 198.79 per day.\n\n  - the calendar quarter: 143.21\na    b"
	const want = "Seal Beach comes\nfirst, with 198.79\nper day.\n\n  - the calendar\n  quarter: 143.21\na    b"
	if got := wrapped(text, 20); got != want {
		t.Errorf("%q", got)
	}
	if got := wrapped(text, 0); got != text {
		t.Errorf("without a terminal: %q", got)
	}
}

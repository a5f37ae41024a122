package main

import (
	"strings"
	"testing"
)

func TestHidePasswords(t *testing.T) {
	const address = "--data=postgresql://reader:secret@host/sales"
	args := []string{strings.Clone("nb"), strings.Clone(address)}
	if copies := hidePasswords(args); copies[0] != "nb" || copies[1] != address {
		t.Errorf("copies %q", copies)
	}
	if args[0] != "nb" || strings.Contains(args[1], "secret") || !strings.Contains(args[1], "host/sales") {
		t.Errorf("originals %q", args)
	}
}

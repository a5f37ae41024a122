package main

import (
	"fmt"
	"strings"
)

// Exit codes.
const (
	exitVerified    = 0
	exitError       = 1
	exitUsage       = 2
	exitNotVerified = 3
	exitCredentials = 4
	exitBudget      = 5
	exitInterrupted = 130
)

// exitMeanings say what the exit codes of a run mean.
var exitMeanings = []struct {
	code    int
	meaning string
}{
	{exitVerified, "verified: judged sufficient, and a fresh run printed the same answer"},
	{exitError, "error"},
	{exitUsage, "usage"},
	{exitNotVerified, "answered, but not verified"},
	{exitCredentials, "model or server credentials"},
	{exitBudget, "budget spent: --max-cost, --max-calls or --max-time"},
	{exitInterrupted, "interrupted, or stopped at a review"},
}

// exitHelp is the part of a command's help about exit codes.
func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:")
	for _, e := range exitMeanings {
		fmt.Fprintf(&b, "\n  %-4d %s", e.code, e.meaning)
	}
	return b.String()
}

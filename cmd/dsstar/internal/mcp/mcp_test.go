package mcp

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTools: every tool and argument says what it is for, and command lines use the arguments.
func TestTools(t *testing.T) {
	for _, tool := range tools {
		used := tool.needs
		for _, m := range regexp.MustCompile(`{[@?]?(\w+)}`).FindAllStringSubmatch(tool.command, -1) {
			used += " " + m[1]
		}
		if tool.text == "" {
			t.Errorf("%s is not described", tool.name)
		}
		for _, name := range strings.Fields(used) {
			if !slices.ContainsFunc(tool.arguments, func(a argument) bool { return a.name == name }) {
				t.Errorf("%s has no argument %s", tool.name, name)
			}
		}
		for _, a := range tool.arguments {
			if a.text == "" || !slices.Contains(strings.Fields(used), a.name) {
				t.Errorf("%s: %s is not described or not used", tool.name, a.name)
			}
		}
	}
}

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
		used, has := strings.Fields(tool.needs), []string(nil)
		for _, m := range regexp.MustCompile(`{[@?]?(\w+)}`).FindAllStringSubmatch(tool.command, -1) {
			used = append(used, m[1])
		}
		for _, a := range tool.arguments {
			if has = append(has, a.name); a.text == "" {
				t.Errorf("%s: %s is not described", tool.name, a.name)
			}
		}
		slices.Sort(has)
		slices.Sort(used)
		if used = slices.Compact(used); tool.text == "" || !slices.Equal(has, used) {
			t.Errorf("%s: %q, has the arguments %q, and uses %q", tool.name, tool.text, has, used)
		}
	}
}

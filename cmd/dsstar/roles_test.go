package main

import (
	"maps"
	"slices"
	"testing"

	"dsstar/agent"
	"dsstar/configs"
)

// TestRoles: each role can have a model of its own in the settings, and nothing else can.
func TestRoles(t *testing.T) {
	s, err := configs.Load(configs.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if has, want := slices.Sorted(maps.Keys(s.Models)), slices.Sorted(maps.Keys(agent.Roles)); !slices.Equal(has, want) {
		t.Errorf("models are for %q, roles are %q", has, want)
	}
}

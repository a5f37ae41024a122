package main

import (
	"testing"

	"github.com/spf13/pflag"
)

// The flags that relax the sandbox reach it, and what is recorded in the notebook.
func TestRelaxingFlags(t *testing.T) {
	a, _, _ := testApp(t)
	for flag, want := range map[string]string{"--allow-gpu": "off, graphics processors allowed", "--allow-net": "off, network allowed"} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		settingFlags(flags)
		if err := flags.Parse([]string{flag, "--sandbox=off"}); err != nil {
			t.Fatal(err)
		}
		s, err := a.settings(flags)
		if err != nil {
			t.Fatal(err)
		}
		if b, _, err := box(s); err != nil || b.Describe() != want {
			t.Errorf("%s: %q %v, want %q", flag, b.Describe(), err, want)
		}
	}
}

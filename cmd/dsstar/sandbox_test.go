package main

import (
	"github.com/spf13/pflag"
	"testing"

	"dsstar/cmd/dsstar/internal/kernels"
	"dsstar/kernel/sandbox"
)

// The flags that relax the sandbox reach it.
func TestRelaxingFlags(t *testing.T) {
	a, _, _ := testApp(t)
	for flag, relaxed := range map[string]func(sandbox.Box) bool{
		"--allow-gpu": func(b sandbox.Box) bool { return b.GPU }, "--allow-net": func(b sandbox.Box) bool { return b.Net },
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		settingFlags(flags)
		if err := flags.Parse([]string{flag, "--sandbox=off"}); err != nil {
			t.Fatal(err)
		}
		s, err := a.settings(flags)
		if err != nil {
			t.Fatal(err)
		}
		if b, _, err := kernels.Box(s); err != nil || !relaxed(b) {
			t.Errorf("%s: %+v %v", flag, b, err)
		}
	}
}

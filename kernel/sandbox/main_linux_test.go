package sandbox_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"dsstar/kernel/sandbox"
)

// inDocker is the argument with which the tests' program tries the sandbox where containers of
// Docker's do not let it make namespaces.
const inDocker = "in-docker"

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	if len(os.Args) == 2 && os.Args[1] == inDocker {
		runtime.LockOSThread()
		if err := tryInDocker(); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type dockerTrial struct {
	Tier   sandbox.Tier
	Why    string
	Trials []sandbox.Trial
}

func tryInDocker() (err error) {
	if err := sandbox.Dockerlike(); err != nil {
		return err
	}
	var d dockerTrial
	if d.Tier, d.Why, err = sandbox.Choose("auto"); err != nil {
		return err
	}
	if d.Trials, err = sandbox.Try(context.Background(), d.Tier); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(d)
}

// In a container auto falls back to builtin, says why, and holds.
func TestInDocker(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], inDocker)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var d dockerTrial
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatal(err)
	}
	if d.Tier != sandbox.Builtin || d.Why == "" {
		t.Errorf("auto is %s: %s", d.Tier, d.Why)
	}
	t.Log(d.Why)
	open := 0 // without a sandbox; a container refuses some
	for _, trial := range d.Trials {
		if trial.Done[d.Tier] != (trial.Name == sandbox.Seen) {
			t.Errorf("%s: can be done: %v", trial.Name, trial.Done[d.Tier])
		}
		if trial.Done[sandbox.Off] {
			open++
		}
	}
	if open < 10 {
		t.Errorf("only %d of %d can be done without a sandbox", open, len(d.Trials))
	}
}

// What doctor tries is blocked in every tier that works here, and shows something where nothing is.
func TestTry(t *testing.T) {
	trials, err := sandbox.Try(t.Context(), sandbox.Tiers()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range trials {
		for tier, done := range trial.Done {
			if tier != sandbox.Off && done != (tier == sandbox.Builtin && trial.Name == sandbox.Seen) {
				t.Errorf("%s in %s: can be done: %v", trial.Name, tier, done)
			}
		}
		if !trial.Done[sandbox.Off] {
			t.Logf("%s: cannot be done here without a sandbox either", trial.Name)
		}
	}
}

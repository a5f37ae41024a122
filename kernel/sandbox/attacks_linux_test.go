package sandbox_test

import (
	_ "embed"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsstar/kernel"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/rewind"
	"dsstar/kernel/sandbox"
)

//go:embed testdata/attacks.py
var attacks string

// attempts is how many attacks.py makes.
const attempts = 111

// separate are the attempts that may end the process that makes them.
var separate = []string{"a01_fork_bomb", "a02_thread_bomb", "a04_fd_exhaustion", "a08_memory_bomb",
	"p17_daemon_survives"}

// open are the attempts that succeed in a tier, as SECURITY.md says.
var open = map[sandbox.Tier][]string{sandbox.Builtin: {"r10_stat_ssh_key"}}

// An attack is a place from which the attempts are made.
type attack struct {
	as       string // who makes them: see again; "": whoever runs the tests
	tier     sandbox.Tier
	in       string // "kernel", "plain" Python, that "apart" for each of separate, "beside" an endpoint
	landlock int    // the newest version of its interface to use; 0 for any
	net      bool
	only     []string // nil: all but separate
}

// ofUnix are attempts that an allowed network must not open.
var ofUnix = []string{"n09_unix_stream", "n12_unix_abstract", "n13_unix_stream_in_data",
	"n16_unix_abstract_datagram_of_pair"}

// An older Landlock lacks what a newer one has, so the oldest lacks most; with version 5 only signals
// and sockets without a path are missing.
var attackers = []attack{
	{tier: sandbox.Builtin, in: "kernel"}, {tier: sandbox.Full, in: "kernel"},
	{tier: sandbox.Builtin, in: "beside"}, {tier: sandbox.Full, in: "apart"},
	{tier: sandbox.Builtin, in: "plain", landlock: 1}, {tier: sandbox.Builtin, in: "plain", landlock: 5},
	{tier: sandbox.Full, in: "plain", landlock: 5, net: true, only: ofUnix},
	{tier: sandbox.Builtin, in: "plain", net: true, only: ofUnix},
	{as: user, tier: sandbox.Builtin, in: "apart"}, {as: user, tier: sandbox.Builtin, in: "plain"},
	{as: user, tier: sandbox.Full, in: "beside"},
	{as: docker, tier: sandbox.Builtin, in: "plain"},
}

// TestAttacks makes all attempts in every tier, as whom and with what the list says.
func TestAttacks(t *testing.T) {
	t.Parallel()
	me := again(t, user, docker)
	for _, a := range attackers {
		if !slices.Contains(me, a.as) {
			continue
		}
		t.Run(a.as+string(a.tier)+a.in, func(t *testing.T) {
			t.Parallel()
			if a.as == docker {
				if tier, why, err := sandbox.Choose("auto"); err != nil || tier != a.tier || why == "" {
					t.Errorf("auto is %s: %s, %v", tier, why, err)
				}
			}
			v := newVictims(t)
			box := boxIn(t, a.tier, v.data)
			if box.Net = a.net; a.in == "beside" {
				box.Endpoints = []sandbox.Endpoint{v.endpoint}
			}
			switch a.in {
			case "kernel":
				v.attackInKernel(t, box)
			case "apart":
				box.Limits.Memory, v.targets["memory"], v.targets["bomb"] = 256<<20, 1000, 600
				var all sync.WaitGroup
				for _, name := range separate {
					all.Go(func() { v.attack(t, box, 0, name) })
				}
				all.Wait()
			default:
				v.attack(t, box, a.landlock, a.only...)
			}
			if a.in == "beside" && v.reached.Load() == 0 {
				t.Error("the endpoint was not reached")
			}
			v.unharmed(t)
		})
	}
}

// attackInKernel makes the attempts as a cell does, in builtin in a kernel with checkpoints, which has
// fewer restrictions.
func (v *victims) attackInKernel(t *testing.T, box sandbox.Box) {
	spec := kernel.PythonSpec(pyenvtest.Python(t))
	if box.Tier == sandbox.Builtin {
		spec = must(rewind.Spec(spec, t.TempDir()))
	}
	k, err := kernel.Start(t.Context(), kernel.Options{
		Spec: spec, Dir: v.run, Scratch: v.work, Env: v.environ, Sandbox: box,
	})
	ok(t, err)
	out := output(t, k, "import os; os.chdir('"+v.work+"')\n"+v.python()+attacks)
	check(t, k.Close())
	v.judge(t, box.Tier, out)
}

// attack makes attempts in a box, in a Python without a kernel, and returns their outcomes. An attempt
// of separate may end with the guard's message.
func (v *victims) attack(t *testing.T, box sandbox.Box, landlock int, names ...string) map[string]outcome {
	s := session(t, v.work)
	s.Reports = len(names) != 1 // otherwise the report is looked for in the output
	script := filepath.Join(s.Private, "attacks.py")
	check(t, os.WriteFile(script, []byte(v.python(names...)+attacks), 0o600))
	python := must(exec.LookPath("python3")) // attempts apart are in goroutines of their own
	cmd := must(box.Command(&exec.Cmd{Path: python, Args: []string{python, script}, Dir: v.work, Env: v.environ}, s))
	if landlock > 0 {
		withStage(t, cmd, "ABI", landlock)
	}
	if s.Reports {
		cmd.ExtraFiles = []*os.File{v.report}
	}
	words := run(cmd)
	if len(names) == 1 && strings.Contains(words, sandbox.Stopped) {
		return nil
	}
	return v.judge(t, box.Tier, words, names...)
}

// An outcome is what an attempt of attacks.py reports: OPEN, PRIVATE or BLOCKED, and a detail.
type outcome [2]string

// judge compares the outcomes in an output with what a tier promises, for the named attempts or,
// without names, for all except separate.
func (v *victims) judge(t *testing.T, tier sandbox.Tier, out string,
	names ...string) (results map[string]outcome) {
	t.Helper()
	if strings.Contains(out, v.key) {
		t.Error("the key is in the output")
	}
	line := regexp.MustCompile(`(?m)^\{.*\}$`).FindString(out)
	if err := json.Unmarshal([]byte(line), &results); err != nil {
		t.Errorf("%v in %q", err, out)
		return nil
	}
	made := slices.Sorted(maps.Keys(results))
	if len(names) > 0 && !slices.Equal(made, names) || len(names) == 0 &&
		len(made) != attempts-len(separate) {
		t.Errorf("%d attempts were made, of %d: %q", len(made), attempts, made)
	}
	if !tier.Confines() {
		return results
	}
	for name, result := range results {
		succeeded := result[0] == "OPEN"
		if name == "p17_daemon_survives" {
			succeeded = len(v.daemons()) > 0
		}
		if succeeded != slices.Contains(open[tier], name) {
			t.Errorf("%s is %s: %s", name, result[0], result[1])
		}
	}
	return results
}

// closedAnyway are the attempts that a machine may refuse even without a sandbox.
const closedAnyway = "r01 w21 w23 w24 p13 " + // needs root, or a Python or control group of one's own
	"r17 w13 w22 w26 " + // needs a file system with attributes, flags or devices
	"r20 r22 w28 n05 n07 p21 p22 a14 a15 a16 " + // the system's kernel may lack it, or is too old
	"r23 w25 n08 p11 p12 " + // containers and sysctls refuse it
	"n02 n04 p14 a08 " + // there is no network, terminal or memory in T
	"p04 p05 p06 p08 " + // Yama allows only children
	"p09 p10 " + // some systems keep namespaces from users
	"a04 a05 a06 a07 a11" // the limit may be that low, or 0, already

// TestControl makes the attempts without a sandbox: that a sandbox refuses one proves something only
// if it works here, and if its effect is noticed.
func TestControl(t *testing.T) {
	pyenvtest.Long(t)
	v := newVictims(t)
	v.targets["bomb"] = 300 // more than a sandbox allows is enough
	results := v.attack(t, sandbox.Box{Tier: sandbox.Off}, 0)
	for _, name := range separate {
		maps.Copy(results, v.attack(t, sandbox.Box{Tier: sandbox.Off}, 0, name))
	}
	for name, result := range results {
		t.Logf("%s: %s", name, result)
		if result[0] != "OPEN" && !strings.Contains(closedAnyway, name[:3]) {
			t.Errorf("%s: %s, %s", name, result[0], result[1])
		}
	}
	if len(v.daemons()) != 1 {
		t.Errorf("daemons: %v", v.daemons())
	}
	harms := strings.Join(v.harm(t), "\n")
	for _, want := range []string{
		v.home + "/created was ", v.home + "/.bashrc was ", v.home + "/.profile was ",
		v.home + "/.ssh was ", v.data + "/created was ", v.data + "/a.csv was ",
		v.data + "/b.csv was ", v.data + "/b2.csv was ", v.data + "/c.csv was ",
		v.data + "/d.csv was ", v.data + "/d2.csv was ", v.data + "/e.csv was ",
		v.run + "/notebook.ipynb was ", v.project + "/runs was ",
		v.project + "/runs/r0/n.ipynb was ", "victim was ", "/tmp/attack-", "/dev/shm/attack-",
	} {
		if !strings.Contains(harms, want) {
			t.Errorf("not seen: %s…", want)
		}
	}
}

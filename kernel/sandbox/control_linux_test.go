package sandbox_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
)

//go:embed testdata/attacks.py
var attacks string

// attempts is how many attacks.py makes.
const attempts = 106

// An outcome is what an attempt of attacks.py reports: OPEN, PRIVATE or BLOCKED, and a detail.
type outcome [2]string

// closedAnyway are the attempts that a machine may refuse even without a sandbox, with the reasons.
var closedAnyway = map[string]string{
	"needs root, or a Python or control group of one's own": "r01 w21 w23 w24 p13",
	"needs a file system with attributes, flags or devices": "r17 w13 w22 w26",
	"the system's kernel may lack it, or is too old":        "r20 r22 w28 n05 n07 a14 a15 a16",
	"containers and sysctls refuse it":                      "r23 w25 n08 p11 p12",
	"there is no network, terminal or memory in T":          "n02 n04 p14 a08",
	"Yama allows only children":                             "p04 p05 p06 p08",
	"some systems keep namespaces from users":               "p09 p10",
	"the limit may be that low, or 0, already":              "a04 a05 a06 a07 a11",
}

// TestControl runs the attempts without a sandbox: that a sandbox refuses one proves something only
// if it works here, and if its effect is noticed.
func TestControl(t *testing.T) {
	pyenvtest.Long(t)
	v := newVictims(t)
	v.targets["bomb"] = 300 // more than a sandbox allows is enough
	results := v.attack(t)
	for _, name := range separate {
		results[name] = v.attack(t, name)[name]
	}
	if len(results) != attempts {
		t.Errorf("%d attempts, not %d", len(results), attempts)
	}
	for name, result := range results {
		may := slices.ContainsFunc(slices.Collect(maps.Values(closedAnyway)),
			func(names string) bool { return strings.Contains(names, name[:3]) })
		if t.Logf("%s: %s", name, result); result[0] != "OPEN" && !may {
			t.Errorf("%s: %s, %s", name, result[0], result[1])
		}
	}
	if len(v.daemons()) != 1 {
		t.Errorf("daemons: %v", v.daemons())
	}
	harms := strings.Join(v.harm(t), "\n")
	for _, want := range []string{
		v.home + "/created is new", v.home + "/.bashrc was ", v.home + "/.profile was ",
		v.home + "/.ssh was ",
		v.data + "/created is new", v.data + "/a.csv was ", v.data + "/b.csv was ",
		v.data + "/b2.csv was ", v.data + "/c.csv was ",
		v.data + "/d.csv was ", v.data + "/d2.csv is new", v.data + "/e.csv was ",
		v.run + "/notebook.ipynb was ",
		v.project + "/runs was ", v.project + "/runs/r0/n.ipynb was ", "victim was ", "/tmp/attack-",
		"/dev/shm/attack-",
	} {
		if !strings.Contains(harms, want) {
			t.Errorf("not seen: %s…", want)
		}
	}
}

// attack runs attempts in the user's own Python, without a sandbox.
func (v *victims) attack(t *testing.T, only ...string) map[string]outcome {
	t.Helper()
	python := userPython(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-")
	cmd.Dir, cmd.Env, cmd.Stdin = v.work, v.environ(), strings.NewReader(v.python(only...)+attacks)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second // a daemon may hold the output
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, complaints.String())
	}
	if strings.Contains(string(out), v.key) || strings.Contains(v.python(), v.key) {
		t.Error("the secret is in the source or the output of the attempts")
	}
	return outcomes(t, string(out))
}

// outcomes finds the line of attacks.py in the output of a cell.
func outcomes(t testing.TB, out string) (found map[string]outcome) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^\{.*\}$`).FindString(out)
	if err := json.Unmarshal([]byte(line), &found); err != nil {
		t.Errorf("%v in %q", err, out)
	}
	return found
}

package sandbox_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
)

//go:embed testdata/attacks.py
var attacks string

// attempts is how many attacks.py makes.
const attempts = 99

// An outcome is what an attempt of attacks.py reports: OPEN, PRIVATE or BLOCKED, and a detail.
type outcome [2]string

// closedAnyway are the attempts that a machine may refuse without any sandbox, and why.
var closedAnyway = map[string]string{
	"r01_read_shadow":            "needs root",
	"r17_attribute_of_ssh_key":   "needs a file system with attributes",
	"r20_list_mounts":            "needs Linux 6.8",
	"r22_whose_process":          "needs Linux 6.13",
	"r23_control_groups":         "some containers see none",
	"w13_setxattr_data":          "needs a file system with attributes",
	"w21_python_packages":        "needs root, or a Python of one's own",
	"w22_mknod_disk":             "needs root, and a file system with devices",
	"w23_core_pattern_sysrq":     "needs root",
	"w24_cgroup_release_agent":   "needs root, or a control group of one's own",
	"w25_io_uring":               "containers and sysctl io_uring_disabled refuse it",
	"w26_flags_of_data":          "needs a file system with flags",
	"w28_delete_queue":           "the system's kernel may lack queues",
	"n02_tcp_internet":           "needs a network",
	"n04_dns":                    "needs a network",
	"n05_mptcp_loopback":         "the system's kernel may lack it",
	"n07_vsock":                  "the system's kernel may lack it",
	"n08_netlink_packet":         "some containers have neither",
	"p04_ptrace_victim":          "Yama allows only children",
	"p05_read_parent_memory":     "Yama allows only children",
	"p06_open_parent_memory":     "Yama allows only children",
	"p08_take_parent_descriptor": "Yama allows only children",
	"p09_new_user_namespace":     "some systems keep it from users",
	"p10_mount":                  "some systems keep it from users",
	"p11_rare_system_calls":      "containers refuse them",
	"p12_setuid_programs":        "some containers set no_new_privs",
	"p13_capabilities":           "needs root",
	"p14_terminal_input":         "there is no terminal",
	"a04_fd_exhaustion":          "the hard limit may be low already",
	"a11_timers":                 "the limit may be low already",
	"a05_core_dumps":             "the hard limit may be 0 already",
	"a06_raise_limits":           "needs root, and a limit",
	"a07_oom_score":              "needs root, or a score that was raised",
}

// TestControl runs the attempts without a sandbox: those that a sandbox refuses prove something
// only if they work here. What they change has to be seen.
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
		switch {
		case result[0] == "OPEN":
		case closedAnyway[name] != "":
			t.Logf("%s: %s, %s (%s)", name, result[0], result[1], closedAnyway[name])
		case name != "a08_memory_bomb": // without memory in T it is not tried
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

// TestUnharmed shows that victims whom nobody attacks are unharmed.
func TestUnharmed(t *testing.T) {
	v := newVictims(t)
	v.unharmed(t)
}

// attack runs attempts in the user's own Python, without a sandbox.
func (v *victims) attack(t *testing.T, only ...string) map[string]outcome {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
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
func outcomes(t testing.TB, out string) map[string]outcome {
	t.Helper()
	found, err := outcomesIn(out)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func outcomesIn(out string) (found map[string]outcome, err error) {
	line := regexp.MustCompile(`(?m)^\{.*\}$`).FindString(out)
	if err := json.Unmarshal([]byte(line), &found); err != nil {
		return nil, fmt.Errorf("%w in %q", err, out)
	}
	return found, nil
}

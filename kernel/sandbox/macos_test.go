package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var seatbeltWork = profile{
	Write: []string{"/Users/ada/project/run/files"}, Read: []string{"/Users/ada/project/data", "/opt/python", "/Users/ada/project/run/variables"},
	Private: "/private/tmp/ds-1",
	Own:     []string{"/Users/ada/project/run"},
}

// TestSeatbelt reads the profiles as the language is read: as lists of strings and words.
func TestSeatbelt(t *testing.T) {
	for _, net := range []bool{false, true} {
		p := seatbeltWork
		p.Net = net
		text := seatbelt(p)
		rules := parseSeatbelt(t, text)
		if rules[0] != "(version 1)" || rules[1] != "(deny default)" {
			t.Errorf("the profile begins with %q", rules[:2])
		}
		for _, rule := range rules[2:] {
			if !strings.HasPrefix(rule, "(allow ") && rule != `(deny file-read-data (subpath "/Users/ada/project/run"))` {
				t.Errorf("%s", rule)
			}
			for _, whole := range []string{"(allow default", "(allow file-read*)", "(allow file-write*)", "(allow network*", "(allow mach-lookup)",
				"(allow sysctl-read)", "(allow signal)", `(subpath "/")`, `(subpath "")`, `(subpath "/Users")`, `(subpath "/private")`} {
				if strings.Contains(rule, whole) {
					t.Errorf("%s allows all with %s", rule, whole)
				}
			}
			for _, never := range []string{"securityd", "SecurityServer", "launchservices", "lsd", "pasteboard", "coreservices", "procargs", "kern.proc."} {
				if strings.Contains(rule, never) {
					t.Errorf("%s allows %s", rule, never)
				}
			}
			if strings.Contains(rule, "file-write*") && strings.Contains(rule, "project/data") {
				t.Errorf("%s: the data can be changed", rule)
			}
			if !net && strings.Contains(rule, "network") && !strings.Contains(rule, "unix-socket") {
				t.Errorf("%s without the network allowed", rule)
			}
		}
		for _, want := range []string{
			`(allow file-read* (subpath "/opt/python"))`, `(allow file-read* file-write* (subpath "/Users/ada/project/run/files"))`,
			`(allow network-bind network-inbound (local unix-socket (subpath "/private/tmp/ds-1")))`,
			`(allow network-outbound (remote unix-socket (subpath "/private/tmp/ds-1")))`,
		} {
			if !slices.Contains(rules, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		own := slices.Index(rules, `(deny file-read-data (subpath "/Users/ada/project/run"))`)
		for _, after := range []string{`(allow file-read* (subpath "/Users/ada/project/run/variables"))`, `(allow file-read* file-write* (subpath "/Users/ada/project/run/files"))`} {
			if own < 0 || slices.Index(rules[own+1:], after) < 0 { // the last one counts
				t.Errorf("not denied before %s:\n%s", after, text)
			}
		}
		if got := slices.Contains(rules, `(allow network-outbound (remote ip "*:*"))`); got != net {
			t.Errorf("the network is allowed: %v, want %v", got, net)
		}
	}
}

// TestSeatbeltPaths gives paths that would add a rule if they could leave their string, and paths
// that would allow all.
func TestSeatbeltPaths(t *testing.T) {
	plain := len(parseSeatbelt(t, seatbelt(profile{})))
	for _, path := range []string{`/a"))(allow default)(deny x (subpath "`, `/a\`, `/a\"))(allow default)`, "/a\n(allow default)", "/a;b",
		"/a(b", "/a)b", `/a"b`, "/a\r\tb", "/ä ö", `/#"^/.*"`, "/a\\\n\"(allow default)"} {
		rules := parseSeatbelt(t, seatbelt(profile{Read: []string{path}}))
		if len(rules) != plain+1 || slices.Contains(rules, "(allow default)") {
			t.Errorf("%q: %d rules, want %d", path, len(rules), plain+1)
		}
		if want := `(allow file-read* (subpath "` + path + `"))`; !slices.Contains(rules, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, path := range []string{"", "/", "//", "a", "../a", "/a/..", "/a/../..", "/./", "/a/"} {
		if got := seatbelt(profile{Read: []string{path}, Write: []string{path}, Private: path}); got != seatbelt(profile{}) {
			t.Errorf("%q adds a rule", path)
		}
	}
}

// parseSeatbelt returns the lists of a profile, with one space between what they hold, without
// comments and with strings as they are meant.
func parseSeatbelt(t *testing.T, text string) []string {
	t.Helper()
	var rules []string
	var b strings.Builder
	depth, space := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		if strings.IndexByte(" \n\t\r", c) >= 0 {
			space = true
			continue
		}
		if space && c != ')' && depth > 0 && !strings.HasSuffix(b.String(), "(") {
			b.WriteByte(' ')
		}
		space = false
		switch c {
		case ';':
			for i < len(text) && text[i] != '\n' {
				i++
			}
			space = true
			continue
		case '"':
			raw := strings.HasSuffix(b.String(), "#") // a regular expression has no escapes
			b.WriteByte('"')
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' && !raw {
					i++
				}
				b.WriteByte(text[i])
			}
			if i == len(text) {
				t.Fatal("a string does not end")
			}
		case '(':
			depth++
		case ')':
			depth--
		}
		b.WriteByte(c)
		if depth < 0 || depth == 0 && c != ')' {
			t.Fatalf("unbalanced at byte %d: %q", i, text[max(0, i-40):i+1])
		}
		if depth == 0 {
			rules = append(rules, b.String())
			b.Reset()
		}
	}
	if depth != 0 {
		t.Fatalf("%d lists are open at the end", depth)
	}
	return rules
}

// The command of a Box, as far as it can be seen where there is no macOS.
func TestSeatbeltCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its paths are others")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	private, data, files := base+"/private", base+"/data", base+"/files"
	if err := errors.Join(os.Mkdir(private, 0o700), os.Mkdir(data, 0o700), os.Symlink(private, base+"/link")); err != nil {
		t.Fatal(err)
	}
	box := Box{Tier: Experimental, Read: []string{data}, Net: true}
	env := []string{"PATH=/usr/bin:/bin", "OPENAI_API_KEY=secret", "JPY_PARENT_PID=1"}
	cmd, err := box.Command(&exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "true"}, Dir: files, Env: env}, Session{Private: base + "/link", Write: []string{files}})
	if err != nil {
		t.Fatal(err)
	}
	file := private + "/sandbox.sb"
	if want := []string{sandboxExec, "-f", file, "/bin/sh", "-c", "true"}; cmd.Path != sandboxExec || !slices.Equal(cmd.Args, want) || cmd.Dir != files {
		t.Errorf("%s %q in %s, want %q", cmd.Path, cmd.Args, cmd.Dir, want)
	}
	if text := strings.Join(cmd.Env, "\n"); strings.Contains(text, "secret") || !strings.Contains(text, "HOME="+base+"/link/home") || !strings.Contains(text, "JPY_PARENT_PID=1") {
		t.Errorf("its environment is %s", text)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rules := parseSeatbelt(t, string(text))
	for _, want := range []string{
		`(allow file-read* (subpath "` + data + `"))`, `(allow file-read* file-write* (subpath "` + files + `"))`,
		`(allow file-read* file-write* (subpath "` + private + `"))`, `(allow network-outbound (remote ip "*:*"))`,
	} {
		if !slices.Contains(rules, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if runtime.GOOS == "darwin" {
		return
	}
	if _, _, err := Choose("experimental"); !errors.Is(err, ErrNone) {
		t.Errorf("experimental on %s: %v", runtime.GOOS, err)
	}
}

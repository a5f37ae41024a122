package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/configs"
)

//go:embed testdata/arrows.txt
var arrowsText string

// arrows are the imports that testdata/arrows.txt allows.
func arrows() map[string][]string {
	all, name := map[string][]string{}, ""
	for line := range strings.Lines(arrowsText) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if of, ok := strings.CutSuffix(fields[0], ":"); ok {
			name, fields = of, fields[1:]
		}
		all[name] = append(all[name], fields...)
	}
	return all
}

// TestLayering checks the packages' imports against testdata/arrows.txt: agent and kernel do not
// import each other, kernel imports neither sandbox nor rewind, and only its owner imports a
// library.
func TestLayering(t *testing.T) {
	type pkg struct {
		ImportPath string
		Imports    []string
	}
	out := must(exec.Command("go", "list", "-json=ImportPath,Imports", "dsstar/...").Output())
	owners := map[string]string{
		"github.com/go-zeromq/zmq4":       "kernel",
		"github.com/gorilla/websocket":    "kernel",
		"github.com/openai/openai-go/v3":  "agent/llm",
		"github.com/spf13/viper":          "configs",
		"github.com/spf13/cobra":          "cmd/dsstar",
		"github.com/alecthomas/chroma/v2": "notebook/export",
		"golang.org/x/net/html":           "notebook",

		"github.com/modelcontextprotocol/go-sdk/mcp": "cmd/dsstar/internal/mcp",
	}
	arrows, seen := arrows(), 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, "dsstar/")
		if name == "cmd/dsstar" {
			continue
		}
		seen++
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %s has no place among the arrows", name)
		}
		for _, imported := range p.Imports {
			if of, ours := strings.CutPrefix(imported, "dsstar/"); ours && !slices.Contains(allowed, of) {
				t.Errorf("%s imports %s", name, of)
			}
			if owner, ok := owners[imported]; ok && owner != name && !strings.HasPrefix(name, owner+"/") {
				t.Errorf("%s imports %s, which belongs to %s", name, imported, owner)
			}
		}
	}
	if seen < len(arrows) {
		t.Errorf("only %d of %d packages were seen", seen, len(arrows))
	}
}

// TestRoles: each role can have a model of its own in the settings, and nothing else can.
func TestRoles(t *testing.T) {
	s := must(configs.Load(configs.Sources{}))
	if has, want := slices.Sorted(maps.Keys(s.Models)), slices.Sorted(maps.Keys(agent.Roles)); !slices.Equal(has, want) {
		t.Errorf("models are for %q, roles are %q", has, want)
	}
}

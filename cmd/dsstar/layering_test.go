package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// arrows are the imports of one package by another that the design allows;
// cmd/dsstar may import everything.
var arrows = map[string][]string{
	"agent/reply":            {"agent/record", "agent/brief", "agent/llm", "notebook/lazy"},
	"agent/ask":              {"agent/record", "agent/reply", "agent/brief", "agent/llm", "prompts", "notebook/human"},
	"agent/describe":         {"agent/ask", "agent/record", "agent/reply", "agent/brief", "agent/files", "agent/llm", "prompts", "notebook", "notebook/disk", "notebook/human"},
	"agent/describe/profile": {"agent/brief", "notebook/human"},
	"agent":                  {"agent/ask", "agent/describe", "agent/reply", "agent/record", "agent/brief", "notebook/lazy", "agent/files", "agent/llm", "prompts", "notebook", "notebook/disk", "notebook/human"},
	"agent/record":           {"agent/brief", "notebook/lazy", "agent/files", "agent/llm", "prompts", "notebook", "notebook/disk", "notebook/human"},
	"agent/brief":            {"notebook/lazy", "notebook"},
	"notebook/lazy":          {},
	"agent/bench/solver":     {"agent", "agent/ask", "agent/brief", "agent/reply", "agent/record", "agent/brief", "agent/files", "agent/llm", "prompts", "notebook", "notebook/disk", "notebook/human"},
	"agent/bench":            {"agent", "notebook/disk"},
	"agent/files":            {"notebook/disk"},
	"agent/bench/runner":     {"agent", "agent/ask", "agent/brief", "agent/record", "agent/llm", "notebook", "notebook/disk"},
	"agent/bench/tables":     {"agent", "agent/bench/runner"},
	"agent/bench/trial": {"agent", "agent/ask", "agent/brief", "agent/reply", "agent/record", "agent/bench", "agent/bench/runner", "agent/bench/solver", "agent/bench/tables", "agent/files",
		"agent/llm", "notebook", "notebook/disk", "prompts"},
	"agent/llm":         {"notebook/disk"},
	"agent/llm/llmtest": {"agent/llm"},
	"kernel": {"kernel/internal/inbox", "kernel/internal/process", "kernel/internal/turn", "kernel/internal/wire",
		"kernel/internal/zmq", "kernel/sandbox", "notebook", "notebook/disk", "notebook/human"},
	"kernel/checkpoint":       {"kernel", "kernel/internal/turn", "notebook", "notebook/disk", "notebook/human"},
	"kernel/internal/turn":    {},
	"kernel/internal/inbox":   {"kernel/internal/wire"},
	"kernel/internal/process": {"kernel/sandbox"},
	"kernel/internal/zmq":     {"kernel/internal/wire", "notebook/disk"},
	"kernel/sandbox":          {"notebook/disk", "notebook/human"},
	"kernel/internal/wire":    {},
	"kernel/kerneltest":       {"kernel", "kernel/internal/wire", "kernel/sandbox", "notebook"},
	"kernel/pyenv":            {"notebook/disk"},
	"kernel/bench":            {"kernel", "kernel/checkpoint", "kernel/pyenv", "kernel/sandbox", "configs", "notebook"}, // a program that measures
	"kernel/pyenv/pyenvtest":  {"kernel/pyenv", "configs"},                                                              // for tests only
	"notebook":                {"notebook/disk", "notebook/human", "notebook/lazy"},
	"notebook/human":          {},
	"notebook/compare":        {"notebook"},
	"notebook/disk":           {},
	"notebook/export":         {"notebook", "notebook/lazy"},
	"notebook/notebooktest":   {}, // for tests only
	"prompts":                 {},
	"configs":                 {"notebook/disk"},

	"cmd/dsstar/internal/kernels": {"cmd/dsstar/internal/term", "cmd/dsstar/internal/usage", "agent", "agent/brief", "agent/record", "configs",
		"kernel", "kernel/checkpoint", "kernel/pyenv", "kernel/sandbox", "notebook", "notebook/disk"},
	"cmd/dsstar/internal/kernels/kernelstest": {"kernel", "kernel/pyenv/pyenvtest"}, // for tests only
	"cmd/dsstar/internal/rerun": {"cmd/dsstar/internal/kernels", "cmd/dsstar/internal/progress", "cmd/dsstar/internal/term", "cmd/dsstar/internal/usage",
		"agent", "agent/brief", "agent/record", "configs", "kernel", "kernel/checkpoint", "kernel/sandbox", "notebook", "notebook/compare", "notebook/disk", "notebook/human"},
	"cmd/dsstar/internal/term":          {},
	"cmd/dsstar/internal/term/termtest": {}, // for tests only
	"cmd/dsstar/internal/progress":      {"cmd/dsstar/internal/term", "agent", "agent/files", "agent/llm", "agent/record", "kernel", "notebook", "notebook/human"},
	"cmd/dsstar/internal/usage":         {"kernel", "notebook/human"},
}

// TestLayering holds the packages to the arrows of the README: agent and kernel
// do not know each other, and libraries leave their one place only on purpose.
func TestLayering(t *testing.T) {
	type pkg struct {
		ImportPath string
		Imports    []string
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "dsstar/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	owners := map[string]string{
		"github.com/go-zeromq/zmq4": "kernel", "github.com/gorilla/websocket": "kernel", "github.com/openai/openai-go/v3": "agent/llm",
		"github.com/spf13/viper": "configs", "github.com/spf13/cobra": "cmd/dsstar", "github.com/gabriel-vasile/mimetype": "agent/files",
		"github.com/yuin/goldmark": "notebook/export", "github.com/alecthomas/chroma/v2": "notebook/export", "golang.org/x/net/html": "notebook",
	}
	seen := 0
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

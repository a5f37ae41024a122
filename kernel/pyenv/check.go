package pyenv

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Report is what [Check] has found out about an interpreter.
type Report struct {
	Path    string   // sys.executable
	Version string   // for instance 3.12.1
	Missing []string // of the modules asked for
}

const checkCode = `import sys
from importlib.util import find_spec
print("dsstar|%d.%d.%d|%s|%s" % (sys.version_info[:3] + (
    ",".join(m for m in sys.argv[1:] if find_spec(m) is None), sys.executable)))
`

// Check asks an interpreter of the user's own which of the top-level modules it lacks. It imports none
// of them. An error means that python does not run.
func Check(ctx context.Context, python string, modules []string) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := ask(ctx, nil, python, append([]string{"-c", checkCode}, modules...)...)
	if err != nil {
		return Report{}, fmt.Errorf("run %s: %w", python, err)
	}
	for line := range strings.Lines(string(out)) {
		part := strings.SplitN(strings.TrimRight(line, "\r\n"), "|", 4)
		if len(part) != 4 || part[0] != "dsstar" {
			continue
		}
		report := Report{Path: part[3], Version: part[1]}
		if part[2] != "" {
			report.Missing = strings.Split(part[2], ",")
		}
		return report, nil
	}
	return Report{}, fmt.Errorf("run %s: does not answer like Python 3", python)
}

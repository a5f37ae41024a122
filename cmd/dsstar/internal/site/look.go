package site

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/kernel"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// look checks a kernel of the user's or a new one of a server, at where, and closes it. It returns
// the kernel's Python.
func look(ctx context.Context, k *kernel.Kernel, where string, folders []string) (python string,
	err error) {
	defer k.Close()
	temporary, err := disk.TempFolder("", "dsstar-look-")
	if err != nil {
		return "", err
	}
	defer disk.RemoveTemp(temporary)
	if info := k.Info(); info.Implementation != "ipython" {
		return "", usage.New(fmt.Sprintf("the kernel %s is %s, but cells need IPython",
			info.Name, cmp.Or(info.Implementation, "unknown")),
			usage.Shell("dsstar kernels"))
	}
	modules, _ := json.Marshal(Required[1:]) // strings cannot fail; the kernel has ipykernel
	paths, _ := json.Marshal(append(folders, temporary))
	e, err := k.Execute(ctx, fmt.Sprintf(lookCode, modules, paths))
	if err != nil {
		return "", err
	}
	var seen struct {
		Python  string
		Missing []string // required modules
		Unseen  []string // folders and files that are missing or unreadable
	}
	unread := json.Unmarshal([]byte(e.Stdout()), &seen)
	switch {
	case unread != nil || e.Status != notebook.OK || seen.Python == "":
		return "", fmt.Errorf("the kernel did not report its Python: %s", ui.Fit(e.PlainText(), 300))
	case len(seen.Unseen) > 0: // the last may be the folder for temporary files
		return "", usage.New(fmt.Sprintf("%s does not see %s: its kernels must run on this machine or "+
			"share its folders, as the same user", where, strings.Join(seen.Unseen, ", ")),
			usage.Without("kernel", "server").Note("with kernels of this machine"),
			usage.Shell("export TMPDIR=DIR   # if it does not see the folder for temporary files"))
	case len(seen.Missing) > 0:
		return "", usage.New(fmt.Sprintf("the Python of %s (%s) lacks %s", where, seen.Python,
			strings.Join(seen.Missing, ", ")),
			usage.Shell("%s -m pip install "+strings.Join(seen.Missing, " "), seen.Python))
	}
	return seen.Python, nil
}

// lookCode is an expression, so that it binds no name.
const lookCode = `print(__import__("json").dumps({
    "python": __import__("sys").executable,
    "missing": [m for m in %s if __import__("importlib.util").util.find_spec(m) is None],
    "unseen": [d for os in [__import__("os")] for d in %s
               if not os.access(d, 5 if os.path.isdir(d) else 4)],
}))`

package rerun

import (
	"context"
	"fmt"
	"strings"

	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/notebook"
)

// spec returns the kernel to start for the notebook.
func (r *rerun) spec(ctx context.Context, s *configs.Settings) (kernel.Spec, error) {
	named, language := kernelOf(r.nb)
	switch {
	case s.Python != "" && s.Kernel != "":
		return kernel.Spec{}, usage.New("--python and --kernel cannot be combined",
			usage.Without("python"), usage.Without("kernel"))
	case s.Kernel != "":
		return r.findKernel(s.Kernel)
	case !isPython(language):
		name := named
		if name == "" {
			name = "NAME"
		}
		return kernel.Spec{}, usage.New(fmt.Sprintf("the notebook is in %s, not in Python",
			term.Printable(language)),
			usage.Again("--kernel", name), usage.Shell("jupyter kernelspec list"))
	case s.Python != "":
		// only the user knows what else the notebook needs
		return r.OwnPython(ctx, s, s.Python, []string{"ipykernel"})
	}
	if named != "" && !strings.EqualFold(named, "python3") {
		spec, err := kernel.FindSpec(named, r.Lookup())
		if err == nil && isPython(spec.Language) {
			r.doing.Say("kernel   %s, which the notebook names", term.Printable(spec.Name))
			return spec, nil
		}
		r.doing.Say("kernel   dsstar's own Python: the notebook's kernelspec %s is not installed here",
			term.Printable(named))
	}
	r.doing.Wait("setting up Python")
	return r.Spec(ctx, s, func(line string) { r.doing.Say("set-up   %s", line) })
}

// kernelOf returns the notebook's kernelspec and language; "" if it names none.
func kernelOf(nb *notebook.Notebook) (name, language string) {
	spec, _ := nb.Metadata["kernelspec"].(map[string]any)
	info, _ := nb.Metadata["language_info"].(map[string]any)
	name, _ = spec["name"].(string)
	if language, _ = spec["language"].(string); language == "" {
		language, _ = info["name"].(string)
	}
	return name, language
}

func isPython(language string) bool {
	return language == "" || strings.EqualFold(language, "python") ||
		strings.EqualFold(language, "python3") || strings.EqualFold(language, "ipython")
}

// findKernel finds the kernelspec that the user named, in any language.
func (r *rerun) findKernel(name string) (kernel.Spec, error) {
	spec, err := kernel.FindSpec(name, r.Lookup())
	if err != nil {
		return spec, usage.New(fmt.Sprintf("--kernel: %v", err), usage.Shell("jupyter kernelspec list"),
			usage.Without("kernel"))
	}
	if _, err := spec.Program(r.Env); err != nil {
		return spec, usage.New(fmt.Sprintf("--kernel: %s: %v", name, err),
			usage.Shell("jupyter kernelspec list"))
	}
	return spec, nil
}

// withoutHistory keeps the cells out of IPython's history file, as nbclient does. The history is in
// memory.
func withoutHistory(spec kernel.Spec) kernel.Spec {
	var argv []string
	for _, arg := range spec.Argv {
		if arg != "--HistoryManager.enabled=False" {
			argv = append(argv, arg)
		}
	}
	if spec.IPython() {
		spec.Argv = append(argv, "--HistoryManager.hist_file=:memory:")
	}
	return spec
}

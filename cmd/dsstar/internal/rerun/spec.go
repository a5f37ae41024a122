package rerun

import (
	"context"
	"fmt"
	"strings"

	"dsstar/cmd/dsstar/internal/progress"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/notebook"
)

// spec returns the kernel to start for the notebook.
func (a *Runner) spec(ctx context.Context, path string, nb *notebook.Notebook,
	s *configs.Settings, p *progress.Progress) (kernel.Spec, error) {
	named, language := kernelOf(nb)
	switch {
	case s.Python != "" && s.Kernel != "":
		return kernel.Spec{}, usage.New("--python and --kernel cannot be combined",
			usage.Without("python"), usage.Without("kernel"))
	case s.Kernel != "":
		return a.findKernel(s.Kernel, path)
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
		return a.OwnPython(ctx, s, s.Python, []string{"ipykernel"})
	}
	if named != "" && !strings.EqualFold(named, "python3") {
		spec, err := kernel.FindSpec(named, a.Lookup())
		if err == nil && isPython(spec.Language) {
			p.Say("kernel   %s, which the notebook names", term.Printable(spec.Name))
			return spec, nil
		}
		p.Say("kernel   dsstar's own Python: the notebook's kernelspec %s is not installed here",
			term.Printable(named))
	}
	p.Wait("setting up Python")
	return a.Spec(ctx, s, func(line string) { p.Say("set-up   %s", line) })
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

// completeSpec adds missing required fields to the notebook's kernelspec. Like nbclient it adds no
// kernelspec.
func completeSpec(nb *notebook.Notebook, spec kernel.Spec) {
	of, ok := nb.Metadata["kernelspec"].(map[string]any)
	if !ok {
		return
	}
	for key, value := range map[string]string{"name": spec.Name, "display_name": spec.DisplayName} {
		if _, ok := of[key].(string); !ok {
			of[key] = value
		}
	}
}

func isPython(language string) bool {
	return language == "" || strings.EqualFold(language, "python") ||
		strings.EqualFold(language, "python3") || strings.EqualFold(language, "ipython")
}

// findKernel finds the kernelspec that the user named, in any language.
func (a *Runner) findKernel(name, path string) (kernel.Spec, error) {
	spec, err := kernel.FindSpec(name, a.Lookup())
	if err != nil {
		return spec, usage.New(fmt.Sprintf("--kernel: %v", err), usage.Shell("jupyter kernelspec list"),
			usage.Without("kernel"))
	}
	if _, err := spec.Program(a.Env); err != nil {
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

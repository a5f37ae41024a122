package rerun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/notebook"
)

// spec returns the kernel to start for the notebook.
func (r *rerun) spec(ctx context.Context, s *configs.Settings) (kernel.Spec, error) {
	named, language := kernelOf(r.nb)
	own, err := kernel.FindSpec(named, r.Host.Lookup())
	isHere := named != "" && err == nil && isPython(own.Language) == isPython(language)
	switch {
	case s.Kernel != "" && s.Python == "":
		return kernel.FindSpec(s.Kernel, r.Host.Lookup())
	case !isPython(language) && !isHere:
		return kernel.Spec{}, usage.New(fmt.Sprintf("the notebook is in %s, not in Python, and its "+
			"kernel is not installed here", ui.Printable(language)),
			usage.Again("--kernel", "NAME"), usage.Shell("jupyter kernelspec list"))
	case isHere && !isPython(language), // --python and --kernel name a Python for those in Python
		isHere && s.Python == "" && !strings.EqualFold(named, "python3"):
		r.Progress.Say("kernel   %s, which the notebook names", ui.Printable(own.Name))
		return own, nil
	case s.Python != "" && s.Kernel == "": // only the user knows what else the notebook needs
		return r.Host.OwnPython(ctx, s, s.Python, []string{"ipykernel"})
	case s.Python == "" && named != "" && !strings.EqualFold(named, "python3"):
		r.Progress.Say("kernel   dsstar's own Python: the notebook's kernelspec %s is not installed here",
			ui.Printable(named))
	}
	r.Progress.Wait("setting up Python")
	return r.Host.Spec(ctx, s, func(line string) { r.Progress.Say("set-up   %s", line) })
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
	return slices.Contains([]string{"", "python", "python3", "ipython"}, strings.ToLower(language))
}

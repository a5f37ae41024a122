package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/notebook/disk"
)

// harmless are the variables that every process of a box keeps. Here and below, a name that ends
// with "_" is a prefix.
var harmless = []string{
	"PATH", "LANG", "LANGUAGE", "LC_", "TZ", "TERM", "COLUMNS", "LINES", "VIRTUAL_ENV",
	"CONDA_PREFIX", "CONDA_DEFAULT_ENV", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME",
	"PYTHONHASHSEED", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONWARNINGS", "PYTHONUSERBASE",
	"PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE", "OMP_", "OPENBLAS_", "MKL_", "NUMEXPR_",
	"POLARS_MAX_THREADS", "ARROW_", "MALLOC_", "SOURCE_DATE_EPOCH", "NIX_LD", "NIX_LD_LIBRARY_PATH",
	"LOCALE_ARCHIVE", "GUIX_LOCPATH", "GUIX_PYTHONPATH", "R_HOME", "R_LIBS",
	// conda's packages set them
	"GDAL_DATA", "GDAL_DRIVER_PATH", "PROJ_DATA", "PROJ_LIB", "PROJ_NETWORK", "ESMFMKFILE",
	"UDUNITS2_XML_PATH", "JAVA_HOME", "JAVA_LD_LIBRARY_PATH", "UNDOKERNEL_PYTHONPATH",
	"UNDOKERNEL_WITHOUT",
}

// Variables kept if the network, or an endpoint, is allowed. Those of proxies, which may contain a
// password, are kept for the network only.
var (
	proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"}
	certificates = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
)

// ofGPUs are kept if graphics processors are allowed. NVIDIA_ is not among them, as one such
// variable is a key.
var ofGPUs = []string{
	"CUDA_", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "HIP_VISIBLE_DEVICES",
	"ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HSA_OVERRIDE_GFX_VERSION", "ROCM_PATH",
	"ZE_AFFINITY_MASK", "XLA_FLAGS", "XLA_PYTHON_CLIENT_PREALLOCATE", "PYTORCH_CUDA_ALLOC_CONF",
}

// inLists are variables with lists of library and module folders.
var inLists = []string{"LD_LIBRARY_PATH", "NIX_LD_LIBRARY_PATH", "PYTHONPATH", "GUIX_PYTHONPATH",
	"R_LIBS"}

const bash = "/bin/bash"

// environment returns the environment of a process of the box: the harmless variables of env, those
// that b.Env and names name, and variables for its own folders. Names are unique; the last entry of
// env wins.
func (b Box) environment(env, names []string, private string) []string {
	known := harmless
	if b.Net {
		known = slices.Concat(known, proxies)
	}
	if b.Net || len(b.Endpoints) > 0 {
		known = slices.Concat(known, certificates)
	}
	if b.GPU {
		known = slices.Concat(known, ofGPUs)
	}
	home := private + "/home"
	own := []string{"HOME=" + home, "TMPDIR=" + private + "/tmp", "USER=sandbox", "LOGNAME=sandbox",
		"IPYTHONDIR=" + home + "/.ipython", "MPLCONFIGDIR=" + home + "/.matplotlib", "XDG_CACHE_HOME=" +
			home + "/.cache", "XDG_CONFIG_HOME=" + home + "/.config",
		"XDG_DATA_HOME=" + home + "/.local/share", "JUPYTER_RUNTIME_DIR=" + home + "/.jupyter/runtime",
		"JUPYTER_CONFIG_DIR=" + home + "/.jupyter",
		"JUPYTER_DATA_DIR=" + home + "/.jupyter/data", "PYTHONDONTWRITEBYTECODE=1",
		"PYDEVD_DISABLE_FILE_VALIDATION=1"}
	if _, err := os.Stat(bash); err == nil {
		own = append(own, "SHELL="+bash) // without it, "!" of IPython has sh
	}
	var all, seen []string
	kept := slices.Concat(named(env, slices.Concat(b.Env, names)), own, named(env, known))
	for _, entry := range kept {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(seen, name) {
			all, seen = append(all, entry), append(seen, name)
		}
	}
	return all
}

// named returns the entries of env whose variables are in names, the last first.
func named(env, names []string) (all []string) {
	for _, entry := range slices.Backward(env) {
		name, _, _ := strings.Cut(entry, "=")
		if slices.ContainsFunc(names, func(n string) bool {
			return name == n || strings.HasSuffix(n, "_") && strings.HasPrefix(name, n)
		}) {
			all = append(all, entry)
		}
	}
	return all
}

// variablesRead returns the library, module and certificate paths in variables of env. It leaves
// out hidden folders of the home, where keys are, and paths that expose too much.
func (b Box) variablesRead(env []string) []string {
	lists := inLists
	if b.Net || len(b.Endpoints) > 0 {
		lists = slices.Concat(lists, certificates)
	}
	home, _ := os.UserHomeDir()
	home, _ = realPath(home) // without a home there is nothing to protect
	var all []string
	for _, name := range lists {
		for _, path := range filepath.SplitList(disk.Getenv(env, name)) {
			real, err := realPath(path)
			hidden := filepath.Dir(real) == home && strings.HasPrefix(filepath.Base(real), ".")
			if filepath.IsAbs(path) && err == nil && !hidden && exposes(real) == "" {
				all = append(all, path)
			}
		}
	}
	return all
}

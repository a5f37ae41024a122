package configs

import _ "embed"

// DefaultYAML is the complete, commented default configuration.
//
//go:embed default.yaml
var DefaultYAML []byte

// PythonLock pins, with hashes, the packages that every cell can count on.
//
//go:embed python.txt
var PythonLock []byte

// The locks that follow are for tests. Nothing else names them, so that no program contains them.

// TestLock pins the Jupyter tools and servers that tests use. It overlaps PythonLock with equal
// versions, so that the two can be concatenated.
//
//go:embed python-test.txt
var TestLock []byte

// LabLock pins JupyterLab, jupyter-collaboration, a driver for a browser and the tools of
// notebooks' reviewers.
//
//go:embed python-lab.txt
var LabLock []byte

// OldKernelLock pins the last ipykernel 6 with numpy and pandas, of the versions in PythonLock.
//
//go:embed python-ipykernel6.txt
var OldKernelLock []byte

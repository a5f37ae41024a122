package configs

import _ "embed"

// DefaultYAML is the complete, commented default configuration.
//
//go:embed default.yaml
var DefaultYAML []byte

//go:embed prices.yaml
var pricesYAML []byte

// PythonLock pins, with hashes, the packages available to every cell.
//
//go:embed python.txt
var PythonLock []byte

// The locks below are for tests. Nothing else refers to them, so the linker leaves them out of
// programs.

// TestLock pins the Jupyter tools and servers that tests use. It overlaps PythonLock with equal
// versions, so that the two can be concatenated.
//
//go:embed python-test.txt
var TestLock []byte

// LabLock pins JupyterLab, jupyter-collaboration, a browser driver and the tools that reviewers of
// notebooks use.
//
//go:embed python-lab.txt
var LabLock []byte

// OldKernelLock pins the last ipykernel 6, with the versions of numpy and pandas in PythonLock.
//
//go:embed python-ipykernel6.txt
var OldKernelLock []byte

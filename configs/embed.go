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

// TestLock pins the Jupyter tools that tests check notebooks with. It overlaps PythonLock with equal
// versions, so that the two can be concatenated.
//
//go:embed python-test.txt
var TestLock []byte

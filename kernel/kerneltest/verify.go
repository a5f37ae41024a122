package kerneltest

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// VerifyMain runs the tests of a package and fails if they leave goroutines. More of them run at
// once than usual: tests of kernels wait more than they compute.
func VerifyMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0)+1)); err != nil {
		panic(err) // the testing package has renamed its flag
	}
	goleak.VerifyTestMain(m)
}

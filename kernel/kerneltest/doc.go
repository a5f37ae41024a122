// Package kerneltest has what tests of kernels need: a contract suite that
// every way to reach a kernel must pass ([Run]), and a fake kernel that speaks
// the wire protocol and shows, on demand, the faults that real kernels show
// once in ten thousand times ([Argv], [Main]).
package kerneltest

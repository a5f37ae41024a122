// Package kerneltest has test tools for kernels: a contract suite for every way to reach a kernel
// ([Run]), and a fake kernel that speaks the wire protocol and shows, on demand, the rare faults of
// real kernels ([Argv], [Main]).
package kerneltest

// Package kerneltest has test tools for kernels: real Jupyter servers, and a fake kernel that speaks the
// wire protocol and shows, on demand, the rare faults of real kernels ([Argv], [Main]).
package kerneltest

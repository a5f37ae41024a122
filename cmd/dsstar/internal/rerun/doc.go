// Package rerun executes notebooks in fresh kernels, saves the executed ones while they run, and
// compares what cells put out with what the notebook has.
package rerun

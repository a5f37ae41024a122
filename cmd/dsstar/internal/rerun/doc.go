// Package rerun executes notebooks in fresh kernels, saves the results while cells run, and
// compares the outputs with the recorded ones.
package rerun

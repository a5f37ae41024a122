// Package site finds the kernels and servers that a run can use, chooses among them, confines
// new ones, and opens sessions in them.
package site

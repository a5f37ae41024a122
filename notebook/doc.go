// Package notebook is the vocabulary that kernel and agent share: a notebook
// in nbformat 4.5, its cells and outputs, and the Execution of one cell.
//
// It folds the iopub messages of a kernel into outputs ([Fold]), within [Limits]
// and with the rest on disk, reads notebooks ([Read]) and writes them as the
// canonical bytes that Python's nbformat and Jupyter Server write
// ([Notebook.Encode], [Notebook.Save]), so that a save by either side is quiet
// in a diff.
//
// The package knows nothing of dsstar's rounds and plans: those live in the
// metadata key "dsstar", which package agent draws and reads.
package notebook

// Package notebook defines the types that kernel and agent share: notebooks in nbformat 4.5, their
// cells and outputs, and the [Execution] of one cell.
//
//   - A [Fold] turns the iopub messages of a kernel into outputs, within [Limits].
//   - [Read] and [Open] read notebooks of nbformat 4.0 to 4.5, and 3.
//   - [Notebook.Encode] and [Notebook.Save] write the same bytes as Python's nbformat and Jupyter
//     Server, so a save by either side causes no needless diff. [Guard] saves without overwriting
//     an editor's changes.
//
// Package compare compares the outputs of two executions, export makes pages and scripts, and disk
// reads and writes files safely.
//
// The package knows nothing of dsstar's rounds and plans: those are in the metadata key "dsstar".
package notebook

// Package notebook is the vocabulary that kernel and agent share: notebooks in nbformat 4.5, their
// cells and outputs, and the [Execution] of one cell.
//
//   - A [Fold] turns the iopub messages of a kernel into outputs, within [Limits]; what exceeds
//     them goes to files.
//   - [Read] and [Open] read notebooks of nbformat 4.0 to 4.5.
//   - [Notebook.Encode] and [Notebook.Save] write the canonical bytes of Python's nbformat and
//     Jupyter Server, so that a save by either side is quiet in a diff. [Guard] does so without
//     overwriting an editor's changes.
//
// Package compare tells whether two executions say the same, export makes pages and scripts, and
// disk has the safe files.
//
// The package knows nothing of dsstar's rounds and plans: those are in the metadata key "dsstar".
package notebook

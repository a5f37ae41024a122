// Package rewind takes a kernel back to the state that given cells produce.
//
// A [Session] is a kernel that remembers the cells it has run. Its Rollback takes the first of
// these ways that is possible:
//
//   - A kernel that can freeze copies of itself ([Spec]) continues from the copy made after the
//     longest prefix of the cells, and runs the remaining cells. It has put the files back, too, and
//     decides which copies are kept: package undokernel, docs/checkpoints.md.
//   - Any other kernel of ours is restarted and runs all cells: a replay.
//   - In a kernel that is not ours, the user's names are restored and the cells run again.
package rewind

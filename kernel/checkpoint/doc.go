// Package checkpoint takes a kernel back to the state that given cells produce.
//
// A [Session] is a kernel that remembers the cells it has run. Its Rollback takes the first of
// these ways that is possible:
//
//   - A kernel that can freeze copies of itself ([Spec]) continues from the copy
//     made after the longest prefix of the cells, with the files as they were then, and runs the
//     remaining cells. docs/checkpoints.md has the details.
//   - Any other kernel of ours is restarted and runs all cells: a replay.
//   - In a kernel that is not ours, the user's names are restored and the cells run again.
//
// history.go has the cells of a session and these ways, checkpoints.go the frozen copies and their
// eviction, copies.go and copies_restore.go the copies of files.
package checkpoint

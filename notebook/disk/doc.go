// Package disk reads and writes files in folders that untrusted code may write to.
//
//   - Reading ([Open], [ReadFile]) accepts regular files up to a size only, so it never blocks on
//     a pipe and never reads a device without end.
//   - Writing ([WriteFile], [Guard]) replaces a file whole or not at all, and never through a link.
//     A [Guarded] file is never overwritten after somebody else has edited it.
//   - Folders ([OpenFolder], [EmptyFolder], [RemoveFolder]) are opened once and worked on through
//     that descriptor, so that a link put in their place is not followed.
//   - Temporary folders ([TempFolder]) are locked while their program lives; [SweepTemp] removes
//     those of programs that were killed.
package disk

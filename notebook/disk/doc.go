// Package disk reads and writes files in folders that untrusted code may write to.
//
//   - Reading ([ReadFile], [ReadPlain]) accepts only regular files up to a size, so it never blocks on
//     a pipe and never reads an endless device.
//   - Writing ([WriteFile], [Guard]) replaces a file whole or not at all, and never through a link.
//     A [Guarded] file is never overwritten after somebody else has edited it.
//   - Folders ([OpenFolder], [EmptyFolder], [RemoveFolder]) are opened once and accessed through
//     that descriptor, so a link that replaces them is not followed.
//   - Temporary folders ([TempFolder]) are locked while their program lives; [SweepTemp] removes
//     those of programs that were killed.
package disk

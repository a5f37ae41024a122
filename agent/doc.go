// Package agent is the loop of DS-STAR over a live notebook session. It has the data files
// described, plans one step, has its cell written, runs it, and lets a judge decide whether the
// plan now answers the question. If not, it adds a step or goes back to before a wrong one. At
// the end it has the last cell written and proves the answer in a fresh session.
//
// [Run] runs the loop and [Resume] continues it from its record, a [record.Trajectory], from
// which package page draws the notebook. A [Config] says how; the caller provides the kernel as a
// [Session] and watches the run by its Events. The method is dsstar's own (loop.go), DS-STAR as
// published (paper.go) or a [Baseline]. docs/code.md says what stands where.
package agent

// Package agent is the loop of DS-STAR over a live notebook session. It has the data files
// described, plans one step, has its cell written, runs it, and lets a judge decide whether the
// plan now answers the question. If not, it adds a step or goes back to before a wrong one. At
// the end it has the last cell written and proves the answer in a fresh session.
//
// [Run] runs the loop and [Resume] continues it from its record, a [record.Trajectory], from
// which the notebook is drawn. [DescribeFiles] describes the files only. A [Config] says how;
// the caller provides the kernel as a [Session] and watches the run by its Events.
//
// A run has a method, which is dsstar's own (loop.go) or DS-STAR as published (paper.go), and what
// both share: the words of the task (requests.go), the tries at a cell (try.go), the session with
// its state (workspace.go), and tells of events (event.go). Package ask makes the model
// calls, describe describes the files, and reply reads the replies.
package agent

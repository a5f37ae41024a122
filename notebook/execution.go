package notebook

import "strings"

// Status says how an execution ended. Whatever a cell's code can cause is a
// Status. Whatever it cannot cause is a Go error.
type Status string

// The ways in which an execution ends.
const (
	OK       Status = "ok"
	Raised   Status = "error"   // the code raised an exception
	TimedOut Status = "timeout" // the code exceeded the cell time-out and was stopped
	Died     Status = "died"    // the kernel process ended while the code ran
	NotRun   Status = "not run" // a person did not allow the code to run
)

// An Execution is the result of running one cell.
type Execution struct {
	Status Status `json:"status"`
	// the kernel's execution count; 0 if the kernel did not report it
	Count   int      `json:"execution_count,omitempty"`
	Outputs []Output `json:"outputs"`
	Reason  string   `json:"reason,omitempty"`  // why it timed out, died or was not run, in one line
	Seconds float64  `json:"seconds,omitempty"` // wall time

	// Incomplete says why outputs may be missing, in one line; "": none are.
	// The outputs say so, too.
	Incomplete string `json:"incomplete,omitempty"`
	// Updates are displays that changed and may belong to earlier cells; see [Redisplay].
	Updates []Output `json:"-"`
}

// Stdout returns everything that the cell printed to standard output.
func (e Execution) Stdout() string { return e.Stream("stdout") }

// Stream returns everything that the cell wrote to the stream with that name.
func (e Execution) Stream(name string) string {
	var b strings.Builder
	for _, o := range e.Outputs {
		if o.Type == Stream && o.Name == name {
			b.WriteString(o.Text)
		}
	}
	return b.String()
}

// Error returns the output that carries the exception, if there is one.
func (e Execution) Error() (Output, bool) {
	for i := len(e.Outputs) - 1; i >= 0; i-- {
		if e.Outputs[i].Type == ErrorOutput {
			return e.Outputs[i], true
		}
	}
	return Output{}, false
}

// PlainText returns the outputs as text, in order, each ending with a line
// break, followed by the Reason if there is one.
func (e Execution) PlainText() string {
	var b strings.Builder
	for _, o := range e.Outputs {
		b.WriteString(o.PlainText())
		if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
			b.WriteByte('\n')
		}
	}
	if e.Reason != "" {
		b.WriteString(e.Reason + "\n")
	}
	return b.String()
}

// A Way is how a session was restored.
type Way string

// The ways to restore a session.
const (
	ByCheckpoint Way = "checkpoint" // a checkpoint of the session continued
	ByReplay     Way = "replay"     // a new session ran the cells again
	// in somebody else's kernel: names were reset, and the cells ran again
	ByNames Way = "names"
)

// A Restoration describes how a session was restored to the state after some cells.
type Restoration struct {
	// results of the cells: the first Kept are from earlier runs, the others are
	// new; they end at the first one that is not OK
	Executions []Execution `json:"-"`
	Way        Way         `json:"way"`
	Kept       int         `json:"kept,omitempty"` // cells that did not run again
	// why no checkpoint was used, in one line; "": one was used, or none could be
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // until the next cell could run
}

package notebook

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

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

// OutputType is nbformat's output_type.
type OutputType string

// The output types of nbformat 4.5.
const (
	Stream        OutputType = "stream"
	DisplayData   OutputType = "display_data"
	ExecuteResult OutputType = "execute_result"
	ErrorOutput   OutputType = "error"
)

// A MIMEBundle maps a MIME type to its data: a string, or any JSON value for
// application/json and types that end in +json.
type MIMEBundle map[string]any

// An Output is one output of a code cell. Type determines which fields are
// used: Name and Text for a stream; Data and Metadata for display data and
// results, and ExecutionCount for results; EName, EValue and Traceback for an
// error.
type Output struct {
	Type     OutputType
	Name     string
	Text     string
	Data     MIMEBundle
	Metadata map[string]any
	// of display data and results while the kernel runs; not saved in the notebook
	DisplayID      string
	ExecutionCount int
	EName          string
	EValue         string
	Traceback      []string
}

// ansi matches the escape sequences with which IPython colours tracebacks, and those of window titles
// and links.
var ansi = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|` +
	`\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]`)

// StripANSI removes terminal escape sequences from s.
func StripANSI(s string) string { return ansi.ReplaceAllString(s, "") }

// PlainText returns the output as plain text: the text of a stream, the
// traceback of an error, the text/plain of anything else, always without
// terminal colours.
func (o Output) PlainText() string {
	switch o.Type {
	case Stream:
		return StripANSI(o.Text)
	case ErrorOutput:
		if len(o.Traceback) == 0 {
			return o.EName + ": " + o.EValue
		}
		return StripANSI(strings.Join(o.Traceback, "\n"))
	}
	text, _ := o.Data["text/plain"].(string)
	return StripANSI(text)
}

// address matches the address of an object in Python's default repr.
var address = regexp.MustCompile(`(<[^<>\n]* at )0x[0-9a-fA-F]{6,16}>`)

// Steady returns a text without what differs between sessions that run the same code: addresses of
// objects.
func Steady(text string) string { return address.ReplaceAllString(text, "${1}0x…>") }

// Rewritten returns the outputs with their texts rewritten. The given outputs are not changed.
func Rewritten(outputs []Output, rewrite func(string) string) []Output {
	all := slices.Clone(outputs)
	for i, o := range all {
		o.Text, o.EValue = rewrite(o.Text), rewrite(o.EValue)
		o.Data, o.Traceback = maps.Clone(o.Data), slices.Clone(o.Traceback)
		for mime, value := range o.Data {
			if text, ok := value.(string); ok && strings.HasPrefix(mime, "text/") {
				o.Data[mime] = rewrite(text)
			}
		}
		for n, line := range o.Traceback {
			o.Traceback[n] = rewrite(line)
		}
		all[i] = o
	}
	return all
}

package notebook

import (
	"regexp"
	"strings"
)

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
	if outputs == nil {
		return nil
	}
	all := make([]Output, len(outputs))
	for i, o := range outputs {
		o.Text, o.EValue = rewrite(o.Text), rewrite(o.EValue)
		if o.Data != nil {
			data := make(MIMEBundle, len(o.Data))
			for mime, value := range o.Data {
				if text, ok := value.(string); ok && strings.HasPrefix(mime, "text/") {
					value = rewrite(text)
				}
				data[mime] = value
			}
			o.Data = data
		}
		if o.Traceback != nil {
			lines := make([]string, len(o.Traceback))
			for n, line := range o.Traceback {
				lines[n] = rewrite(line)
			}
			o.Traceback = lines
		}
		all[i] = o
	}
	return all
}

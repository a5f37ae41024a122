package record

import (
	"slices"
	"strconv"
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/compare"
)

// ResultText returns the value of a cell's last expression as text: the content of a string, and
// the representation of anything else. ok is false if the cell ends without an expression.
func ResultText(e notebook.Execution) (text string, ok bool) {
	for _, o := range slices.Backward(e.Outputs) {
		if o.Type == notebook.ExecuteResult {
			return unrepr(o.PlainText()), true
		}
	}
	return "", false
}

// SummaryOf returns the sentences that the last cell ends with, or "".
func SummaryOf(e notebook.Execution) string {
	text, _ := ResultText(e)
	if text = strings.TrimSpace(text); !strings.Contains(text, " ") {
		return ""
	}
	return text
}

// Take takes answer and summary from what the last cell gave. A summary without a figure of the
// answer, which is returned, is left out.
func (f *Final) Take(e notebook.Execution) (missing string) {
	f.Answer, f.Summary = strings.TrimSpace(e.Stdout()), SummaryOf(e)
	if missing = compare.Missing(f.Answer, f.Summary); missing != "" {
		f.Summary = ""
	}
	return missing
}

// escapes turns escapes of Python's repr into those of JSON.
var escapes = strings.NewReplacer(`\\`, `\\`, `\x`, `\u00`, `\'`, `\u0027`)

// unrepr returns the string that Python's repr made text from, or text if it is not the repr of
// one string.
func unrepr(text string) string {
	n := len(text)
	if n < 2 || text[0] != text[n-1] || text[0] != '\'' && text[0] != '"' {
		return text
	}
	inner := escapes.Replace(text[1 : n-1])
	plain, err := strconv.Unquote(`"` + strings.ReplaceAll(inner, `"`, `\"`) + `"`)
	if err != nil || strings.IndexByte(inner, text[0]) >= 0 { // two literals, or none
		return text
	}
	return plain
}

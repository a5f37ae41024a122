package notebook

import (
	"regexp"
	"strings"
)

// address matches the address of an object in Python's default repr.
var address = regexp.MustCompile(`(<[^<>\n]* at )0x[0-9a-fA-F]{6,16}>`)

// Steady returns the outputs without text that differs between sessions that run the same code:
// addresses of objects. The given outputs are not changed.
func Steady(outputs []Output) []Output { return rewritten(outputs, SteadyText) }

// SteadyText is [Steady] for a text.
func SteadyText(text string) string { return address.ReplaceAllString(text, "${1}0x…>") }

// Moved returns the outputs as if the cells had run in the folder to, and not in from. The given
// outputs are not changed.
func Moved(outputs []Output, from, to string) []Output {
	return rewritten(outputs, func(text string) string { return strings.ReplaceAll(text, from, to) })
}

// rewritten returns the outputs with their texts rewritten.
func rewritten(outputs []Output, rewrite func(string) string) []Output {
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

package notebook

import (
	"regexp"
	"strings"
)

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

package notebook

import "regexp"

// address matches the address of an object in Python's default repr.
var address = regexp.MustCompile(`(<[^<>\n]* at )0x[0-9a-fA-F]{6,16}>`)

// Steady returns the outputs without text that differs between sessions that run the same code:
// addresses of objects. The given outputs are not changed.
func Steady(outputs []Output) []Output {
	if outputs == nil {
		return nil
	}
	all := make([]Output, len(outputs))
	for i, o := range outputs {
		o.Text, o.EValue = SteadyText(o.Text), SteadyText(o.EValue)
		if o.Data != nil {
			o.Data = steadyData(o.Data)
		}
		if o.Traceback != nil {
			lines := make([]string, len(o.Traceback))
			for n, line := range o.Traceback {
				lines[n] = SteadyText(line)
			}
			o.Traceback = lines
		}
		all[i] = o
	}
	return all
}

// SteadyText is [Steady] for a text.
func SteadyText(text string) string { return address.ReplaceAllString(text, "${1}0x…>") }

func steadyData(data MIMEBundle) MIMEBundle {
	all := make(MIMEBundle, len(data))
	for mime, value := range data {
		if text, ok := value.(string); ok && (mime == "text/plain" || mime == "text/html") {
			value = SteadyText(text)
		}
		all[mime] = value
	}
	return all
}

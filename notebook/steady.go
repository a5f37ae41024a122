package notebook

import "regexp"

// address is where an object lies, as Python's default repr shows it.
var address = regexp.MustCompile(`(<[^<>\n]* at )0x[0-9a-fA-F]{6,16}>`)

// Steady returns the outputs without what differs from one session to the next
// although the code does the same: the addresses of objects in text. The outputs
// that are given stay as they are.
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

// SteadyText is Steady for a text.
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

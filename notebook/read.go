package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrFormat is wrapped by the errors of [Read] for input that is JSON but not
// a notebook of nbformat 4.
var ErrFormat = errors.New("not a notebook of nbformat 4")

// Read reads a notebook of nbformat 4.0 to 4.5; cells without an id get one.
func Read(r io.Reader) (*Notebook, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read notebook: %w", err)
	}
	var file struct {
		Cells    []jsonCell
		Metadata map[string]any
		NBFormat int `json:"nbformat"`
	}
	err = unmarshal(data, &file)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = fmt.Errorf("%w: %v", ErrFormat, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read notebook: %w", err)
	}
	if file.NBFormat != 4 {
		return nil, fmt.Errorf("read notebook: %w: nbformat is %d", ErrFormat, file.NBFormat)
	}
	n := &Notebook{Metadata: object(file.Metadata)}
	for i, c := range file.Cells {
		cell, err := c.cell()
		if err != nil {
			return nil, fmt.Errorf("read notebook: cell %d: %w", i+1, err)
		}
		n.Cells = append(n.Cells, cell)
	}
	n.uniqueIDs()
	return n, nil
}

type jsonCell struct {
	ID             string
	CellType       CellType `json:"cell_type"`
	Source         text
	Metadata       map[string]any
	Attachments    map[string]map[string]any
	Outputs        []Output
	ExecutionCount *int `json:"execution_count"`
}

func (c jsonCell) cell() (Cell, error) {
	switch c.CellType {
	case Code, Markdown, Raw:
	default:
		return Cell{}, fmt.Errorf("%w: cell_type is %q", ErrFormat, c.CellType)
	}
	cell := Cell{
		ID: c.ID, Type: c.CellType, Source: string(c.Source), Metadata: object(c.Metadata),
		Outputs: c.Outputs,
	}
	if c.Attachments != nil {
		cell.Attachments = make(map[string]MIMEBundle, len(c.Attachments))
		for name, data := range c.Attachments {
			cell.Attachments[name] = joinBundle(data)
		}
	}
	if c.ExecutionCount != nil {
		cell.ExecutionCount = *c.ExecutionCount
	}
	return cell, nil
}

// UnmarshalJSON reads an output in nbformat's form.
func (o *Output) UnmarshalJSON(data []byte) error {
	var j struct {
		OutputType     OutputType `json:"output_type"`
		Name           string
		Text           text
		Data           map[string]any
		Metadata       map[string]any
		ExecutionCount *int `json:"execution_count"`
		EName, EValue  string
		Traceback      []string
	}
	if err := unmarshal(data, &j); err != nil {
		return err
	}
	*o = Output{Type: j.OutputType}
	switch j.OutputType {
	case Stream:
		o.Name, o.Text = j.Name, string(j.Text)
	case ErrorOutput:
		o.EName, o.EValue, o.Traceback = j.EName, j.EValue, j.Traceback
	case DisplayData, ExecuteResult:
		o.Data, o.Metadata = joinBundle(j.Data), object(j.Metadata)
		if j.ExecutionCount != nil {
			o.ExecutionCount = *j.ExecutionCount
		}
	default:
		return fmt.Errorf("%w: output_type is %q", ErrFormat, j.OutputType)
	}
	return nil
}

// text is a multi-line string of nbformat: a string or a list of its lines.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	s, ok := joinLines(value)
	if !ok {
		return fmt.Errorf("%w: text is neither a string nor a list of strings", ErrFormat)
	}
	*t = text(s)
	return nil
}

func joinLines(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case []any:
		var b strings.Builder
		for _, line := range v {
			s, ok := line.(string)
			if !ok {
				return "", false
			}
			b.WriteString(s)
		}
		return b.String(), true
	}
	return "", false
}

func joinBundle(data map[string]any) MIMEBundle {
	bundle := make(MIMEBundle, len(data))
	for mime, value := range data {
		bundle[mime] = value
		if isJSON(mime) {
			continue
		}
		if s, ok := joinLines(value); ok {
			bundle[mime] = s
		}
	}
	return bundle
}

// isJSON reports whether data of the MIME type may be any JSON value.
func isJSON(mime string) bool {
	return mime == "application/json" ||
		strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}

// unmarshal is json.Unmarshal, but keeps every digit of numbers.
func unmarshal(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err == io.EOF {
		return errors.New("it is empty")
	} else if err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is more after the JSON value")
	}
	return nil
}

package notebook

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"dsstar/notebook/lazy"
)

// ErrFormat is wrapped by the errors of [Read] for input that is JSON but not
// a notebook of nbformat 3 or 4.
var ErrFormat = errors.New("not a notebook of nbformat 3 or 4")

// Read reads a notebook of nbformat 4.0 to 4.5, or 3; cells without an id get one. It accepts a
// byte order mark, and counts that are no numbers.
func Read(r io.Reader) (*Notebook, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read notebook: %w", err)
	}
	var file struct {
		Cells      []jsonCell
		Worksheets []struct{ Cells []jsonCell } // of nbformat 3
		Metadata   map[string]any
		NBFormat   int `json:"nbformat"`
	}
	err = unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &file)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = fmt.Errorf("%w: %s is a JSON %s", ErrFormat, cmp.Or(wrong.Field, "it"), wrong.Value)
	}
	if at := conflict().FindIndex(data); err != nil && at != nil {
		err = fmt.Errorf("it has a merge conflict, at line %d", bytes.Count(data[:at[0]], []byte("\n"))+1)
	}
	if err != nil {
		return nil, fmt.Errorf("read notebook: %w", err)
	}
	if file.NBFormat != 3 && file.NBFormat != 4 {
		return nil, fmt.Errorf("read notebook: %w: nbformat is %d", ErrFormat, file.NBFormat)
	}
	for _, sheet := range file.Worksheets {
		file.Cells = append(file.Cells, sheet.Cells...)
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

// ReadOutline is [Read] without the outputs of cells, which need no memory if they stand where Jupyter
// and dsstar write them: in lines of their own, indented by one space a bracket. A notebook of more
// than most bytes besides is an error.
func ReadOutline(r io.Reader, most int) (*Notebook, error) {
	var kept []byte
	in, inOutputs, isLine := bufio.NewReaderSize(r, 64<<10), false, true
	for len(kept) <= most {
		line, err := in.ReadSlice('\n') // of a long one, a piece
		inOutputs = inOutputs && !(isLine && bytes.HasPrefix(line, []byte("   ]")))
		if !inOutputs {
			kept = append(kept, line...)
		} else if isLine && !bytes.HasPrefix(line, []byte("    ")) {
			return nil, errors.New("read notebook: outputs that are not indented as Jupyter does")
		}
		inOutputs = inOutputs || isLine && string(line) == "   \"outputs\": [\n"
		isLine = err == nil
		if err == io.EOF {
			return Read(bytes.NewReader(kept))
		}
		if err != nil && err != bufio.ErrBufferFull {
			return nil, fmt.Errorf("read notebook: %w", err)
		}
	}
	return nil, errors.New("read notebook: too long even without outputs")
}

// conflict matches the beginning of a conflict that git left.
var conflict = lazy.Regexp(`(?m)^\s*<{7} `)

type jsonCell struct {
	ID             string
	CellType       CellType `json:"cell_type"`
	Source         source
	Metadata       map[string]any
	Attachments    map[string]map[string]any
	Outputs        []Output
	ExecutionCount any `json:"execution_count"`

	// of nbformat 3
	Input  source
	Prompt any `json:"prompt_number"`
	Level  int // of a heading
}

func (c jsonCell) cell() (Cell, error) {
	cell := Cell{ID: c.ID, Type: c.CellType, Source: string(c.Source + c.Input),
		Metadata: object(c.Metadata), ExecutionCount: number(c.ExecutionCount) + number(c.Prompt),
		Outputs: c.Outputs}
	switch c.CellType {
	case Code, Markdown, Raw:
	case "heading":
		cell.Type = Markdown
		cell.Source = strings.Repeat("#", min(max(c.Level, 1), 6)) + " " + cell.Source
	default:
		return Cell{}, fmt.Errorf("%w: cell_type is %q", ErrFormat, c.CellType)
	}
	if c.Attachments != nil {
		cell.Attachments = make(map[string]MIMEBundle, len(c.Attachments))
		for name, data := range c.Attachments {
			cell.Attachments[name] = joinBundle(data)
		}
	}
	return cell, nil
}

// number returns a count as JSON has it; 0 if it is none.
func number(count any) int {
	n, _ := count.(json.Number)
	i, _ := n.Int64()
	return int(i)
}

// UnmarshalJSON reads an output in nbformat's form.
func (o *Output) UnmarshalJSON(data []byte) error {
	var j struct {
		OutputType     OutputType `json:"output_type"`
		Name           string
		Text           text
		Data           map[string]any
		Metadata       map[string]any
		ExecutionCount any `json:"execution_count"`
		EName, EValue  string
		Traceback      []string

		Stream string // of nbformat 3
		Prompt any    `json:"prompt_number"`
	}
	if err := unmarshal(data, &j); err != nil {
		return err
	}
	*o = Output{Type: j.OutputType}
	switch j.OutputType {
	case Stream:
		o.Name, o.Text = cmp.Or(j.Name, j.Stream), string(j.Text)
	case ErrorOutput, "pyerr":
		o.Type, o.EName, o.EValue, o.Traceback = ErrorOutput, j.EName, j.EValue, j.Traceback
	case DisplayData, ExecuteResult, "pyout":
		if j.OutputType == "pyout" {
			o.Type = ExecuteResult
		}
		if j.Data == nil {
			var old map[string]any
			_ = unmarshal(data, &old) // it is an object
			j.Data = map[string]any{}
			for name, mime := range oldMIME {
				if value, ok := old[name]; ok {
					j.Data[mime] = value
				}
			}
		}
		o.Data, o.Metadata = joinBundle(j.Data), object(j.Metadata)
		o.ExecutionCount = number(j.ExecutionCount) + number(j.Prompt)
	default:
		return fmt.Errorf("%w: output_type is %q", ErrFormat, j.OutputType)
	}
	return nil
}

// oldMIME has the MIME types of nbformat 3 by their short names.
var oldMIME = map[string]string{"text": "text/plain", "html": "text/html", "latex": "text/latex",
	"svg": "image/svg+xml", "png": "image/png", "jpeg": "image/jpeg", "json": "application/json",
	"javascript": "application/javascript"}

// source is the text of a cell. Half of a surrogate pair is an error, not another character: no
// kernel would get the code that is there.
type source string

var surrogates = lazy.Regexp(`\\\\|\\u(?i:d[89ab]..\\ud[c-f]|d[89a-f])`)

func (s *source) UnmarshalJSON(data []byte) error {
	for _, found := range surrogates().FindAllString(string(data), -1) {
		if len(found) == 4 {
			return fmt.Errorf("%w: half of a surrogate pair (%s…) is no character", ErrFormat, found)
		}
	}
	return (*text)(s).UnmarshalJSON(data)
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
		isJSON := mime == "application/json" || // of any kind
			strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
		if s, ok := joinLines(value); ok && !isJSON {
			value = s
		}
		bundle[mime] = value
	}
	return bundle
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

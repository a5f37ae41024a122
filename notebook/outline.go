package notebook

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ReadOutline is [Read] without the outputs of cells, which need no memory. A notebook of more than
// most bytes besides is an error.
func ReadOutline(r io.Reader, most int) (*Notebook, error) {
	data, err := outline(bufio.NewReaderSize(r, 64<<10), most)
	if err != nil {
		return nil, fmt.Errorf("read notebook: %w", err)
	}
	return Read(bytes.NewReader(data))
}

// outline copies a notebook's JSON without the outputs of cells. What is no JSON stays none.
func outline(in *bufio.Reader, most int) (kept []byte, err error) {
	depth := 0 // the number of brackets around the position
	text := 0  // where the last string begins in kept
	inText, escaped, inOutputs := false, false, false
	for len(kept) <= most {
		c, err := in.ReadByte()
		if err == io.EOF {
			return kept, nil
		}
		if err != nil {
			return nil, err
		}
		if inOutputs && !inText && depth == 3 && (c == ',' || c == '}') {
			inOutputs = false
		}
		begins := false // a value named outputs
		switch {
		case inText:
			inText = c != '"' || escaped
			escaped = c == '\\' && !escaped
		case c == '"':
			inText = true
			text = len(kept)
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth = max(depth-1, 0)
		case c == ':' && depth == 3: // of a cell, or in metadata
			begins = !inOutputs && string(bytes.TrimSpace(kept[text:])) == `"outputs"`
		}
		if !inOutputs {
			kept = append(kept, c)
		}
		if begins {
			kept = append(kept, "null"...)
			inOutputs = true
		}
	}
	return nil, errors.New("too long even without outputs")
}

package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// A line is a line of an append-only file.
type line interface{ Record | spending }

// readLines reads the complete lines of a file, and counts their bytes. An incomplete last
// line, left by a crash, is skipped; any other line must name a task.
func readLines[L line](file io.Reader, name string,
	task func(L) string) (all []L, size int64, err error) {
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", name, err)
	}
	for {
		text, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return all, size, nil
		}
		var l L
		if err := json.Unmarshal(text, &l); err != nil || task(l) == "" {
			return nil, size, fmt.Errorf("%s: line %d says nothing about a task", name, len(all)+1)
		}
		all = append(all, l)
		size += int64(len(text)) + 1
		data = rest
	}
}

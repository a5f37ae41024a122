package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Lines is a file of plain data in JSON, a line for each, to which lines are added. Its methods may
// be called concurrently.
type Lines struct {
	mu   sync.Mutex
	file *os.File
	size int64 // of the complete lines
}

// longestLine bounds the end of a file in which the last complete line is looked for, in bytes.
const longestLine = 16 << 20

// OpenLines opens a file of lines that belongs to this program, and creates it if necessary. An
// incomplete last line, from a crash, is removed; a file that ends with more than longestLine bytes
// without a line is an error. The caller must Close it.
func OpenLines(path string) (*Lines, error) {
	f, err := openOwn(path, os.O_APPEND)
	if err != nil {
		return nil, err
	}
	l := &Lines{file: f}
	if err := l.cut(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// cut removes an incomplete last line.
func (l *Lines) cut() error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	end := make([]byte, min(info.Size(), longestLine))
	before := info.Size() - int64(len(end))
	if _, err := l.file.ReadAt(end, before); err != nil {
		return err
	}
	last := bytes.LastIndexByte(end, '\n') + 1
	if last == 0 && before > 0 {
		return &os.PathError{Op: "open", Path: l.file.Name(), Err: ErrTooLong}
	}
	l.size = before + int64(last)
	return l.file.Truncate(l.size)
}

// Append adds a line, which is on disk when it returns. A partial write is undone.
func (l *Lines) Append(data any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.file.Write(line.Bytes())
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(line.Len())
	return nil
}

// Close closes the file. Append fails afterwards; a second Close does nothing.
func (l *Lines) Close() error {
	if err := l.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// ReadLines reads the lines of such a file. Empty lines are skipped, and so is an incomplete last
// one; any other that cannot be read is an error.
func ReadLines[T any](text []byte) (all []T, err error) {
	n := 0
	for line := range bytes.Lines(text) {
		var data T
		n++
		switch err := json.Unmarshal(line, &data); {
		case err == nil:
			all = append(all, data)
		case bytes.HasSuffix(line, []byte("\n")) && len(bytes.TrimSpace(line)) > 0:
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return all, nil
}

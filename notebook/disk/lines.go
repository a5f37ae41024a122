package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// OpenLines opens a file of lines that belongs to this program, and creates it if necessary; more
// than MaxDocument bytes are an error. An incomplete last line, from a crash, is removed. The caller
// must Close it.
func OpenLines(path string) (*Lines, error) {
	f, err := openOwn(path, os.O_APPEND, MaxDocument)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	l := &Lines{file: f, size: int64(bytes.LastIndexByte(data, '\n') + 1)}
	if err == nil {
		err = f.Truncate(l.size)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
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

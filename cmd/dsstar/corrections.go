package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dsstar/notebook/disk"
)

// Corrections are descriptions written by the user, by file name. They are stored with the
// user's settings, not in the cache, because they cannot be recreated. Data folders are
// identified by path.

// correctionsFile is the file with the corrections of a data folder.
func (a *app) correctionsFile(data string) string {
	sum := sha256.Sum256([]byte(data))
	return filepath.Join(a.configDir, "corrections", hex.EncodeToString(sum[:8])+".json")
}

type correctionsRecord struct {
	Data  string            `json:"data"` // the folder, for whoever reads the file
	Files map[string]string `json:"files"`
}

// corrections reads the corrections of a data folder.
func (a *app) corrections(data string) (map[string]string, error) {
	if a.configDir == "" {
		return nil, nil
	}
	path := a.correctionsFile(data)
	text, err := disk.ReadFile(path, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var record correctionsRecord
	if err == nil {
		err = json.Unmarshal(text, &record)
	}
	if err != nil {
		return nil, fmt.Errorf("read the corrected descriptions: %s: %w", path, err)
	}
	return record.Files, nil
}

// correct stores a correction; an empty text removes it.
func (a *app) correct(data, name, text string) error {
	if a.configDir == "" {
		return errors.New("there is no settings folder to keep the correction in")
	}
	all, err := a.corrections(data)
	if err != nil {
		return err
	}
	if all == nil {
		all = map[string]string{}
	}
	if all[name] = text; text == "" {
		delete(all, name)
	}
	record, err := json.MarshalIndent(correctionsRecord{data, all}, "", "  ")
	if err != nil {
		return err
	}
	path := a.correctionsFile(data)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return disk.WriteFile(path, append(record, '\n'))
}

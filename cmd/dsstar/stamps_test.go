package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDropMarks: the newest marks stay.
func TestDropMarks(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		path := filepath.Join(dir, fmt.Sprint(i))
		when := time.Now().Add(time.Duration(i) * time.Minute)
		if err := setStamp(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	dropStamps(dir, 11)
	if left, _ := os.ReadDir(dir); len(left) != 10 {
		t.Errorf("%d marks, of 10 that may be there", len(left))
	}
	dropStamps(dir, 10)
	if left, _ := os.ReadDir(dir); len(left) != 5 || left[0].Name() != "5" {
		t.Errorf("%v are left", left)
	}
}

package disk_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"dsstar/notebook/disk"
)

// A guarded file is written again and again, until somebody else has edited it.
func ExampleGuard() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "notes.txt")

	notes := disk.Guard(path, disk.Format{})
	for _, text := range []string{"one", "one, two"} {
		if err := notes.Write([]byte(text)); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		log.Fatal(err)
	}
	err = notes.Write([]byte("one, two, three"))
	fmt.Println(errors.Is(err, disk.ErrEdited))
	notes.NextSibling()
	fmt.Println(filepath.Base(notes.Path()))
	// Output:
	// true
	// notes-2.txt
}

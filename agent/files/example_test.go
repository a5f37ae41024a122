package files_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"dsstar/agent/files"
)

func ExampleList() {
	dir, err := os.MkdirTemp("", "data-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "sales.csv"), []byte("store,sold\nA,3\n"), 0o600),
		os.WriteFile(filepath.Join(dir, ".hidden"), nil, 0o600),
		os.MkdirAll(filepath.Join(dir, "node_modules", "left-pad"), 0o700),
	)
	if err != nil {
		log.Fatal(err)
	}

	listing, err := files.List(context.Background(), dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range listing.Files {
		fmt.Println(f.Name, f.Size)
	}
	fmt.Println(files.InWords(listing.Skipped))
	// Output:
	// sales.csv 15
	// node_modules/ (installed packages)
}

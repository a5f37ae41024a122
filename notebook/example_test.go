package notebook_test

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"dsstar/notebook"
)

func ExampleFold() {
	var fold notebook.Fold
	for _, m := range []struct{ kind, content string }{
		{"stream", `{"name": "stderr", "text": "\r 50%"}`},
		{"stream", `{"name": "stderr", "text": "\r100%\n"}`},
		{"status", `{"execution_state": "busy"}`},
		{"execute_result", `{"execution_count": 1, "data": {"text/plain": "42"}, "metadata": {}}`},
	} {
		if err := fold.Add(m.kind, json.RawMessage(m.content)); err != nil {
			log.Fatal(err)
		}
	}
	for _, o := range fold.Outputs() {
		fmt.Printf("%s: %q\n", o.Type, o.PlainText())
	}
	// Output:
	// stream: "100%\n"
	// execute_result: "42"
}

func ExampleRead() {
	nb, err := notebook.Read(strings.NewReader(`{
		"nbformat": 4, "nbformat_minor": 2, "metadata": {},
		"cells": [{"cell_type": "code", "metadata": {}, "source": ["x = 1\n", "x"], "outputs": [], "execution_count": 1}]
	}`))
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range nb.Cells {
		fmt.Printf("%s: %q\n", c.Type, c.Source)
	}
	// Output:
	// code: "x = 1\nx"
}

func ExampleNotebook_Save() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "hello.ipynb")

	nb := &notebook.Notebook{
		Cells: []notebook.Cell{{ID: "hello", Type: notebook.Code, Source: "print('hello')"}},
	}
	if err := nb.Save(path); err != nil {
		log.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(data))
	// Output:
	// {
	//  "cells": [
	//   {
	//    "cell_type": "code",
	//    "execution_count": null,
	//    "id": "hello",
	//    "metadata": {},
	//    "outputs": [],
	//    "source": [
	//     "print('hello')"
	//    ]
	//   }
	//  ],
	//  "metadata": {},
	//  "nbformat": 4,
	//  "nbformat_minor": 5
	// }
}

package notebook_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dsstar/notebook"
)

// TestReadOutline: an outline is the notebook without outputs.
func TestReadOutline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nb := anyNotebook.Draw(t, "notebook")
		data, err := nb.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := notebook.ReadOutline(bytes.NewReader(data), 2*len(data))
		if err != nil {
			t.Fatal(err)
		}
		want, err := notebook.Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Cells {
			want.Cells[i].Outputs = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestReadOutlineLong: outputs do not count, whatever is in them; everything else does.
func TestReadOutlineLong(t *testing.T) {
	const form = `{"nbformat": 4, "metadata": {"a": {"outputs": %q}}, "cells": [{"cell_type": "code", ` +
		`"outputs" : %s, "source": %q}]}`
	long := strings.Repeat("x", 10_000)
	for _, outputs := range []string{"null", "7", `[{"output_type": "stream", "text": "}],\"` + long + `\\"}]`,
		`{"no": ["list", "` + long + `"]}`, `"` + long + `"`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000)} {
		for i, size := range []int{5, 10_000} {
			for _, text := range [][2]string{{long[:size], ""}, {"", long[:size]}} {
				nb, err := notebook.ReadOutline(strings.NewReader(fmt.Sprintf(form, text[0], outputs, text[1])), 1000)
				if i == 0 && (err != nil || nb.Cells[0].Source != text[1] || nb.Cells[0].Outputs != nil) ||
					i == 1 && !errors.Is(err, notebook.ErrLong) {
					t.Errorf("outputs %.20s, others %d: %v, %v", outputs, size, nb, err)
				}
			}
		}
	}
	for _, bad := range []string{"", "]", `{"cells": [{"outputs": [`, `{"cells": [{"outputs": "`, `{"cells": [{"outputs": ]}]}}`} {
		if _, err := notebook.ReadOutline(strings.NewReader(bad), 1000); err == nil {
			t.Errorf("%s is no notebook", bad)
		}
	}
}

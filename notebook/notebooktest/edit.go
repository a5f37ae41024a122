package notebooktest

import (
	"fmt"
	"slices"
	"strings"

	"dsstar/notebook"
)

// An Edit is what a person does to a notebook. It panics where there is not what it changes.
type Edit func(*notebook.Notebook)

// All does one edit after the other.
func All(edits ...Edit) Edit {
	return func(nb *notebook.Notebook) {
		for _, does := range edits {
			does(nb)
		}
	}
}

// Cell returns the cell with an id.
func Cell(nb *notebook.Notebook, id string) *notebook.Cell { return &nb.Cells[at(nb, id)] }

func at(nb *notebook.Notebook, id string) int {
	i := slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool { return c.ID == id })
	if i < 0 {
		panic("there is no cell " + id)
	}
	return i
}

// Source changes a part of a cell's source.
func Source(id, from, to string) Edit {
	return func(nb *notebook.Notebook) {
		c := Cell(nb, id)
		if !strings.Contains(c.Source, from) {
			panic(fmt.Sprintf("%q is not in %s", from, c.Source))
		}
		c.Source = strings.Replace(c.Source, from, to, 1)
	}
}

// Remove deletes cells.
func Remove(ids ...string) Edit {
	return func(nb *notebook.Notebook) {
		for _, id := range ids {
			nb.Cells = slices.Delete(nb.Cells, at(nb, id), at(nb, id)+1)
		}
	}
}

// Insert puts a cell below another one.
func Insert(after string, c notebook.Cell) Edit {
	return func(nb *notebook.Notebook) { nb.Cells = slices.Insert(nb.Cells, at(nb, after)+1, c) }
}

// Move puts a cell below another one.
func Move(id, after string) Edit {
	return func(nb *notebook.Notebook) { All(Remove(id), Insert(after, *Cell(nb, id)))(nb) }
}

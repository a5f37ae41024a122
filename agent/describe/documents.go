package describe

import (
	"context"
	"errors"
	"slices"
)

// readPDF prints the text of a PDF. Its pages are marked, since rules are quoted
// by them.
const readPDF = `from pypdf import PdfReader

reader = PdfReader(path)
print(f"PDF document of {len(reader.pages)} pages; its whole text:")
for number, page in enumerate(reader.pages, 1):
    print(f"[page {number}]")
    print(page.extract_text())
`

// mostPDF is the size, in bytes, up to which a PDF may be one of few pages.
const mostPDF = 20 << 20

var errFull = errors.New("there is no room for more text")

// readDocuments reads the text of PDFs, and takes it for their descriptions where
// it is whole. It returns the files that still need one.
func (r *Describer) readDocuments(ctx context.Context, pool *pool, left []int) ([]int, error) {
	var documents []int
	for _, i := range left {
		if r.looks[i].Format == "pdf" && !r.method.Script && r.t.Task.Files[i].Size <= mostPDF {
			documents = append(documents, i)
		}
	}
	if len(documents) == 0 {
		return left, nil
	}
	room := r.Sizes().Context / 2
	read := map[int]bool{}
	take := func(i int, text string) error {
		const pageMarks = 200 // a scan has next to no text beside them
		if len(text) < pageMarks || len(text) > r.Sizes().Description {
			return nil // the analyzer may do better
		}
		if room -= len(text); room < 0 {
			return errFull
		}
		d := r.t.Descriptions[i]
		d.Text, d.Code, d.Tries, d.Whole, read[i] = text, readPDF, 1, true, true
		r.store.keep(i, d)
		return r.describedAs(i, d)
	}
	for part := range slices.Chunk(documents, pool.batchSize()) {
		if err := pool.runScript(ctx, script{code: readPDF}, part, take); errors.Is(err, errFull) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(left, func(i int) bool { return read[i] }), nil
}

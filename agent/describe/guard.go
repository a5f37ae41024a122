package describe

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook/human"
)

// How much of one text file, and of all together, is searched for credentials.
const scanBytes, scanAllBytes = 4 << 20, 256 << 20

// A MaskError is a column that cannot be masked: not all of its values are known.
type MaskError struct {
	File   string // "": none in particular
	Reason string
}

func (e *MaskError) Error() string {
	text := "the values to mask cannot be listed: "
	if e.File != "" {
		text += "in " + e.File + ", "
	}
	return text + e.Reason
}

// Guard has masked, in all that is asked from then on, the values of the columns that the task
// names, and what looks like credentials in the files, which are all that cells can open. It warns
// of the lines that have some. The error may be a [*MaskError].
func (r *Describer) Guard(ctx context.Context, all []record.File) error {
	patterns := slices.Concat(r.Columns, r.t.Task.Mask)
	slices.Sort(patterns)
	r.t.Task.Mask = slices.Compact(patterns)
	if err := r.maskColumns(ctx, all); err != nil {
		return err
	}
	return r.maskSecrets(ctx, all)
}

// maskColumns has a program list the values of columns, with a line for each file and one for all,
// and masks them. Nothing keeps them beyond the run. It warns of values that are not masked.
func (r *Describer) maskColumns(ctx context.Context, all []record.File) error {
	var names, paths []string
	for _, f := range all {
		if f.Size > 0 && utf8.ValidString(f.Name) {
			names, paths = append(names, f.Name), append(paths, inData(f.Name))
		}
	}
	if len(paths) == 0 || len(r.t.Task.Mask) == 0 {
		return nil
	}
	session, err := r.openScratch(ctx)
	if err != nil {
		return err
	}
	defer session.close()
	mark := rand.Text()
	e, err := session.run(ctx, profile.Values(paths, r.t.Task.Mask, r.bounds(profileTime), mark))
	if err != nil {
		return err
	}
	listed, short := marked(e.Stdout(), mark), 0
	var named []string
	for n, name := range append(names, "") {
		var l profile.Listing
		if err := json.Unmarshal([]byte(listed[n]), &l); err != nil {
			l.Problem = "the program that lists them has ended: " + brief.Problem(e)
		}
		if l.Problem != "" {
			return &MaskError{File: name, Reason: l.Problem}
		}
		if l.Named {
			named = append(named, name)
		}
		for _, values := range l.Columns {
			short += r.Mask.Add(values)
		}
	}
	if short > 0 {
		err = r.journal.Warn(fmt.Sprintf("%s of columns to mask are not masked: they have fewer than "+
			"three letters or six digits", human.Plural(short, "value")))
	}
	if len(named) > 0 {
		err = cmp.Or(err, r.journal.Warn("a column to mask is named, but not found as a column, in: "+
			brief.OneLine(brief.Clip(strings.Join(named, ", "), 300))+
			"; values that stand only there are not masked"))
	}
	return err
}

// maskSecrets looks for credentials at the beginnings of files, and names the lines that have some.
func (r *Describer) maskSecrets(ctx context.Context, all []record.File) error {
	root, left := files.In(r.data, r.Readable...), scanAllBytes
	for _, f := range all {
		if left <= 0 || ctx.Err() != nil {
			break
		}
		text, _, _ := root.Text(f.Name, scanBytes) // that it cannot be read is told of elsewhere
		left -= len(text)
		found := r.Mask.Learn(text)
		if len(found) == 0 {
			continue
		}
		lines := strings.ReplaceAll(strings.Trim(fmt.Sprint(found), "[]"), " ", ", ")
		if err := r.journal.Warn(fmt.Sprintf("%s, line %s: what looks like a credential is masked in "+
			"what goes to the model", f.Name, brief.OneLine(brief.Clip(lines, 100)))); err != nil {
			return err
		}
	}
	return ctx.Err()
}

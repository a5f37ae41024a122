package describe

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/mask"
	"dsstar/notebook/human"
)

// How much of one text file, and of all together, is searched for credentials.
const scanBytes, scanAllBytes = 4 << 20, 256 << 20

// A MaskError is a column that cannot be masked: its values are not known.
type MaskError struct{ Reason string }

func (e *MaskError) Error() string { return "the values to mask cannot be listed: " + e.Reason }

// Guard has masked, in all that is asked from then on, the values of the columns that the task names,
// and what looks like credentials in the files. It warns of each line that has one. The error may be a
// [*MaskError].
func (r *Describer) Guard(ctx context.Context) error {
	if err := r.maskColumns(ctx); err != nil {
		return err
	}
	return r.maskSecrets(ctx)
}

// maskColumns has a program list the values of columns. Nothing keeps them beyond the run.
func (r *Describer) maskColumns(ctx context.Context) error {
	var paths []string
	for i, f := range r.t.Task.Files {
		if f.Size > 0 && utf8.ValidString(f.Name) {
			paths = append(paths, r.dataPython(i))
		}
	}
	patterns := slices.Concat(r.Columns, r.t.Task.Mask)
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	r.t.Task.Mask = patterns
	if len(patterns) == 0 || len(paths) == 0 {
		return nil
	}
	session, err := r.openScratch(ctx)
	if err != nil {
		return err
	}
	defer session.close()
	mark, within := rand.Text(), profileTime
	if cell := r.CellTimeout; cell > 0 {
		within = cell / 2
	}
	e, err := session.run(ctx, profile.Values(paths, patterns, r.profileSeconds(), within, mark))
	if err != nil {
		return err
	}
	named, short, told := map[string]bool{}, 0, 0
	for line := range strings.Lines(e.Stdout()) {
		_, line, ok := strings.Cut(line, mark+" ")
		number, text, _ := strings.Cut(line, " ")
		if !ok {
			continue
		}
		var l profile.Listing
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			l.Problem = err.Error()
		}
		if n, err := strconv.Atoi(number); l.Problem != "" && err == nil && n < len(paths) {
			return &MaskError{"in " + paths[n] + ", " + l.Problem}
		}
		told++
		for name, all := range l.Columns {
			named[strings.ToLower(name)] = true
			short += r.Mask.Add(all)
		}
	}
	if told < len(paths) {
		return &MaskError{"the program that lists them has ended: " + brief.Problem(e)}
	}
	if len(named) == 0 {
		return &MaskError{"no column is called " + strings.Join(patterns, " or ")}
	}
	if short > 0 {
		return r.journal.Warn(fmt.Sprintf("%s of columns to mask are not masked: they have fewer than "+
			"three letters or six digits", human.Plural(short, "value")))
	}
	return nil
}

func (r *Describer) maskSecrets(ctx context.Context) error {
	root, err := files.Open(r.data, r.Readable)
	if err != nil {
		return nil // there are no files, or only for the cells
	}
	defer root.Close()
	left := scanAllBytes
	for _, f := range r.t.Task.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.Size == 0 || left <= 0 || !r.wanted(f.Name) {
			continue
		}
		text, err := files.Text(root, f, scanBytes)
		if err != nil {
			continue // looking at it says so
		}
		left -= len(text)
		if err := r.warnOfSecrets(f.Name, r.Mask.Scan(text)); err != nil {
			return err
		}
	}
	return nil
}

// warnOfSecrets names the first lines of a file with credentials.
func (r *Describer) warnOfSecrets(file string, all []mask.Find) error {
	const most = 5
	for n, f := range all {
		text := fmt.Sprintf("%s, line %d, has what looks like %s: it is masked in what goes to the model",
			file, f.Line, f.Kind)
		if n == most {
			text = fmt.Sprintf("%s has what looks like credentials in %s more: they are masked, too", file,
				human.Plural(len(all)-n, "line"))
		}
		if n > most {
			break
		}
		if err := r.journal.Warn(text); err != nil {
			return err
		}
	}
	return nil
}

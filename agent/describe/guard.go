package describe

import (
	"context"
	"fmt"

	"dsstar/agent/files"
	"dsstar/agent/mask"
	"dsstar/notebook/human"
)

// How much of one text file, and of all together, is searched for credentials.
const scanBytes, scanAllBytes = 4 << 20, 256 << 20

// Guard has masked, in all that is asked from then on, what looks like credentials in the files, and
// warns of each line that has one.
func (r *Describer) Guard(ctx context.Context) error {
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

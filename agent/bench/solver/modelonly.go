package solver

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/prompts"
)

// modelOnly is the model alone, as in DS-STAR's tables 1 and 2: it gets the question, the
// guidelines and as much text of the files as fits, and runs no code. The papers do not say
// how much they sent; here the limit is that of all descriptions together.
func modelOnly(ctx context.Context, d *desk) (string, bool, error) {
	most := d.cfg.ContextChars
	if d.cfg.Context > 0 {
		most = min(most, 2*d.cfg.Context) // at three bytes a token, leaves a third for the rest
	}
	known, err := d.withText(most)
	if err != nil {
		return "", false, err
	}
	if d.system, err = d.cfg.Prompts.Text(d.workplace()); err != nil {
		return "", false, err
	}
	found, err := asked(ctx, d, "model-only", "the answer", answers, known, prompts.ModelOnly{})
	if err != nil {
		return "", false, err
	}
	d.rounds = 1
	_, err = d.add(turn{title: "The reply", said: found.text})
	return found.answer, true, err
}

// withText returns the context with text of the files: short files whole, and equal parts of the
// others. most limits the text of all files, in bytes.
func (d *desk) withText(most int) (prompts.Context, error) {
	c := d.context()
	c.NamesOnly = false
	all, _ := d.ordered()
	data := d.meta.Task.Data
	if !filepath.IsAbs(data) {
		data = filepath.Join(d.cfg.Dir, data)
	}
	root, err := files.Open(data, d.cfg.Readable)
	if err != nil {
		return c, err
	}
	defer root.Close()
	order := make([]int, len(c.Files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Size, all[b].Size) })
	for n, i := range order {
		room := max(most/(len(order)-n), 100)
		look, err := files.LookAt(root, all[i], 2*int64(room)) // text in UTF-16 has twice the bytes
		if err != nil {
			c.Files[i].Kind = "it cannot be read"
			continue
		}
		text := brief.Lines(look.Text, room)
		c.Files[i].Kind, c.Files[i].Description = look.Kind, text
		c.Files[i].Whole = look.Whole && text == look.Text
		most -= len(text)
	}
	return c, nil
}

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/notebook/disk"
)

// edit lets the user edit a step and its cell. Where that fails, which is told, or
// changes nothing, the proposal is as it was; the error is that of ctx.
func (v *reviewer) edit(ctx context.Context, p agent.Proposal) (agent.Proposal, error) {
	editor := v.app.someEditor()
	if editor == "" {
		v.tell("         no editor is found: export EDITOR=COMMAND")
		return p, nil
	}
	draft := draftOf(p)
	path, err := writeDraft(draftName(p), draft)
	if err != nil {
		v.tell("         no file to edit: " + term.Clean(err.Error()))
		return p, nil
	}
	text, err := v.app.edited(ctx, editor, path)
	if err != nil {
		v.tell("         " + term.Clean(err.Error()) + "; the cell is as it was")
		// An editor that was ended may have saved what was typed.
		if saved, readErr := disk.ReadFile(path, disk.MaxDocument); readErr == nil && tidy(string(saved)) != tidy(draft) {
			v.tell("         your text: " + term.Clean(path))
			return p, ctx.Err()
		}
	}
	_ = os.Remove(path) // a temporary file; the system clears what stays
	if err != nil {
		return p, ctx.Err()
	}
	edited := fromDraft(text, p)
	switch {
	case !utf8.ValidString(text):
		v.tell("         what you wrote is not text in UTF-8; the cell is as it was")
		return p, nil
	case strings.TrimSpace(edited.Code) == "":
		v.tell("         the cell is empty; it is as it was")
		return p, nil
	case edited == p:
		v.tell("         nothing has changed")
	}
	return edited, nil
}

// keep keeps what was edited when the run ends at the question: it is asked again
// about the cell as the model wrote it.
func (v *reviewer) keep(p, asked agent.Proposal) {
	if p == asked {
		return
	}
	if path, err := writeDraft(draftName(p), draftOf(p)); err == nil {
		v.tell("         your text: " + term.Clean(path))
	}
}

func draftName(p agent.Proposal) string {
	if p.Step == 0 {
		return "dsstar-answer-*.py"
	}
	return fmt.Sprintf("dsstar-step-%d-*.py", p.Step)
}

// cellMark begins a cell in a script, as editors and jupytext have it.
const cellMark = "# %%"

// draftOf is a script of two cells: the step, as comments, and its cell.
func draftOf(p agent.Proposal) string {
	const columns = 90
	var b strings.Builder
	line := cellMark + " " + name(p) + ":"
	for word := range strings.FieldsSeq(p.Text) {
		if len(line)+1+len(word) > columns && word != "%%" { // which would be the mark of a cell
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return b.String() + line + "\n" + cellMark + "\n" + p.Code + "\n"
}

// name names what a proposal is for.
func name(p agent.Proposal) string {
	if p.Step == 0 {
		return "The last cell"
	}
	return fmt.Sprintf("Step %d", p.Step)
}

// fromDraft reads an edited draft back: p with what is changed in it. A step or a
// cell that is not changed stays as it was to the byte. The step is what stands
// above the second mark; without it, in the first line.
func fromDraft(text string, p agent.Proposal) agent.Proposal {
	head, code := splitDraft(text)
	if _, before := splitDraft(tidy(draftOf(p))); tidy(code) != tidy(before) {
		p.Code = tidy(code)
	}
	if words := oneSpace(strings.TrimPrefix(head, name(p)+":")); p.Step > 0 && words != "" && words != oneSpace(p.Text) {
		p.Text = words
	}
	return p
}

// splitDraft divides a draft into the step's comments, without their marks, and
// the cell; there may be no comments any more.
func splitDraft(text string) (head, code string) {
	line, rest, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(line, cellMark+" ") {
		return "", text
	}
	head, code = strings.TrimSpace(strings.TrimPrefix(line, cellMark)), rest
	words := head
	for strings.HasPrefix(rest, "#") {
		if line, rest, _ = strings.Cut(rest, "\n"); strings.TrimSpace(line) == cellMark {
			return words, rest
		}
		words += " " + strings.TrimPrefix(line, "#")
	}
	return head, code
}

func oneSpace(text string) string { return strings.Join(strings.Fields(text), " ") }

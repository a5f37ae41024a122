package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook/disk"
)

// edit lets the user edit a step and its cell. If that fails or changes nothing, it says so and
// returns the proposal unchanged. The error is that of ctx.
func (v *reviewer) edit(ctx context.Context, p agent.Proposal) (agent.Proposal, error) {
	editor := v.app.someEditor()
	if editor == "" {
		v.tell("         no editor is found: export EDITOR=COMMAND")
		return p, nil
	}
	draft := draftOf(p)
	path, err := writeDraft(draftName(p), draft)
	if err != nil {
		v.tell("         cannot create a draft: " + ui.Clean(err.Error()))
		return p, nil
	}
	text, err := v.app.edited(ctx, editor, path)
	if err != nil {
		v.tell("         " + ui.Clean(err.Error()) + "; the cell is as it was")
		// An editor that failed may have saved the text.
		if saved, readErr := disk.ReadFile(path, disk.MaxDocument); readErr == nil &&
			tidy(string(saved)) != tidy(draft) {
			v.tell("         your text: " + ui.Clean(path))
			return p, ctx.Err()
		}
	}
	_ = os.Remove(path) // best effort: it is a temporary file
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

// keep saves the edited text if the run stops at the question, because a resumed run asks about the
// model's cell again.
func (v *reviewer) keep(p, asked agent.Proposal) {
	if p == asked {
		return
	}
	if path, err := writeDraft(draftName(p), draftOf(p)); err == nil {
		v.tell("         your text: " + ui.Clean(path))
	}
}

func draftName(p agent.Proposal) string {
	if p.Step == 0 {
		return "dsstar-answer-*.py"
	}
	return fmt.Sprintf("dsstar-step-%d-*.py", p.Step)
}

// cellMark begins a cell in a script in the percent format.
const cellMark = "# %%"

// draftOf returns a script of two cells: the step, as comments, and its cell.
func draftOf(p agent.Proposal) string {
	const columns = 90
	var b strings.Builder
	line := cellMark + " " + name(p) + ":"
	for word := range strings.FieldsSeq(p.Text) {
		if len(line)+1+len(word) > columns && word != "%%" { // it would begin a cell
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return b.String() + line + "\n" + cellMark + "\n" + p.Code + "\n"
}

// name says what a proposal is for.
func name(p agent.Proposal) string {
	if p.Step == 0 {
		return "The last cell"
	}
	return fmt.Sprintf("Step %d", p.Step)
}

// fromDraft returns p with the changes of an edited draft. An unchanged step or cell stays
// identical. The step is the text above the second mark or, without that, the first line.
func fromDraft(text string, p agent.Proposal) agent.Proposal {
	head, code := splitDraft(text)
	if _, before := splitDraft(tidy(draftOf(p))); tidy(code) != tidy(before) {
		p.Code = tidy(code)
	}
	if words := oneSpace(strings.TrimPrefix(head, name(p)+":")); p.Step > 0 && words != "" &&
		words != oneSpace(p.Text) {
		p.Text = words
	}
	return p
}

// splitDraft splits a draft into the step, without comment marks, and the cell. The step may be
// missing.
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

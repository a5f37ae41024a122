package agent

import (
	"context"
	"errors"

	"dsstar/prompts"
)

// reportChars is the length up to which an error report, already without the
// insides of libraries, is short enough for a debugger.
const reportChars = 4000

// summarize shortens a long error report by the model (DS-STAR section 3.3);
// one that no reply shortens is cut instead.
func (r *run) summarize(ctx context.Context, subject, report, where string) (string, error) {
	if len(report) <= reportChars {
		return report, nil
	}
	q := question{"summarizer", subject, []prompts.Part{
		prompts.Summarizer{Error: clip(report, r.cfg.ResultChars), Where: where},
	}, map[string]string{"error": report}}
	short, err := ask(ctx, r, q, readText)
	if unread := (*ReplyError)(nil); errors.As(err, &unread) {
		return clip(report, reportChars), nil
	}
	return short, err
}

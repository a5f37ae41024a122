package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// judge lets the judge decide whether the plan suffices. One reply holds the verdict, the step that
// is wrong if one is, and the last cell of a plan that suffices. A reply that cannot be read counts
// as unfinished, which drops nothing.
func (r *run) judge(ctx context.Context) error {
	if r.t.Start != nil {
		r.ground(r.t.Readings) // files and notes can be other ones than before
	}
	said, step, err := r.verdict(ctx)
	if err != nil {
		return err
	}
	round := r.t.Last()
	round.Verdict, round.Answer = &said.Verdict, said.Code
	round.Verdict.Disputes = step
	r.heed(said)
	if err := r.observe(Event{Kind: Judged, Text: said.Reason}); err != nil {
		return err
	}
	if said.Sufficient || step > 0 || r.roundsLeft() <= 0 {
		return nil
	}
	return r.route(said.Wrong, said.Reason)
}

// verdict asks for a verdict, again if a person says that their cell is meant as it is. step is that of
// a person's cell which stays although the verdict is against it; 0: there is none.
func (r *run) verdict(ctx context.Context) (said ask.Judgement, step int, err error) {
	for subject, meant := r.subject(), true; meant; subject += ", as it is meant" {
		if err := r.inherit(ctx); err != nil {
			return said, 0, err
		}
		seen, err := r.see(ctx)
		if err != nil {
			return said, 0, err
		}
		points, due := len(r.t.Readings), r.unwritten()
		if r.rereads() { // it names the readings, and theirs come later
			points, due = 0, nil
		}
		said, err = ask.Role(ctx, r.asker, ask.Request{Role: "judge", Subject: subject,
			Besides: []any{r.t.Anew, seen.Digests},
			Words:   func() []prompts.Part { return r.judgeWords(seen, due) },
			Images: func() []llm.Image {
				_, _ = r.work.enter(ctx, r.chain(), false) // else there are fewer pictures
				return r.pictures()
			}}, ask.Judgements(r.t.Steps(), points, due, r.rereads(), r.t.Earlier()))
		unread, err := r.unread(err)
		if unread {
			said.Verdict = record.Verdict{Unfinished: true, Reason: "the judge gave no verdict that could be read"}
		}
		if err != nil {
			return said, 0, err
		}
		if said.Reason == "" && !said.Sufficient {
			said.Reason = "the judge did not say what is missing"
		}
		if step, meant, err = r.insists(ctx, said.Wrong, said.Reason); err != nil {
			return said, 0, err
		}
	}
	return said, step, nil
}

func (r *run) judgeWords(seen sight, due []ask.Branch) []prompts.Part {
	parts := r.shared()
	withoutMemory(parts) // as of the arbiter
	request := prompts.Judgement{Written: seen.Written, Follows: r.t.Earlier() > 0,
		Pictures: strings.Join(seen.Pictures, "\n"), Points: r.points(due), Branches: len(due) > 0,
		Guidelines: r.t.Task.Guidelines != "", Reread: r.rereads()}
	for n, round := range r.t.Accepted() {
		if round.ByHand {
			request.Hand = append(request.Hand, prompts.HandStep{Number: n + 1, Was: round.Was})
		}
	}
	return append(parts, request)
}

// A sight is what the judge sees besides the notebook.
type sight struct {
	Written  string   `json:"written,omitempty"`  // the files that the cells have written
	Pictures []string `json:"pictures,omitempty"` // names of those that go with the request
	Digests  []string `json:"digests,omitempty"`  // of the pictures
}

// see returns what the accepted cells have left to see.
func (r *run) see(ctx context.Context) (sight, error) {
	return look(ctx, r.work, "sight", r.chain(), formOf(r.t.Task).files, func(context.Context) (sight, error) {
		s := sight{Written: r.work.written()}
		for _, p := range r.pictures() {
			sum := sha256.Sum256(p.Data)
			s.Pictures, s.Digests = append(s.Pictures, brief.OneLine(p.Name)), append(s.Digests, hex.EncodeToString(sum[:8]))
		}
		return s, nil
	})
}

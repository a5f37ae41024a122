package agent_test

import (
	"slices"
	"testing"

	"dsstar/agent"
)

func TestDescribeFiles(t *testing.T) {
	described := func(data map[string]string) *played {
		return play(t, simple, withData(t, data), func(s *stage) {
			s.files, s.quick, s.config.Method.Script, s.config.TopK = true, true, true, 1
		}).noError(t)
	}
	p := described(map[string]string{"a.csv": "a\n1\n", "b.csv": "b\n1\n", "empty.csv": ""})
	if d := p.Descriptions; d[0].Text != "a table" || d[1].Text != "a table" || d[2].Text == "" {
		t.Errorf("%+v", d)
	}
	if len(p.Warnings) > 0 || slices.Contains(p.kinds, agent.Planned) ||
		len(p.world.sessions) != len(p.world.of(agent.Describe)) { // more than TopK files are not ranked
		t.Errorf("warnings %q, events %v", p.Warnings, p.kinds)
	}
	if none := described(map[string]string{"empty.csv": ""}); len(none.world.sessions) > 0 {
		t.Errorf("%d sessions where no script is needed", len(none.world.sessions))
	}
}

package site

import (
	"testing"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/site/sitetest"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/notebook"
)

// TestRefuse: a site is used only as it can be, by whatever command.
func TestRefuse(t *testing.T) {
	databases := Host{Databases: []Database{{}}}
	own, server, guest := About{}, About{Server: "http://h/"}, About{Running: &kernel.Running{}}
	for i, c := range []struct {
		host     Host
		at       About
		rollback configs.Rollback
		use      Use
		refused  bool
	}{
		{databases, own, "checkpoint", Use{}, false},
		{databases, server, "auto", Use{}, true},
		{databases, guest, "auto", Use{}, true},
		{Host{}, guest, "checkpoint", Use{}, true},
		{Host{}, guest, "off", Use{Keep: []string{"x"}}, false},
		{Host{}, server, "auto", Use{Keep: []string{"x"}}, true},
	} {
		err := c.host.refuse(c.at, &configs.Settings{Rollback: c.rollback}, c.use)
		if (err != nil) != c.refused {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestGuestOff: a kernel of the user's does not go back, either, if that is off.
func TestGuestOff(t *testing.T) {
	t.Parallel()
	file := sitetest.Start(t, t.TempDir(), "0123abcd-off")
	g := &guest{running: kernel.Running{File: file}, settings: &configs.Settings{Rollback: "off"},
		beside: &own{settings: &configs.Settings{}}}
	s, err := g.Open(t.Context(), agent.Work, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Execute(t.Context(), "mine = 1")
	back, backErr := s.Rollback(t.Context(), nil)
	if way := g.About().Way; err != nil || backErr != nil || way != notebook.NotAtAll || back.Way != way {
		t.Errorf("%v %v, %q, %+v", err, backErr, way, back)
	}
}

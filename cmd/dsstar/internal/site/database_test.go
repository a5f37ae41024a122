package site

import (
	"strings"
	"testing"

	"dsstar/agent/files"
	"dsstar/configs"
)

// TestReopen: a database is opened only if its address is the one that a notebook of this user's dsstar
// names, or one that the user names.
func TestReopen(t *testing.T) {
	const named = "postgresql://db.example:5432/sales"
	sources := []files.Source{{Name: "numbers.csv", Path: "numbers.csv"},
		{Name: "sales" + files.DatabaseEnding, Database: named}}
	for _, c := range []struct {
		address string // of the variable
		made    bool
		allowed string
		opens   bool
	}{
		{"postgresql://me:pass@db.example:5432/sales", true, "", true},
		{"postgres://other@db.example:5432/sales", true, "", true},
		{"postgresql://me:pass@elsewhere.example:5432/sales", true, "", false},
		{"postgresql://me:pass@db.example:5432/salaries", true, "", false},
		{"mysql://me:pass@db.example:5432/sales", true, "", false},
		{"postgresql://me:pass@elsewhere.example:5432/sales", true, "postgresql://elsewhere.example:5432/sales", true},
		{"postgresql://me:pass@db.example:5432/sales", false, "", false},
		{"postgresql://me:pass@db.example:5432/sales", false, named, true},
		{"postgresql://me:pass@elsewhere.example:5432/sales", false, named, false},
		{"", true, named, false}, {"postgresql://db.example:5432/sales?service=x", true, "", false},
	} {
		h := Host{Env: []string{"DSSTAR_DB_SALES=" + c.address}}
		s := &configs.Settings{}
		if c.allowed != "" {
			s.AllowDatabases = []string{c.allowed}
		}
		err := h.Reopen(sources, s, c.made)
		if opens := err == nil && len(h.Databases) == 1; opens != c.opens {
			t.Errorf("%+v: %v, %v", c, err, h.Databases)
		}
		if err != nil && (len(h.Databases) > 0 || strings.Contains(err.Error(), "pass")) {
			t.Errorf("%+v: %v, %v", c, err, h.Databases)
		}
	}
}

// TestService: only PostgreSQL has service files, and an address that names one is refused for that reason.
func TestService(t *testing.T) {
	for address, refused := range map[string]bool{
		"postgres://me:pass@/?service=x": true, "postgresql+psycopg://h/d?service=x": true,
		"clickhouse://h/d?service=x": false, "trino://h/d?service=x": false, "postgresql://h/d": false,
	} {
		_, _, err := Host{}.FindDatabase(address)
		if (err != nil) != refused || err == errAddress {
			t.Errorf("%s: %v", address, err)
		}
	}
}

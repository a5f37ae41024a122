package profile_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"dsstar/agent/describe/profile"
)

// TestCauses: what drivers say, in the languages of their servers, is told apart by its words, and
// not by those of names.
func TestCauses(t *testing.T) {
	t.Parallel()
	const failed = `connection failed: connection to server at "password-db", port 5432 failed: `
	cases := []struct {
		Raised string // Python
		Cause  string
		Text   string // "": another
	}{
		{pythonic(failed + "Connection refused\n\tIs the server running on that host?"), "",
			failed + "Connection refused"},
		{pythonic(failed + `FATAL:  database "login" does not exist`), "", ""},
		{pythonic(failed + "FATAL:  the database system is starting up"), "", ""},
		{pythonic(failed + `FATAL:  password authentication failed for user "a"`), profile.NoLogin, ""},
		{pythonic(failed + "FATAL:  Passwort-Authentifizierung für Benutzer »a« fehlgeschlagen"),
			profile.NoLogin, ""},
		{pythonic(failed + `FATAL:  role "a" does not exist`), profile.NoLogin, ""},
		{pythonic(failed + `FATAL:  permission denied for database "a"`), profile.NoLogin, ""},
		{pythonic(failed + "fe_sendauth: no password supplied"), profile.NoLogin, ""},
		{"Exception(1045, 'Zugriff verweigert')", profile.NoLogin, "Zugriff verweigert"},
		{`Exception(2003, "Can't connect to MySQL server on 'login' (Connection refused)")`, "", ""},
		{"Exception('28000', '[28000] Login failed for user')", profile.NoLogin, ""},
		{"Exception(1969, 'max_statement_time exceeded')", profile.NoTime, ""},
		{pythonic("ORA-01017: invalid username/password; logon denied"), profile.NoLogin, ""},
		{"OSError(111, 'Connection refused')", "", "Connection refused"},
		{pythonic("When listing objects under key '' in bucket 'forbidden': AWS Error NO_SUCH_BUCKET"), "", ""},
		{pythonic("When listing objects: AWS Error ACCESS_DENIED during ListObjectsV2"), profile.NoLogin, ""},
		{pythonic("Permission 'storage.objects.list' denied on resource"), profile.NoLogin, ""},
		{pythonic("403 Server failed to authenticate the request"), profile.NoLogin, ""},
		{"OutOfTime('it takes longer than 4 s')", profile.NoTime, "it takes longer than 4 s"},
	}
	raised := make([]string, len(cases))
	for i, c := range cases {
		raised[i] = c.Raised
	}
	asked, err := json.Marshal(raised)
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, t.TempDir(), fmt.Sprintf(`
module = sys.modules["dsstar_profile.profile"]
errors = [eval(text, vars(module)) for text in json.loads(%q)]
print(json.dumps([module.why(error, True) for error in errors]))`, asked))
	var got [][2]string
	if json.Unmarshal([]byte(out), &got) != nil || len(got) != len(cases) {
		t.Fatal(out)
	}
	for i, c := range cases {
		if got[i][0] != c.Cause || c.Text != "" && got[i][1] != c.Text || got[i][1] == "" {
			t.Errorf("%s: %q", c.Raised, got[i])
		}
	}
}

// pythonic is an exception with a text.
func pythonic(text string) string {
	quoted, _ := json.Marshal(text) // a string cannot fail
	return "Exception(" + string(quoted) + ")"
}

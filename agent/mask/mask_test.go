package mask

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsstar/agent/mask/masktest"
)

// hides checks that texts are masked without a part of each, and come back.
func hides(t *testing.T, m *Masker, parts map[string]string) {
	t.Helper()
	for text, gone := range parts {
		if got := m.Mask(text); strings.Contains(got, gone) || m.Unmask(got) != text {
			t.Errorf("%s: %s, back %s", text, got, m.Unmask(got))
		}
	}
}

// stay checks that texts stay as they are.
func stay(t *testing.T, m *Masker, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := m.Mask(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// TestCredentials: each kind is masked in each form, and printed alone in the same request and once it
// is known. Masked text comes back.
func TestCredentials(t *testing.T) {
	for secret, line := range masktest.Credentials {
		for name, form := range masktest.Forms {
			m, text := New([]byte("k")), form(fmt.Sprintf(line, secret))
			for part := range strings.FieldsSeq(secret) {
				both := New(nil).MaskAll([]string{"it is " + part, text})
				if got := m.Mask(text) + m.Mask("it is "+part) + both[0]; strings.Contains(got, part) {
					t.Errorf("%s, %s: %s", name, line, got)
				}
			}
			masked := m.Mask(text)
			if got := m.Unmask(masked); got != text {
				t.Errorf("%s: %s\nbecame %s", name, text, got)
			}
			stay(t, New([]byte("k")), masked)
			if len(New(nil).Learn(text)) == 0 {
				t.Errorf("%s, %s: not found in the file", name, line)
			}
		}
	}
}

// TestDress: a secret is masked whole, whatever its characters are and wherever it ends.
func TestDress(t *testing.T) {
	for text, secret := range map[string]string{
		"postgres://u:p@ssw9@host/db": "p@ssw9", "mysql://u:a#b?c@1@db.example.org": "a#b?c@1",
		"DB_PASS=x&y$9z # a comment": "x&y$9z", "pwd: ab(cd!9": "ab(cd!9",
		"?user=a&password=h4nter&db=c": "h4nter", "https://a.net/b?sig=aB3xY" + "aB3xYaB3xYaB3xYaB3xYaB3xY": "aB3xYaB3xYaB3xYaB3xYaB3xYaB3xY",
		"SECRET_KEY=django-1nsecure-#k$9x&w": "django-1nsecure-#k$9x&w",
		`password = "Yourk9#xx"`:             "Yourk9#xx", `password = "$ecretP4ss"`: "$ecretP4ss",
		`password: "example!Pw93"`: "example!Pw93", `password: "st.X9k2w"`: "st.X9k2w",
		`password: "%x9qqz1"`: "%x9qqz1", `passwd = "<k9wq>z1!"`: "<k9wq>z1!",
		`password = "hunter2!x…`: "hunter2!x", `password = 'hunter2!x... | b`: "hunter2!x",
		"password: P@ss,w0rd9": "P@ss,w0rd9", "password=h4nt;er2, the last": "h4nt;er2",
		"Pwd=S3r!,v;9w;User Id=ada;x": "S3r!,v;9w", "user: a, pwd: S9,mm3r!x;id: 3": "S9,mm3r!x",
		`password="#Sommer"`: "#Sommer", `password: "blue-samPle"`: "blue-samPle",
		`password = "Tr0ub4dor 3&x"`: "Tr0ub4dor 3&x", "<password>hunter2!x…": "hunter2!x",
		"postgres://ada:tr0ub4d…": "tr0ub4d", "AKIA" + "QX7MZ2PLR4T…": "AKIA" + "QX7MZ2PLR4T",
	} {
		m := New(nil)
		hides(t, m, map[string]string{text: secret})
		hides(t, m, map[string]string{"it is " + secret: secret})
	}
}

// TestCutOff: of a known value that is cut, what is left is masked, too.
func TestCutOff(t *testing.T) {
	m := New(nil)
	m.Add([]string{"Wolfeschlegelsteinhausen, Ann", "Anna Smith"})
	m.Learn("key: AKIA" + "QX7MZ2PLR4TN6WYD")
	hides(t, m, map[string]string{
		"name Wolfeschlegelst…": "Wolf", "1  WOLFESCHLEGELSTEINH...\n2": "WOLF", "Wolfeschlegelsteinhausen, A…": "Wolf",
		"it is Anna Smi\n[… 12 characters cut here …]\nx": "Anna", "a\n[… 9 characters cut here …]\nschlegelsteinhausen, Ann": "schlegel",
		"a\n[… 9 characters cut here …]\n7MZ2PLR4TN6WYD b": "PLR4", "AKIA" + "QX7MZ2P…": "QX7MZ",
	})
	stay(t, m, "Wolfe", "a … z", "an…", "schlegelsteinhausen", "Ann\n…", "and so on...")
}

// TestNoCredentials: code that has no secret in it, and data that resemble one.
func TestNoCredentials(t *testing.T) {
	for _, text := range []string{
		`password = os.environ["DB_PASSWORD"]`, `password = getpass.getpass()`, "api_key: ${API_KEY}",
		`api_key = "YOUR_API_KEY_HERE"`, `{"token": "unbelievable", "lemma": "believe"}`,
		`{"token": "0x6B175474E89094C44Da98b954EedeAC495271d0F"}`, "https://example.org:8080/a@b",
		"https://ada@example.org/", "postgresql://user:password@host/db", "The password: see the manual",
		"key,token,secret\na,b,c", "sk-learn, sk-image", "password=$PASSWORD", "password: $(pass show db)",
		`password = "%(password)s"`, "password: *default", "password=f(x)", "f(u=u, password=secretvar)",
		"password = vault.read(path)[0]", "password==other", `password = "changeme"`, `password: "<password>"`,
		"https://example.org/wiki/Foo:Bar…", "http://example.org:8080…", "ASIAPACIFIC2024...",
		"token: [REDACTED]", `token = "insert-your-token"`, "password: $pw1", "password=blue-sample",
		"passwd: 1,2,3", "f(password=p1,q)", `{"password": "see page 3 of the manual"}`, "pwd: ab, cd9!; x",
		`"password_set": "2024-01-01 12:30 UTC"`, `password = "" + x9y + "z"`, "pwd:test,x9!y", "pwd: /home",
		"monkey = 'abcdefghij1234567890'", "tokens: 1234567890123456",
	} {
		if stay(t, New(nil), text); len(New(nil).Learn(text)) > 0 {
			t.Error(text)
		}
	}
}

// TestLines: a line with credentials is named once, whatever bytes are before it.
func TestLines(t *testing.T) {
	text := "a\xff\xff\xff\npassword = 'hunter2!x' or 'x'; pwd = 'hunter3!y'\n\nAKIA" + "QX7MZ2PLR4TN6WYD\n"
	if got := fmt.Sprint(New(nil).Learn(text)); got != "[2 4]" {
		t.Error(got)
	}
}

// TestValues: values are masked as they stand and in another case, as whole words, the longest
// first.
func TestValues(t *testing.T) {
	m := New([]byte("k"))
	m.Add([]string{" Ann ", "Ann Smith", "O'Brien", "José", "1234567", "7654321.0", "李明", "1980-01-05", "12",
		"Line one\nLine two", "McDonald, Jr."})
	hides(t, m, map[string]string{
		"Ann": "Ann", "x ANN y": "ANN", "ann's": "ann", "Ann Smith": "Smith", `it's O\'Brien`: "Brien",
		`a\nAnn\tSmith`: "Ann", `Jos\u00e9`: "u00e9", "JOSÉ": "JOS", "id 1234567.0": "1234567",
		"1,234,567.00": "234", "1_234_567": "234", "7654321": "7654321", "他叫李明。": "李明",
		"1980-01-05T00:00": "1980", "data/report_Ann_2020.csv": "Ann", "x1234567.jpg": "1234567",
		"Line one": "one", `"McDonald, Jr."`: "McDonald", "MCDONALD, JR.": "MCD", `"id": 1234567}`: "1234567",
	})
	stay(t, m, "Annual", "Hannah", "12", "12345678", "Smith", "0.5")
	small, large := m.Mask("ann smith"), m.Mask("ANN SMITH")
	if strings.ToUpper(small) != large || m.Unmask(strings.ToUpper(m.Mask("Ann Smith"))) != "ANN SMITH" {
		t.Error(small, large)
	}
	if other := New([]byte("k")); other.Add([]string{"Ann Smith"}) != 0 || other.Mask("ann smith") != small {
		t.Error("another process has another stand-in")
	}
}

// TestThereAndBack: for any values and texts of them, masking hides each value and loses nothing.
func TestThereAndBack(t *testing.T) {
	value := rapid.OneOf(rapid.StringMatching(`[A-Za-zäöéÀŽß]{1,8}([ .'_-][A-Za-z0-9]{1,6}){0,2}`),
		rapid.StringMatching(`[0-9]{5,12}(\.0|\.5)?`), rapid.String())
	between := rapid.StringMatching(`[ ,;:"'()\\/_\n\t|=.-]{1,3}|\\n|\\u00e9|[a-z]{0,3}|[0-9]{0,3}|…|\.\.\.`)
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(value, 1, 20).Draw(t, "values")
		m := New([]byte("k"))
		m.Add(all)
		var b strings.Builder
		for range rapid.IntRange(1, 30).Draw(t, "parts") {
			v := rapid.SampledFrom(all).Draw(t, "value")
			v = rapid.SampledFrom([]string{v, strings.ToUpper(v), strings.ToLower(v), strings.TrimSpace(v)}).Draw(t, "dress")
			b.WriteString(between.Draw(t, "between") + v)
		}
		text := b.String()
		masked := m.Mask(text)
		if got := m.Unmask(masked); got != text {
			t.Fatalf("%q\nmasked %q\nback %q", text, masked, got)
		}
		for _, v := range all {
			if digits, _, _ := strings.Cut(v, "."); len(digits) >= 6 && !notDigits.MatchString(digits) &&
				strings.Contains(m.Mask("("+v+")"), digits) {
				t.Fatalf("%q stays", v)
			}
		}
	})
}

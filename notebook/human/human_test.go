package human

import (
	"math"
	"os/exec"
	"testing"
)

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB",
		498_100_000: "498.1 MB", 20e9: "20.0 GB", math.MaxInt64: "9223372.0 TB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestDollars(t *testing.T) {
	for usd, want := range map[float64]string{
		0: "$0", 0.00001: "$0.0001", 0.0034: "$0.0034", 0.0123: "$0.012", 0.1: "$0.10",
		0.995: "$0.99", 1.2: "$1.20", 1234.5: "$1234.50",
	} {
		if got := Dollars(usd); got != want {
			t.Errorf("%v: %s, want %s", usd, got, want)
		}
	}
}

func TestShell(t *testing.T) {
	for word, want := range map[string]string{
		"/srv/data-1/a,b.csv": "/srv/data-1/a,b.csv", "größe.csv": "größe.csv",
		"": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "a\nb": "'a\nb'", "~": "'~'", "a;b": "'a;b'",
	} {
		got := Shell(word)
		if got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
		if out, err := exec.Command("sh", "-c", "printf %s "+got).Output(); err == nil &&
			string(out) != word {
			t.Errorf("%q: a shell reads %q", word, out)
		}
	}
}

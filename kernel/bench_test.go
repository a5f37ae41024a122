package kernel

import (
	"testing"

	"dsstar/notebook"
)

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		k, err := Start(b.Context(), options(b))
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		_ = k.Close()
		b.StartTimer()
	}
}

func BenchmarkClose(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		k := open(b, options(b))
		b.StartTimer()
		_ = k.Close()
	}
}

func BenchmarkExecute(b *testing.B) {
	for name, code := range map[string]string{"assign": "x = 1", "print": "print(1)", "raise": "1/0"} {
		b.Run(name, func(b *testing.B) {
			k := open(b, options(b))
			for b.Loop() {
				if _, err := k.Execute(b.Context(), code); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFlood(b *testing.B) {
	k := open(b, options(b))
	for b.Loop() {
		runCell(b, k, "for i in range(10_000): print(i, flush=True)", notebook.OK)
	}
}

package compare

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkTables compares tables of which one has its rows and columns in another order, or one
// value that differs; the time grows with their size as sorting does.
func BenchmarkTables(b *testing.B) {
	for _, size := range []int{1 << 17, 1 << 18, 1 << 19, 1 << 20} {
		rows := size / 25
		order := rand.New(rand.NewPCG(1, 2)).Perm(rows)
		var first, second, other strings.Builder
		fmt.Fprintln(&first, "name,n,share")
		fmt.Fprintln(&second, "share,name,n")
		fmt.Fprintln(&other, "share,name,n")
		for i, k := range order {
			fmt.Fprintf(&first, "store %d,%d,%.6f\n", i, i*7, float64(i)/3)
			fmt.Fprintf(&second, "%.8f,store %d,%d\n", float64(k)/3, k, k*7)
			fmt.Fprintf(&other, "%.6f,store %d,%d\n", float64(k)/3, k, k*7+k/(rows-1))
		}
		for name, texts := range map[string][2]string{
			"order": {first.String(), second.String()}, "value": {first.String(), other.String()}} {
			b.Run(fmt.Sprintf("%s/%dkB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					asked := Asked{Decimals: -1}
					x := Answer{Words: "a.csv", Files: []File{{Name: "a.csv", Digest: "a", Text: texts[0]}}}
					y := Answer{Words: "a.csv", Files: []File{{Name: "a.csv", Digest: "b", Text: texts[1]}}}
					if found := Answers(x, y, asked); (found.Sameness == Same) != (name == "order") {
						b.Fatalf("%+v", found)
					}
				}
			})
		}
	}
}

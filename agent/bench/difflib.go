package bench

import (
	"slices"
	"unicode/utf8"
)

// alike returns whether the similarity of a and b is over bound. Texts whose
// lengths rule it out are not compared: that takes long for long ones.
func alike(a, b string, bound float64) bool {
	n, m := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	return 2*float64(min(n, m)) > bound*float64(n+m)*(1-1e-9) && similarity(a, b) > bound
}

// similarity is SequenceMatcher(None, a, b).ratio() of Python's difflib, by
// characters, with the popular ones of a long b left out (autojunk).
func similarity(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	if len(x)+len(y) == 0 {
		return 1
	}
	at := map[rune][]int{}
	for j, r := range y {
		at[r] = append(at[r], j)
	}
	if n := len(y); n >= 200 {
		for r, places := range at {
			if len(places) > n/100+1 {
				delete(at, r)
			}
		}
	}
	same := 0
	for todo := [][4]int{{0, len(x), 0, len(y)}}; len(todo) > 0; {
		span := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, j, k := longestMatch(x, y, at, span)
		if k == 0 {
			continue
		}
		same += k
		todo = append(todo, [4]int{span[0], i, span[2], j}, [4]int{i + k, span[1], j + k, span[3]})
	}
	return 2 * float64(same) / float64(len(x)+len(y))
}

// longestMatch is the longest block x[i:i+k] == y[j:j+k] within the span, the
// first of several; blocks begin with what at has and grow over what it has not.
func longestMatch(x, y []rune, at map[rune][]int, span [4]int) (i, j, k int) {
	i, j = span[0], span[2]
	// How long the match is that ends before row and before col+1; zero again where it is not of the last row.
	last, next := make([]int, span[3]-span[2]+1), make([]int, span[3]-span[2]+1)
	var lastCols, nextCols []int
	for row := span[0]; row < span[1]; row++ {
		nextCols = nextCols[:0]
		cols := at[x[row]]
		first, _ := slices.BinarySearch(cols, span[2])
		for _, col := range cols[first:] {
			if col >= span[3] {
				break
			}
			c := col - span[2]
			n := last[c] + 1
			next[c+1] = n
			nextCols = append(nextCols, c+1)
			if n > k {
				i, j, k = row-n+1, col-n+1, n
			}
		}
		for _, c := range lastCols {
			last[c] = 0
		}
		last, next, lastCols, nextCols = next, last, nextCols, lastCols
	}
	for i > span[0] && j > span[2] && x[i-1] == y[j-1] {
		i, j, k = i-1, j-1, k+1
	}
	for i+k < span[1] && j+k < span[3] && x[i+k] == y[j+k] {
		k++
	}
	return i, j, k
}

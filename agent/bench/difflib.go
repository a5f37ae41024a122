package bench

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
	lengths := map[int]int{} // of the match that ends before x[row], by its end in y
	for row := span[0]; row < span[1]; row++ {
		next := map[int]int{}
		for _, col := range at[x[row]] {
			if col < span[2] {
				continue
			}
			if col >= span[3] {
				break
			}
			n := lengths[col-1] + 1
			next[col] = n
			if n > k {
				i, j, k = row-n+1, col-n+1, n
			}
		}
		lengths = next
	}
	for i > span[0] && j > span[2] && x[i-1] == y[j-1] {
		i, j, k = i-1, j-1, k+1
	}
	for i+k < span[1] && j+k < span[3] && x[i+k] == y[j+k] {
		k++
	}
	return i, j, k
}

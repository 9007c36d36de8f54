package strategy

import "slices"

// Nearest returns the name with the smallest Distance to a mistyped one; "" where there are no
// names. Errors about unknown parameters and config keys name it.
func Nearest(typed string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return slices.MinFunc(names, func(a, b string) int { return Distance(typed, a) - Distance(typed, b) })
}

// Distance is the edit distance of a and b: the number of letters to insert, delete or replace.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

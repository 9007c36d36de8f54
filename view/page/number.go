package page

import "strings"

// thin is the space between thousands: narrow, and no line ends at it.
const thin = "\u202f"

// Number is a decimal as a page writes it: its whole part in groups of three. A text that is no
// decimal stays as it is.
func Number(text string) string {
	sign, rest := "", text
	if text != "" && strings.ContainsRune("+-", rune(text[0])) {
		sign, rest = text[:1], text[1:]
	}
	whole, part, broken := strings.Cut(rest, ".")
	if len(whole) < 4 || strings.Trim(whole+part, "0123456789") != "" {
		return text
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + thin + whole[at:]
	}
	if broken {
		whole += "." + part
	}
	return sign + whole
}

// Thin writes the numbers of a text that are grouped by commas as Number does.
func Thin(text string) string {
	if !strings.Contains(text, ",") {
		return text
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		number := strings.TrimLeft(word, "+-(")
		end := strings.IndexFunc(number, func(r rune) bool { return r != ',' && (r < '0' || r > '9') })
		if end < 0 {
			end = len(number)
		}
		run := strings.TrimRight(number[:end], ",")
		if groups := strings.Split(run, ","); thousands(groups) {
			words[i] = word[:len(word)-len(number)] + strings.Join(groups, thin) + number[len(run):]
		}
	}
	return strings.Join(words, " ")
}

// thousands reports whether these are groups of three digits, the first of one to three.
func thousands(groups []string) bool {
	for i, g := range groups {
		if len(g) > 3 || len(g) < 3 && (i > 0 || g == "") {
			return false
		}
	}
	return len(groups) > 1
}

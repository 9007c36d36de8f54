package wire

// Tokens reads an object by a table: into[i] becomes the token (see Token) of the member names[i],
// and does not change if there is none. Other members are skipped; of two members of one name the
// later counts. Tokens is fastest if the members come in the order of names.
func (s *Scanner) Tokens(names []string, into [][]byte) {
	next := 0
	for s.Object(); s.Member(); {
		i := indexFrom(names, s.name, next)
		if i < 0 {
			s.Discard()
			continue
		}
		into[i] = s.Token()
		next = i + 1
	}
}

// indexFrom returns the index of name in names, searching from next on and then from the start; -1
// for none.
func indexFrom(names []string, name []byte, next int) int {
	for i := next; i < len(names); i++ {
		if names[i] == string(name) {
			return i
		}
	}
	for i := range next {
		if names[i] == string(name) {
			return i
		}
	}
	return -1
}

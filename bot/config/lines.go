package config

import "strings"

// lineIndex finds the line of every key of a TOML text that the decoder has accepted. In any other
// text it may miss keys or find wrong ones, but it ends.
type lineIndex struct {
	text string
	at   int
	line int
	keys map[string]int
}

// indexLines returns the line of each key by its lineKey.
func indexLines(text string) map[string]int {
	x := &lineIndex{text: text, line: 1, keys: make(map[string]int)}
	var table []string
	for x.skip(" \t\r\n"); x.at < len(x.text); x.skip(" \t\r\n") {
		switch x.text[x.at] {
		case '#':
			x.restOfLine()
		case '[':
			x.skip("[ \t")
			table = x.key(nil)
			x.restOfLine()
		default:
			x.entry(table)
		}
	}
	return x.keys
}

// lineKey is the key of a path in the index.
func lineKey(path []string) string { return strings.Join(path, "\x00") }

// step moves on by one byte.
func (x *lineIndex) step() {
	if x.text[x.at] == '\n' {
		x.line++
	}
	x.at++
}

func (x *lineIndex) skip(set string) {
	for x.at < len(x.text) && strings.IndexByte(set, x.text[x.at]) >= 0 {
		x.step()
	}
}

func (x *lineIndex) restOfLine() {
	for x.at < len(x.text) && x.text[x.at] != '\n' {
		x.at++
	}
}

// key reads a dotted key behind a table's path and notes the line of each of its parts.
func (x *lineIndex) key(table []string) []string {
	path := Join(table)
	for x.at < len(x.text) {
		x.skip(" \t")
		path = append(path, x.part())
		if _, known := x.keys[lineKey(path)]; !known {
			x.keys[lineKey(path)] = x.line
		}
		x.skip(" \t")
		if x.at >= len(x.text) || x.text[x.at] != '.' {
			break
		}
		x.at++
	}
	return path
}

// part reads one part of a key, quoted or bare.
func (x *lineIndex) part() string {
	start := x.at
	if x.at < len(x.text) && (x.text[x.at] == '"' || x.text[x.at] == '\'') {
		x.quoted()
		return strings.Trim(x.text[start:x.at], `"'`)
	}
	for x.at < len(x.text) && strings.IndexByte(" \t\r\n.=]{},#", x.text[x.at]) < 0 {
		x.at++
	}
	return x.text[start:x.at]
}

// entry reads key = value.
func (x *lineIndex) entry(table []string) {
	path := x.key(table)
	if x.skip(" \t"); x.at >= len(x.text) || x.text[x.at] != '=' {
		x.restOfLine()
		return
	}
	x.at++
	x.skip(" \t")
	x.value(path)
}

// value moves on past a value; the keys of an inline table are noted.
func (x *lineIndex) value(path []string) {
	for depth := 0; x.at < len(x.text); {
		switch c := x.text[x.at]; {
		case c == '"' || c == '\'':
			x.quoted()
		case c == '#':
			x.restOfLine()
		case c == '{' && depth == 0:
			x.step()
			x.inline(path)
		case c == '[' || c == '{':
			depth++
			x.step()
		case (c == ']' || c == '}') && depth > 0:
			depth--
			x.step()
		case depth == 0 && (c == ',' || c == '}' || c == '\n'):
			return
		default:
			x.step()
		}
	}
}

// inline reads the entries of an inline table and its closing brace.
func (x *lineIndex) inline(path []string) {
	for x.skip(" \t\r\n,"); x.at < len(x.text) && x.text[x.at] != '}'; x.skip(" \t\r\n,") {
		if x.text[x.at] == '#' {
			x.restOfLine()
			continue
		}
		before := x.at
		x.entry(path)
		if x.at == before {
			x.step()
		}
	}
	if x.at < len(x.text) {
		x.at++
	}
}

// quoted moves on past a text in one or three quotes.
func (x *lineIndex) quoted() {
	mark := x.text[x.at : x.at+1]
	if strings.HasPrefix(x.text[x.at:], strings.Repeat(mark, 3)) {
		mark = strings.Repeat(mark, 3)
	}
	x.at += len(mark)
	for x.at < len(x.text) && !strings.HasPrefix(x.text[x.at:], mark) {
		if len(mark) == 1 && x.text[x.at] == '\n' {
			return // no text of one quote goes over a line
		}
		if mark[0] == '"' && x.text[x.at] == '\\' {
			x.step()
		}
		if x.at < len(x.text) {
			x.step()
		}
	}
	x.at = min(x.at+len(mark), len(x.text))
}

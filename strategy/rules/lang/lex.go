package lang

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/market"
)

// Limits of a rule.
const (
	maxText  = 2000 // bytes
	maxNodes = 200  // numbers, words, operators and calls; a let name counts as the text behind it
	maxDepth = 32   // brackets in brackets
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenNumber           // 1.5
	tokenPart             // 1.5%
	tokenName             // close, ta.sma
	tokenText             // "1d"
	tokenSign             // + ( and crosses above
)

// token is a word of a rule.
type token struct {
	kind tokenKind
	text string // of a tokenText without its quotes, of and, or and not always the word
	from int    // place in the rule
	to   int
	num  float64
}

// lexer cuts a rule into tokens.
type lexer struct {
	source string
	at     int
}

// signs are the operators and brackets, the longer ones first.
var signs = []string{"&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", ",", "?",
	":", "!", ".", "%"}

// strangers are signs of other languages, and what is written for them here.
var strangers = [][2]string{{"^", "pow(a, b)"}, {"**", "pow(a, b)"}, {"<>", "!="}, {"=<", "<="}, {"=>", ">="},
	{":=", "the text into [rules.let] and its name here"}, {"\u2264", "<="}, {"\u2265", ">="}, {"\u2260", "!="},
	{"\u00d7", "*"}, {"\u2212", "-"}}

// words are the operators that have a name, and other spellings of them.
var words = map[string]string{"and": "and", "or": "or", "not": "not", "&&": "and", "||": "or", "!": "not",
	"crosses": "crosses"}

// next returns the next token.
func (l *lexer) next() token {
	for l.at < len(l.source) && strings.ContainsRune(" \t\r\n", rune(l.source[l.at])) {
		l.at++
	}
	from, rest := l.at, l.source[l.at:]
	if rest == "" {
		return token{kind: tokenEnd, from: from, to: from}
	}
	switch c := rest[0]; {
	case digit(c) || c == '.' && len(rest) > 1 && digit(rest[1]):
		return l.number()
	case letter(c):
		n := length(rest, func(c byte) bool { return letter(c) || digit(c) })
		return l.token(tokenName, n)
	case c == '"' || c == '\'':
		end := strings.IndexByte(rest[1:], c)
		if end < 0 {
			fail(from, "a text begins here and does not end")
		}
		t := l.token(tokenText, end+2)
		t.text = t.text[1 : len(t.text)-1]
		return t
	}
	for _, sign := range strangers {
		if strings.HasPrefix(rest, sign[0]) {
			fail(from, "%q is no sign here; write %s", sign[0], sign[1])
		}
	}
	for _, sign := range signs {
		if strings.HasPrefix(rest, sign) {
			return l.token(tokenSign, len(sign))
		}
	}
	fail(from, "%s", unknownSign(rest))
	return token{}
}

// token takes the next n bytes.
func (l *lexer) token(kind tokenKind, n int) token {
	t := token{kind: kind, text: l.source[l.at : l.at+n], from: l.at, to: l.at + n}
	l.at += n
	if word := words[t.text]; word != "" && kind != tokenText {
		t.kind, t.text = tokenSign, word
	}
	return t
}

// number takes a number such as 1.5, 20_000, 1e3 or 2%.
func (l *lexer) number() token {
	rest := l.source[l.at:]
	n := length(rest, func(c byte) bool { return digit(c) || c == '.' || c == '_' })
	if n < len(rest) && rest[n]|' ' == 'e' {
		power := n + 1
		if power < len(rest) && (rest[power] == '+' || rest[power] == '-') {
			power++
		}
		n = power + length(rest[power:], digit)
	}
	t := l.token(tokenNumber, n)
	num, err := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64)
	if err != nil {
		fail(t.from, "%q is not a number", t.text)
	}
	t.num = num
	if after := length(l.source[l.at:], letter); after > 0 {
		text := l.source[t.from : l.at+after]
		if _, err := market.ParseInterval(text); err == nil {
			fail(t.from, "an interval stands in quotes: %q", text)
		}
		fail(t.from, "%q is not a number, and no name: a name begins with a letter", text)
	}
	if strings.HasPrefix(l.source[l.at:], "%") {
		l.at++
		t.kind, t.to = tokenPart, l.at
	}
	return t
}

func digit(c byte) bool  { return '0' <= c && c <= '9' }
func letter(c byte) bool { return 'a' <= c|' ' && c|' ' <= 'z' || c == '_' }

// length is the number of bytes at the begin of a text that are in a class.
func length(text string, in func(byte) bool) (n int) {
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}

// unknownSign says what is wrong with a text that no token begins with.
func unknownSign(text string) string {
	switch text[0] {
	case '=':
		return `"=" sets nothing here; did you mean "=="?`
	case '&':
		return `unknown sign "&"; did you mean "and"?`
	case '|':
		return `unknown sign "|"; did you mean "or"?`
	}
	r, _ := utf8.DecodeRuneInString(text)
	return "unknown sign " + strconv.QuoteRune(r)
}

package exchange

import (
	"errors"
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange/wire"
)

// scan reads the members of an order's record. A member that is no text, number, flag or list where
// one belongs is an error that names it. So is a text, a number or a list that comes twice: which
// of the two is true cannot be known.
func (o *orderRecord) scan(data []byte) error {
	s := recordScanner{Scanner: wire.NewScanner(data), whole: string(data)}
	next := member(0)
	for s.Object(); s.Member(); next++ {
		if next = s.memberFrom(next); next == members {
			s.Discard()
			continue
		}
		switch {
		case next == memberVisible:
			s.flag("visible", &o.visible)
		case next == memberPostOnly:
			s.flag("postOnly", &o.postOnly)
		case next == memberFills:
			s.fills(&o.fills)
		case numbers>>next&1 != 0:
			s.number(memberNames[next], &o.text[next])
		default:
			s.text(memberNames[next], &o.text[next])
		}
	}
	return s.End()
}

// recordScanner is a scanner of records. Its methods read one value each. A null leaves a text, a
// number and a flag as they are.
type recordScanner struct {
	wire.Scanner
	whole string // the data
}

// memberFrom returns the member of the present name, searching from next on; members for none.
func (s *recordScanner) memberFrom(next member) member {
	name := s.Name()
	for i := next; i < members; i++ {
		if memberNames[i] == string(name) {
			return i
		}
	}
	for i := range min(next, members) {
		if memberNames[i] == string(name) {
			return i
		}
	}
	return members
}

// null skips a null and reports whether there was one.
func (s *recordScanner) null() bool {
	if s.Peek() != 'n' {
		return false
	}
	s.Discard()
	return true
}

func (s *recordScanner) text(name string, into *string) {
	switch {
	case s.null():
	case s.Peek() != '"':
		s.Fail(name, fmt.Errorf("%.40s is no text", s.Raw()))
	default:
		s.once(name, *into)
		*into = s.Text(s.whole)
	}
}

// once fails where a member has a value already.
func (s *recordScanner) once(name, before string) {
	if before != "" {
		s.Fail(name, errors.New("it comes twice"))
	}
}

func (s *recordScanner) number(name string, into *string) {
	if s.null() {
		return
	}
	text := s.Text(s.whole)
	if !wire.IsNumber(text) {
		s.Fail(name, fmt.Errorf("%q is no number", clip(text)))
		return
	}
	s.once(name, *into)
	*into = text
}

func (s *recordScanner) flag(name string, into *bool) {
	if s.null() {
		return
	}
	switch text := string(s.Raw()); text {
	case "true", "false":
		*into = text == "true"
	default:
		s.Fail(name, fmt.Errorf("%s is neither true nor false", clip(text)))
	}
}

func (s *recordScanner) fills(into *[]fillRecord) {
	if s.null() {
		return
	}
	if *into != nil {
		s.once("fills", "before")
	}
	if s.Peek() != '[' {
		s.Fail("fills", fmt.Errorf("%.40s is no list", s.Raw()))
		return
	}
	for s.Array(); s.Element(); {
		*into = append(*into, fillRecord{})
		s.fill(&(*into)[len(*into)-1])
	}
}

func (s *recordScanner) fill(f *fillRecord) {
	for s.Object(); s.Member(); {
		if string(s.Name()) == "id" {
			s.text("fills.id", &f.id)
			continue
		}
		s.fillMember(f)
	}
}

// fillMember reads a member of a fill but its id.
func (s *recordScanner) fillMember(f *fillRecord) {
	switch string(s.Name()) {
	case "timestamp":
		s.number("fills.timestamp", &f.timestamp)
	case "amount":
		s.number("fills.amount", &f.amount)
	case "price":
		s.number("fills.price", &f.price)
	case "taker":
		s.flag("fills.taker", &f.taker)
	case "fee":
		s.number("fills.fee", &f.fee)
	case "feeCurrency":
		s.text("fills.feeCurrency", &f.feeCurrency)
	case "settled":
		f.settledKnown = s.Peek() != 'n'
		s.flag("fills.settled", &f.settled)
	default:
		s.Discard()
	}
}

// Package lives makes lives of a bot for tests: a setup and a list of events that a seed draws, as
// text that runs again, and shrunk to the fewest events that still break a promise. It holds each
// look at the exchange's ledger against what the bot has told. It never starts a bot and never
// talks to an exchange: the tests of bot/runner play a life. Start at Life, then Guard.
package lives

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Life is a setup and the events that befall a bot, by time.
type Life struct {
	Seed   uint64
	Setup  Setup
	Events []Event
}

// Setup is how the bot and its exchange begin.
type Setup struct {
	Feed       string        // poll, stream, orders, mixed
	Keep       bool          // keep_orders
	Strategies []string      // STYLE@MARKET
	Own        string        // base that the owner has beside the bot; "": none
	Start      time.Duration // time of the day
	Paper      bool          // mode = "paper"
	Takes      bool          // keep_exits = false
	Groups     int           // cancel-on-disconnect groups that the strategies have in turn; 0: none
}

// Names are the setup's rows in the matrix of pairs: what is not usual in it.
func (s *Setup) Names() (names []string) {
	if s.Paper {
		names = append(names, "setup paper")
	}
	if s.Takes {
		names = append(names, "setup keep_exits=false")
	}
	if s.Groups > 0 {
		names = append(names, "setup cod_group_id")
	}
	for _, one := range s.Strategies {
		style, _, _ := strings.Cut(one, "@")
		if name := "setup " + style; slices.Contains(WideStyles, style) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Event is something that befalls the bot: an actor does it at a time since the start.
type Event struct {
	At    time.Duration
	Actor string
	Verb  string
	Args  []string
}

// Name is the event's column in the matrix of pairs.
func (e *Event) Name() string {
	if e.Verb == "status" || e.Verb == "rules" || e.Verb == "candles" {
		return e.Actor + " " + e.Verb + " " + strings.Split(e.Args[0], "=")[0]
	}
	return e.Actor + " " + e.Verb
}

// Arg returns an argument; "" where it is left out.
func (e *Event) Arg(n int) string {
	if n < len(e.Args) {
		return e.Args[n]
	}
	return ""
}

// Span returns an argument that is a duration.
func (e *Event) Span(n int) time.Duration {
	d, err := time.ParseDuration(e.Arg(n))
	if err != nil {
		panic(fmt.Sprintf("lives: %s: %v", e, err))
	}
	return d
}

// String is the event's line.
func (e *Event) String() string {
	return strings.Join(append([]string{e.At.String(), e.Actor, e.Verb}, e.Args...), " ")
}

// String is the life as Parse reads it.
func (l *Life) String() string {
	text := fmt.Sprintf("life seed=%d feed=%s keep=%t own=%s start=%s strategies=%s", l.Seed, l.Setup.Feed,
		l.Setup.Keep, l.Setup.Own, l.Setup.Start, strings.Join(l.Setup.Strategies, ","))
	if l.Setup.Paper {
		text += " paper=true"
	}
	if l.Setup.Takes {
		text += " takes=true"
	}
	if l.Setup.Groups > 0 {
		text += fmt.Sprint(" groups=", l.Setup.Groups)
	}
	text += "\n"
	for i := range l.Events {
		text += l.Events[i].String() + "\n"
	}
	return text
}

// Parse reads a life: a line "life" with the setup, then one line for each event. Lines that begin
// with # are left out.
func Parse(text string) (*Life, error) {
	l := &Life{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		words := strings.Fields(lines.Text())
		var err error
		switch {
		case len(words) == 0 || words[0][0] == '#':
		case words[0] == "life":
			err = l.readSetup(words[1:])
		case len(words) < 3:
			err = fmt.Errorf("want TIME ACTOR VERB")
		default:
			e := Event{Actor: words[1], Verb: words[2], Args: words[3:]}
			e.At, err = time.ParseDuration(words[0])
			l.Events = append(l.Events, e)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of a life: %q: %w", number, lines.Text(), err)
		}
	}
	if len(l.Setup.Strategies) == 0 {
		return nil, fmt.Errorf("a life has no line \"life seed=… strategies=…\"")
	}
	slices.SortStableFunc(l.Events, func(a, b Event) int { return int(a.At - b.At) })
	return l, lines.Err()
}

func (l *Life) readSetup(words []string) (err error) {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "seed":
			l.Seed, err = strconv.ParseUint(value, 10, 64)
		case "feed":
			l.Setup.Feed = value
		case "keep":
			l.Setup.Keep, err = strconv.ParseBool(value)
		case "own":
			l.Setup.Own = value
		case "start":
			l.Setup.Start, err = time.ParseDuration(value)
		case "paper":
			l.Setup.Paper, err = strconv.ParseBool(value)
		case "takes":
			l.Setup.Takes, err = strconv.ParseBool(value)
		case "groups":
			l.Setup.Groups, err = strconv.Atoi(value)
		case "strategies":
			l.Setup.Strategies = strings.Split(value, ",")
		default:
			err = fmt.Errorf("unknown key %q", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Markets are the markets of the strategies, each once.
func (s *Setup) Markets() (names []string) {
	for _, one := range s.Strategies {
		_, name, _ := strings.Cut(one, "@")
		for _, name := range strings.Split(name, "+") {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// In is how many strategies trade a market: each may keep dust there.
func (s *Setup) In(market string) (count int64) {
	for _, one := range s.Strategies {
		if _, names, _ := strings.Cut(one, "@"); slices.Contains(strings.Split(names, "+"), market) {
			count++
		}
	}
	return count
}

// Bare reports whether a strategy in a market buys without exits.
func (s *Setup) Bare(market string) bool {
	return slices.ContainsFunc(s.Strategies, func(one string) bool {
		style, name, _ := strings.Cut(one, "@")
		return slices.Contains(BareStyles, style) && slices.Contains(strings.Split(name, "+"), market)
	})
}

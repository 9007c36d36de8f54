package lives

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Styles are what a strategy does: how it buys, and which exits come with that.
var Styles = []string{"bracket", "stop", "trail", "parts", "twap", "maker", "limit", "pyramid", "leave", "after",
	"rebalance", "quitter", "restless", "requoter", "saver"}

// BareStyles are those of Styles that buy without exits.
var BareStyles = []string{"rebalance", "restless", "requoter", "saver"}

// kind is a kind of event with its weight and how its arguments are drawn.
type kind struct {
	weight      int
	actor, verb string
	args        func(*drawer) []string
}

type drawer struct {
	*rand.Rand
	setup *Setup
}

func (d *drawer) span(least, most int) string { return fmt.Sprint(least+d.IntN(most-least), "s") }
func (d *drawer) of(words ...string) string   { return words[d.IntN(len(words))] }
func (d *drawer) market() string              { return d.of(d.setup.Markets()...) }

// kinds are the events of a life. Half of the weight acts on a position that has an exit: the
// strategies hold one nearly always.
var kinds = []kind{
	{6, "machine", "stop", func(d *drawer) []string { return []string{d.span(2, 60)} }},
	{5, "machine", "kill", func(d *drawer) []string { return []string{d.span(2, 60)} }},
	{3, "machine", "killwrite", func(d *drawer) []string {
		return []string{d.of("place", "update", "cancel"), d.of("before", "after"), d.span(2, 30)}
	}},
	{2, "machine", "power", func(d *drawer) []string { return []string{d.span(2, 60)} }},
	{2, "machine", "cut", func(d *drawer) []string { return []string{d.span(5, 60)} }},
	{1, "machine", "sleep", func(d *drawer) []string { return []string{d.span(60, 600)} }},
	{2, "machine", "clock", func(d *drawer) []string { return []string{d.of("-30s", "-5s", "5s", "30s")} }},
	{2, "machine", "disk", func(d *drawer) []string { return []string{d.span(2, 30)} }},
	{2, "machine", "restore", func(d *drawer) []string { return []string{d.span(5, 120)} }},
	{2, "operator", "twice", func(d *drawer) []string {
		return []string{d.of("0s", "100ms", "1s", "3s"), d.span(2, 30)}
	}},
	{2, "operator", "adopt", func(d *drawer) []string { return []string{d.span(2, 30)} }},
	{2, "operator", "sell", func(d *drawer) []string { return nil }},
	{5, "operator", "flatten", func(d *drawer) []string { return nil }},
	{3, "operator", "halt", func(d *drawer) []string { return nil }},
	{4, "operator", "resume", func(d *drawer) []string { return nil }},
	{3, "operator", "cancel", func(d *drawer) []string { return nil }},
	{2, "operator", "cancel-all", func(d *drawer) []string { return nil }},
	{2, "operator", "direct", func(d *drawer) []string { return nil }},
	{2, "operator", "reload", func(d *drawer) []string { return nil }},
	{5, "owner", "cancel", func(d *drawer) []string { return []string{d.market()} }},
	{5, "owner", "move", func(d *drawer) []string { return []string{d.market(), d.of("-2", "-1", "1", "2")} }},
	{3, "owner", "resize", func(d *drawer) []string { return []string{d.market(), d.of("30", "60")} }},
	{5, "owner", "sell", func(d *drawer) []string { return []string{d.market(), d.of("30", "50", "100")} }},
	{3, "owner", "hold", func(d *drawer) []string { return []string{d.market(), d.of("50", "100")} }},
	{3, "owner", "withdraw", func(d *drawer) []string { return []string{d.market(), d.of("40", "100")} }},
	{2, "owner", "deposit", func(d *drawer) []string { return []string{d.of("EUR", "BTC")} }},
	{2, "owner", "buy", func(d *drawer) []string { return []string{d.market(), "0.02"} }},
	{6, "exchange", "status", func(d *drawer) []string {
		return []string{d.of("halted", "cancelOnly", "auction"), d.market(), d.span(10, 90)}
	}},
	{6, "exchange", "rules", func(d *drawer) []string {
		return []string{d.of("minOrderInQuoteAsset=2000", "maxOrderInQuoteAsset=400", "tickSize=50",
			"quantityDecimals=4", "maxOpenOrders=1"), d.market(), d.span(10, 120)}
	}},
	{3, "exchange", "cancel", func(d *drawer) []string { return []string{d.market()} }},
	{8, "exchange", "fault", func(d *drawer) []string {
		return []string{d.of("dropRequest", "dropAnswer", "resetAnswer", "delayRequest", "html", "error", "truncate",
			"lateFill", "lateSettlement"), d.of("POST/order", "PUT/order", "DELETE/order", "GET/order",
			"GET/ordersOpen", "GET/trades", "GET/balance", "GET/ticker/price"), d.span(5, 90)}
	}},
	{3, "exchange", "frames", func(d *drawer) []string {
		return []string{d.of("dropSocket", "skipFrame", "duplicateFrame", "swapFrames", "delayFrame", "silence"),
			d.of("account", "ticker", "reply", "candles"), d.span(5, 90)}
	}},
	{2, "exchange", "candles", func(d *drawer) []string {
		return []string{d.of("late", "twice"), d.market(), d.span(60, 240)}
	}},
	{2, "exchange", "lie", func(d *drawer) []string { return []string{d.of("end", "list"), d.span(5, 60)} }},
	{12, "time", "price", func(d *drawer) []string {
		return []string{d.market(), d.of("-6", "-3", "-1", "-1", "1", "1", "3", "6")}
	}},
}

// EventNames are the names of all events and unusual setups, each once, for the matrix of pairs.
func EventNames() (names []string) {
	d := &drawer{rand.New(rand.NewPCG(1, 1)), &Setup{Strategies: []string{"bracket@BTC-EUR"}}}
	for _, one := range slices.Concat(kinds, wideKinds) {
		for range 60 {
			e := Event{Actor: one.actor, Verb: one.verb, Args: one.args(d)}
			if name := e.Name(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	s := Setup{Paper: true, Takes: true, Groups: 1}
	for _, style := range WideStyles {
		s.Strategies = append(s.Strategies, style+"@BTC-EUR")
	}
	names = append(names, s.Names()...)
	slices.Sort(names)
	return names
}

// Draw makes the life of a seed. Those of seeds above Wide have more: see widen.
func Draw(seed uint64) *Life {
	l := draw(seed)
	if seed > Wide {
		l.widen(&drawer{rand.New(rand.NewPCG(seed, 43)), &l.Setup})
	}
	return l
}

func draw(seed uint64) *Life {
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, 41))}
	l := &Life{Seed: seed, Setup: d.draw()}
	d.setup = &l.Setup
	total := 0
	for i := range kinds {
		total += kinds[i].weight
	}
	at := time.Duration(20+d.IntN(20)) * time.Second
	for range 2 + d.IntN(7) {
		n := d.IntN(total)
		for i := range kinds {
			if n -= kinds[i].weight; n < 0 {
				l.Events = append(l.Events, Event{at, kinds[i].actor, kinds[i].verb, kinds[i].args(d)})
				break
			}
		}
		at += d.gap()
	}
	return l
}

// gap is the time between two events: half of the events come soon after the one before.
func (d *drawer) gap() time.Duration {
	if d.IntN(2) == 0 {
		return time.Duration(d.IntN(8000)) * time.Millisecond / 100 * 100
	}
	return time.Duration(5+d.IntN(55)) * time.Second
}

func (d *drawer) draw() Setup {
	s := Setup{Feed: d.of("poll", "poll", "stream", "orders", "mixed"), Keep: d.IntN(4) == 0,
		Own: d.of("", "", "0.005", "0.5")}
	if d.IntN(8) == 0 {
		s.Start = 24*time.Hour - time.Duration(1+d.IntN(120))*time.Second
	}
	for range []int{1, 1, 1, 1, 2, 3}[d.IntN(6)] {
		style, where := d.of(Styles...), d.of("BTC-EUR", "BTC-EUR", "ETH-EUR")
		if style == "rebalance" {
			where = "BTC-EUR+ETH-EUR"
		}
		s.Strategies = append(s.Strategies, style+"@"+where)
	}
	return s
}

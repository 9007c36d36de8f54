// Package rules trades what stands in a config: conditions of entry and exit, size and exits as
// short texts, and no Go. Package lang is their language; this package asks. It never looks at
// more than the candles of its markets. Start at Definition.
//
// # Rules
//
// At each close of the main interval, in each market by itself, when all candles that close at that
// instant are in:
//
//   - Exit. Where the exit is true, or the position has lasted exit_after candles, all is sold
//     (MarketDesk.Close), an entry that rests is cancelled, and nothing is bought.
//   - Entry. Where it is true, and there is neither a position nor an open order, the size is
//     bought: at market, or with at as a limit. add allows so many buys more while a position is
//     held. Nothing is bought at the cooldown closes after a position ended.
//   - A limit entry that has bought nothing lives until the next close: it moves to the new price
//     where the entry is still true, and is cancelled where it is not.
//   - stop, target, trail and break_even are those of a bracket (MarketDesk.Buy), as the rules are
//     at the entry's close. A trail alone sets the first stop too.
//   - raise is a price to which the stop is raised at each close with a position. It never falls.
//     Where it is not below the price, the position is sold. A raise alone sets the first stop too.
//   - A rule that read an undefined number counts as false. Without a price of at, stop, target,
//     trail or raise nothing is bought.
//
// A candle of another interval is seen from its close on. Where it is due and late, the decision
// waits for it; a next close of the main interval before it ends the wait, without a decision.
//
// Rules that read other markets wait until all candles that closed at the same time are there:
// see strategy.GroupHandler. They wait at most strategy.GroupGrace, because a candle may be late,
// and a market without a trade has none.
//
// With on, exit and entry are decided when a signal of these sources comes, and not at the close;
// exit_after and raise stay with the close. The prices are those of the last closed candle. Where a
// candle that closed before the signal is late, the decision waits for it, at most
// strategy.GroupGrace. The clock is that of the signal. A signal about an earlier time than the
// latest one, and one during the warm-up, decides nothing.
//
// # Parameters
//
// Params are the rules. The numbers of [params] and the texts of [rules.let] have names of the
// author's choice; the rules read them.
package rules

import (
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules/lang"
)

// TagExit is the tag of its sales; that of its buys is the rule tag, or TagEntry.
const (
	TagEntry = "entry"
	TagExit  = "exit"
)

// Definition is the strategy as bot.Main takes it.
var Definition = strategy.DefineWritten("rules", "trades rules that stand in the config", example, words, read, needs,
	build)

// example is the strategy where no rule is written: it buys a pullback in a rising market.
var example = map[string]any{
	"fast": int64(20), "slow": int64(100),
	"rules.entry": "close crosses above ema(fast) and close > sma(slow)",
	"rules.exit":  "close < sma(slow) or bars_since_entry >= 48",
	"rules.size":  "up to 1% risk",
	"rules.trail": "3 * atr(14)",
}

// Params are the rules.
type Params struct {
	Entry     string        `toml:"rules.entry" default:"" doc:"condition: buys where it is true, without position and open order"`
	Exit      string        `toml:"rules.exit" default:"" doc:"condition: sells all where it is true; goes before the entry"`
	Size      strategy.Size `toml:"rules.size" default:"95% cash" doc:"how much to buy"`
	At        string        `toml:"rules.at" default:"" doc:"price of a limit buy, which lives until the next close; none: at market"`
	Stop      string        `toml:"rules.stop" default:"" doc:"price of the stop, or a rate below the entry such as 4%"`
	Target    string        `toml:"rules.target" default:"" doc:"price of the target, or a rate above the entry such as 8%"`
	Trail     string        `toml:"rules.trail" default:"" doc:"distance of the stop below the highest close, or a rate such as 5%"`
	Raise     string        `toml:"rules.raise" default:"" doc:"price to which the stop is raised at each close, never lowered"`
	BreakEven market.Rate   `toml:"rules.break_even" default:"0%" min:"0%" max:"10000%" doc:"gain after which the stop pays both fees; 0: none"`
	ExitAfter int           `toml:"rules.exit_after" default:"0" min:"0" max:"1000000" doc:"candles after which to sell; 0: none"`
	Cooldown  int           `toml:"rules.cooldown" default:"0" min:"0" max:"1000000" doc:"closes after the end of a position at which nothing is bought"`
	Add       int           `toml:"rules.add" default:"0" min:"0" max:"1000000" doc:"buys that are allowed while a position is held"`
	On        string        `toml:"rules.on" default:"" doc:"names of [signals.NAME], with commas: decides at a signal, not at a close"`
	Signals   string        `toml:"rules.signals" default:"" doc:"names of [signals.NAME] that the rules read, with commas between them"`
	Zone      string        `toml:"rules.zone" default:"" doc:"zone of the clock, such as Europe/Amsterdam; none: UTC"`
	Plot      string        `toml:"rules.plot" default:"" doc:"figures to draw, with commas: on the prices, or in panes below"`
	Tag       string        `toml:"rules.tag" default:"" doc:"name of the buys in reports; none: entry"`
}

// words lists the language.
func words() (all []strategy.Word) {
	for _, w := range lang.Words() {
		all = append(all, strategy.Word{Use: w.Usage, Doc: w.Meaning, Example: w.Example,
			Warmup: w.Warmup})
	}
	return all
}

// read compiles the rules. Their main interval is not known yet: it is 0.
func read(p Params, own strategy.Own) (*compiled, error) { return compile(p, own, 0) }

// needs are the data that the rules read.
func needs(c *compiled) strategy.Needs {
	n := strategy.Needs{Warmup: c.program.Warmup(), Intervals: strategy.Intervals{}, Signals: c.hears(),
		Reads: c.program.Reads()}
	if len(c.on) > 0 { // a decision on a signal reads the last close: also of a bot that has just started
		n.Warmup = max(n.Warmup, 1)
	}
	for interval, candles := range c.program.Intervals() {
		if interval != 0 {
			n.Intervals[interval] = candles
		}
	}
	return n
}

func build(c *compiled, s strategy.Setup) (strategy.Strategy, error) {
	c, err := c.with(s.Interval)
	if err != nil {
		return nil, err
	}
	w := &written{compiled: *c, interval: s.Interval}
	for _, interval := range slices.Sorted(maps.Keys(c.program.Intervals())) {
		switch {
		case interval > s.Interval:
			w.longer = append(w.longer, interval)
		case interval < s.Interval:
			return nil, mistake("entry", "candles of %s are shorter than those that it trades on, %s: set interval = "+
				"%q and read %q", interval, s.Interval, interval, s.Interval)
		}
	}
	w.alone = len(w.longer)+len(c.hears())+len(c.program.Reads()) == 0 && !w.account && w.place == nil && w.plots == nil
	w.rows = c.ExitAfter == 0 && c.program.Rows(c.entry) && (c.exit == none || c.program.Rows(c.exit))
	for _, m := range s.Markets {
		w.markets, w.names = append(w.markets, m.ID), append(w.names, m.Name)
	}
	others := make([]*market.Market, len(c.program.Reads()))
	for i, name := range c.program.Reads() {
		at := slices.IndexFunc(s.Reads, func(m *market.Market) bool { return m.Name == name })
		if at < 0 {
			return nil, mistake("entry", "%s is read and is no market of the run", name)
		}
		others[i] = s.Reads[at]
		w.others = append(w.others, other{id: others[i].ID, longer: make([]market.Time, len(w.longer))})
	}
	w.PerMarket = strategy.Each(s, func(m market.Market) trade {
		x := trade{state: c.program.New(&m, others...), interval: s.Interval}
		x.inputs.Signals = make([]market.Signal, len(c.signals))
		if len(w.longer) > 0 {
			x.closes.longer = make([]market.Time, len(w.longer))
		}
		return x
	})
	if len(w.others) > 0 {
		return &reader{w}, nil
	}
	return w, nil
}

package backtest

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// begin calls the strategies' OnStart at the first candle's start.
func (d *driver) begin() error {
	first, found := market.Time(0), false
	for i := range d.feeds {
		if f := &d.feeds[i]; len(f.batch) > 0 && (!found || f.batch[0].Start < first) {
			first, found = f.batch[0].Start, true
		}
	}
	if !found {
		return ErrNoCandles
	}
	d.seeOwn(d.more)
	d.send(d.engine.Start(first))
	d.hearOld(first)
	return d.engine.Err()
}

// seeOwn shows each strategy the history that it would have alone: its own warm-up, and as many
// more warm-ups as more says.
func (d *driver) seeOwn(more int) {
	p := d.plan
	if p.From == 0 || p.ColdStart || len(p.Strategies) == 1 {
		return
	}
	for i := range p.Strategies {
		needs, _ := p.Strategies[i].Kind.Needs(p.Strategies[i].Values) // the roster was made of the same
		for k := range d.feeds {
			if f := &d.feeds[k]; p.Strategies[i].Given(&needs, f.Market) {
				candles := Warmup(p.Strategies[i:i+1], f.Market, f.Interval) * (1 + more)
				from := max(historyBefore(p.From, f.Feed, candles), min(f.first, p.From))
				d.engine.SeeFrom(market.StrategyID(i+1), f.Market.ID, f.Interval, from)
			}
		}
	}
}

// start pays the deposits in and begins the recording, at the first candle of the range.
func (d *driver) start() error {
	first := d.drive
	if len(first) == 0 {
		first = d.deliver
	}
	if len(first) == 0 || first[0].Start < d.plan.From { // finer candles that a longer one stands for move nothing
		return nil
	}
	from := first[0].Start
	for i := range d.feeds {
		d.feeds[i].count = min(d.feeds[i].count, 1)
	}
	return d.startAt(from, first)
}

// startAt is start at a time. first are the candles at hand.
func (d *driver) startAt(from market.Time, first []market.Candle) error {
	d.started, d.from = true, from
	for _, deposit := range d.plan.Deposits {
		if err := d.deposit(deposit, from, first); err != nil {
			return err
		}
	}
	return d.startRecording(from)
}

// deposit pays one asset in; base counts as bought at the open of its market's first candle, or at
// the last price of the warm-up. Base without a price is refused: once it had one, its whole value
// would be a gain.
func (d *driver) deposit(p Deposit, from market.Time, first []market.Candle) error {
	at := max(from, d.engine.Now())
	ev := market.Event{Kind: market.KindTransfer, At: at, Asset: p.Asset, Money: p.Money, Owner: p.Owner}
	for _, m := range d.plan.Catalog.Markets() {
		if m.Base == p.Asset {
			ev.Market, ev.Price = m.ID, d.openOf(m, from, first)
			ev.Owner = max(p.Owner, d.traderOf(m))
		}
	}
	if ev.Price == 0 && p.Asset != d.plan.Currency.ID {
		return fmt.Errorf("start with %s: no candle at %s gives it a price; begin the run where its candles begin, or "+
			"leave it out", d.plan.Catalog.Asset(p.Asset).Symbol, from)
	}
	if err := d.venue.Deposit(p.Asset, p.Money); err != nil {
		return err
	}
	d.send(d.engine.Step(&ev))
	if ev.Price == 0 {
		return d.engine.Err()
	}
	mark := market.Event{Kind: market.KindTrade, At: at, Market: ev.Market,
		Trade: &market.Trade{Market: ev.Market, Price: ev.Price, Time: from}}
	d.send(d.engine.Step(&mark))
	return d.engine.Err()
}

// openOf is a market's price at the start: the open of a candle that begins there, also of one
// still to come, or the last price of the warm-up; 0: there is none.
func (d *driver) openOf(m *market.Market, from market.Time, first []market.Candle) market.Price {
	for i := range first {
		if first[i].Market == m.ID {
			return first[i].Open
		}
	}
	for i := range d.feeds {
		if f := &d.feeds[i]; f.Market == m && f.at < len(f.batch) && f.batch[f.at].Start <= from {
			return f.batch[f.at].Open
		}
	}
	return d.account.Last(m.ID)
}

// traderOf is the first strategy in a market that shares the pool.
func (d *driver) traderOf(m *market.Market) market.StrategyID {
	for i := range d.plan.Strategies {
		if s := &d.plan.Strategies[i]; !s.Own && slices.Contains(s.Markets, m) {
			return market.StrategyID(i + 1)
		}
	}
	return 0
}

func (d *driver) startRecording(from market.Time) error {
	if d.record == nil {
		return nil
	}
	equity, err := d.account.Equity(d.plan.Currency.ID)
	if err != nil {
		return err
	}
	if d.recorder, err = d.record(equity, from, d.rates); err != nil {
		return err
	}
	for s := range d.plan.Strategies {
		for _, m := range d.plan.Catalog.Markets() {
			id := market.StrategyID(s + 1)
			if held := d.account.Position(id, m.ID).Amount; held > 0 {
				d.recorder.Held(from, id, m.ID, held, d.account.Last(m.ID))
			}
		}
	}
	return nil
}

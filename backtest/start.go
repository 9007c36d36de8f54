package backtest

import (
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
	d.send(d.engine.Start(first))
	return d.engine.Err()
}

// start pays in the deposits and begins the recording, at the first candle of the range.
func (d *driver) start() error {
	first := d.drive
	if len(first) == 0 {
		first = d.deliver
	}
	from := first[0].Start
	if from < d.plan.From {
		return nil
	}
	d.started = true
	for i := range d.feeds {
		d.feeds[i].count = min(d.feeds[i].count, 1)
	}
	for _, deposit := range d.plan.Deposits {
		if err := d.deposit(deposit, from, first); err != nil {
			return err
		}
	}
	return d.startRecording(from)
}

// deposit pays in one asset; base that comes with the first candle of its market counts as bought at that candle's open.
func (d *driver) deposit(p Deposit, from market.Time, first []market.Candle) error {
	at := max(from, d.engine.Now())
	ev := market.Event{Kind: market.KindTransfer, At: at, Asset: p.Asset, Money: p.Money, Owner: p.Owner}
	for i := range first {
		if m := d.plan.Catalog.Market(first[i].Market); m.Base == p.Asset {
			ev.Market, ev.Price = m.ID, first[i].Open
			ev.Owner = max(p.Owner, d.traderOf(m))
		}
	}
	if err := d.venue.Deposit(p.Asset, p.Money); err != nil {
		return err
	}
	d.send(d.engine.Step(&ev))
	if ev.Price == 0 {
		return d.engine.Err()
	}
	mark := market.Event{Kind: market.KindTrade, At: at, Market: ev.Market, Trade: &market.Trade{Market: ev.Market, Price: ev.Price, Time: from}}
	d.send(d.engine.Step(&mark))
	return d.engine.Err()
}

// traderOf is the first strategy that trades a market and shares the common purse.
func (d *driver) traderOf(m *market.Market) market.StrategyID {
	for i := range d.plan.Strategies {
		if s := &d.plan.Strategies[i]; !s.Own && trades(s, m) {
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
	if d.recorder, err = d.record(equity, from); err != nil {
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

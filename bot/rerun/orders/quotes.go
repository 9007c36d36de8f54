package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Quote is what a market showed: the latest bid and ask of a ticker or a book, and the latest price
// of a ticker or a trade. A field of zero was not seen. The zero Quote says that nothing is known.
type Quote struct {
	At               market.Time // arrival of the latest part
	Bid, Ask, Last   market.Price
	BidSize, AskSize market.Qty
}

// Mid is the middle of bid and ask in the units of the market's prices; 0: a side is missing.
func (q *Quote) Mid() float64 {
	if q.Bid == 0 || q.Ask == 0 {
		return 0
	}
	return (float64(q.Bid) + float64(q.Ask)) / 2
}

// add notes an event of market data.
func (q *Quote) add(ev *market.Event) {
	q.At = ev.At
	switch ev.Kind {
	case market.KindTicker:
		t := ev.Ticker
		q.Last, q.Bid, q.Ask, q.BidSize, q.AskSize = t.Last, t.Bid, t.Ask, t.BidSize, t.AskSize
	case market.KindTrade:
		q.Last = ev.Trade.Price
	case market.KindBook:
		q.Bid, q.BidSize = best(ev.Book.Bids)
		q.Ask, q.AskSize = best(ev.Book.Asks)
	}
}

func best(side []market.Level) (market.Price, market.Qty) {
	if len(side) == 0 {
		return 0, 0
	}
	return side[0].Price, side[0].Amount
}

// Hole is a part of the record that is missing, named where a reader meets it.
type Hole struct {
	From, To market.Time // exclusive; To 0: up to the end
	Market   market.ID   // whose prices are missing; 0: everything is
	Text     string      // what is missing, for a person
}

// A silence longer than leastSilence and than silentPolls mean distances is a gap.
const (
	leastSilence = market.Time(60e9)
	silentPolls  = 5 // times the mean distance of its prices
)

// pulse is how often prices of a market come.
type pulse struct {
	first, last market.Time // since the process began
	count       int64
}

// limit is the longest silence that is no gap.
func (p *pulse) limit() market.Time {
	if p.count < 2 {
		return leastSilence
	}
	return max(leastSilence, silentPolls*(p.last-p.first)/market.Time(p.count-1))
}

// beat notes that a price came.
func (p *pulse) beat(at market.Time) {
	if p.count++; p.first == 0 {
		p.first = at
	}
	p.last = at
}

// quotes are what the markets show while a recording is read, in the order in which its bot heard
// it.
type quotes struct {
	all    []Quote // by market, as of the latest record
	was    Quote   // of the latest record's market, before it
	pulses []pulse
	latest *market.Event // market data of the latest record; nil: it has none, or a gap followed
	last   market.Time   // of the latest record; 0: none
}

// listener is told of what a recording holds and lacks, in its order.
type listener interface {
	gap(g *Hole) // before the next record
	record(r *reader.Item) error
}

// read tells a listener of the recording from its beginning to its end. Markets and prices are in
// the units of Catalog. A folder without a recording is one gap.
func (l *Log) read(ctx context.Context, q *quotes, to listener) error {
	markets := len(l.Catalog.Markets()) + 1
	q.all, q.pulses = make([]Quote, markets), make([]pulse, markets)
	for item, err := range reader.Items(ctx, reader.Source{Dir: l.Folder, Catalog: l.Catalog,
		Strategies: l.Strategies, Next: l.nextRecord}) {
		switch {
		case errors.Is(err, bolt.ErrNotFound):
			to.gap(&Hole{Text: "there is no recording: bot.record_mb was 0, or it was moved away"})
			return nil
		case err != nil:
			return err
		case item.Gap != nil:
			q.latest = nil
			to.gap(&Hole{From: q.last, To: item.Gap.To, Text: textOf(item.Gap)})
			clear(q.all) // the prices before a gap are not those after it
			clear(q.pulses)
			continue
		}
		if ev := item.Data(); ev != nil && ev.Kind != market.KindCandles {
			if p := &q.pulses[ev.Market]; p.last != 0 && item.At-p.last > p.limit() {
				q.latest = nil
				to.gap(&Hole{From: p.last, To: item.At, Market: ev.Market,
					Text: "no prices of " + l.Catalog.Market(ev.Market).Name})
				q.all[ev.Market], *p = Quote{}, pulse{}
			}
		}
		q.add(item)
		if err := to.record(item); err != nil {
			return err
		}
	}
	return nil
}

// textOf says for a person what is missing.
func textOf(gap *reader.Gap) string {
	var lost []string
	for _, l := range gap.Lost {
		if l.Err != nil {
			lost = append(lost, l.Err.Error())
		} else {
			lost = append(lost, fmt.Sprintf("events %d to %d are lost", l.From, l.To))
		}
	}
	if gap.Down {
		lost = append(lost, "the bot did not run")
	}
	return strings.Join(lost, "; ")
}

// add makes a record the latest one, and notes its prices.
func (q *quotes) add(item *reader.Item) {
	q.latest, q.last = item.Data(), max(q.last, item.At)
	ev := q.latest
	if ev == nil {
		return
	}
	q.was = q.all[ev.Market]
	switch ev.Kind {
	case market.KindTicker, market.KindBook, market.KindTrade:
		q.all[ev.Market].add(ev)
		q.pulses[ev.Market].beat(ev.At)
	}
}

// before is what a market showed before the latest record. It is zero where the prices of the
// market had stayed away for too long at a time, which is a gap.
func (q *quotes) before(id market.ID, at market.Time) Quote {
	one := q.all[id]
	if q.latest != nil && q.latest.Market == id {
		one = q.was
	}
	if one.At == 0 || at-one.At > q.pulses[id].limit() {
		return Quote{}
	}
	return one
}

package orderlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/recording"
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

// Gap is a part of the record that is missing, named where a reader meets it.
type Gap struct {
	From, To market.Time // exclusive; To 0: up to the end
	Market   market.ID   // whose prices are missing; 0: everything is
	Text     string      // what is missing, for a person
}

// Item is one step of a Reader. One of its fields but Number is set. It is valid until the next
// step.
type Item struct {
	Number uint64 // of the record
	Record *recording.Record
	Gap    *Gap // before the next item
}

// Data is the event of market data in an item, with its time in At; nil: it holds something else.
func (i *Item) Data() *market.Event {
	if i.Record == nil || i.Record.Kind != recording.KindInput {
		return nil
	}
	in := &i.Record.Input
	if in.Kind != market.InputEvent || in.Event == nil || !recording.MarketData(in.Event.Kind) {
		return nil
	}
	return in.Event
}

// Silences: a market whose prices stay away for longer than both has a gap.
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

// Reader is a recording from its beginning to its end, once, in the order in which its bot heard
// it. Markets and prices are in the units of Log.Catalog.
type Reader struct {
	reader *recording.Reader // nil: there is none
	log    *Log
	quotes []Quote // by market, as of the latest item
	was    Quote   // of the latest item's market, before it
	pulses []pulse
	last   market.Time // of the latest record; 0: none
	next   uint64      // number of the record after the end, as the journal has it; 0: not known
	item   Item
	gap    Gap
	lost   []string // what is missing before the next record
	held   Item     // a record that comes after the gap; Record nil: none
	ended  bool
}

// Reader opens the recording at its beginning. A folder without a recording gives a Reader with one
// gap. Close it.
func (l *Log) Reader() (*Reader, error) {
	markets := len(l.Catalog.Markets()) + 1
	t := &Reader{log: l, quotes: make([]Quote, markets), pulses: make([]pulse, markets), next: l.nextRecord}
	var err error
	t.reader, err = recording.Read(filepath.Join(l.Folder, statedir.RecordingFolder), l.Catalog, l.Strategies, 0)
	if errors.Is(err, bolt.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		t.reader, err = nil, nil
	}
	return t, err
}

// Close closes the recording.
func (t *Reader) Close() {
	if t.reader != nil {
		t.reader.Close()
	}
}

// Quote is what a market showed as of the latest item. It is zero where the prices of the market
// had stayed away for too long at that time, which is a gap.
func (t *Reader) Quote(id market.ID, at market.Time) Quote { return t.fresh(id, t.quotes[id], at) }

// before is Quote as of the item before the latest.
func (t *Reader) before(id market.ID, at market.Time) Quote {
	if ev := t.item.Data(); ev != nil && ev.Market == id {
		return t.fresh(id, t.was, at)
	}
	return t.Quote(id, at)
}

func (t *Reader) fresh(id market.ID, q Quote, at market.Time) Quote {
	if q.At == 0 || at-q.At > t.pulses[id].limit() {
		return Quote{}
	}
	return q
}

// Next is the next item. At the end it returns io.EOF. What the recording lacks, or holds damaged,
// is an item with a Gap.
func (t *Reader) Next() (*Item, error) {
	if i := t.held; i.Record != nil {
		t.forget()
		t.held = Item{}
		t.give(i)
		return &t.item, nil
	}
	for !t.ended {
		if t.reader == nil {
			t.ended, t.lost = true, []string{"there is no recording: bot.record_mb was 0, or it was moved away"}
			break
		}
		number, rec, err := t.reader.Next()
		var lost *recording.LostError
		switch {
		case errors.Is(err, io.EOF):
			if t.ended = true; t.item.Number+1 < t.next {
				t.lose(t.item.Number+1, t.next-1)
			}
		case errors.As(err, &lost):
			t.lose(lost.From, lost.To)
		case errors.Is(err, bolt.ErrCorrupt) && !errors.Is(err, bolt.ErrNewer) && t.reader.SkipBlock() != nil:
			t.lost = append(t.lost, err.Error())
		case err != nil:
			return nil, fmt.Errorf("recording of %s: %w", t.log.Folder, err)
		default:
			return t.record(Item{Number: number, Record: rec}), nil
		}
	}
	if len(t.lost) == 0 {
		t.item = Item{Number: t.item.Number}
		return nil, io.EOF
	}
	return t.lack(Gap{From: t.last, Text: strings.Join(t.lost, "; ")}), nil
}

func (t *Reader) lose(from, to uint64) {
	t.lost = append(t.lost, fmt.Sprintf("events %d to %d are lost", from, to))
}

// record is the item of a record, or the gap before it.
func (t *Reader) record(i Item) *Item {
	at, before := i.Record.Time(), t.last
	t.last = max(t.last, at)
	if i.Record.Kind == recording.KindStart && before != 0 {
		t.lost = append(t.lost, "the bot did not run")
	}
	if len(t.lost) > 0 {
		t.held = i
		return t.lack(Gap{From: before, To: at, Text: strings.Join(t.lost, "; ")})
	}
	if ev := i.Data(); ev != nil && ev.Kind != market.KindCandles {
		p := &t.pulses[ev.Market]
		if p.last != 0 && at-p.last > p.limit() {
			t.held = i
			return t.lack(Gap{From: p.last, To: at, Market: ev.Market,
				Text: "no prices of " + t.log.Catalog.Market(ev.Market).Name})
		}
	}
	t.give(i)
	return &t.item
}

// give makes a record the latest item, and notes its prices.
func (t *Reader) give(i Item) {
	t.item = i
	ev := i.Data()
	if ev == nil {
		return
	}
	t.was = t.quotes[ev.Market]
	switch ev.Kind {
	case market.KindTicker, market.KindBook, market.KindTrade:
		t.quotes[ev.Market].add(ev)
		t.pulses[ev.Market].beat(ev.At)
	}
}

// lack makes a gap the latest item.
func (t *Reader) lack(g Gap) *Item {
	t.gap, t.lost = g, nil
	t.item = Item{Number: t.item.Number, Gap: &t.gap}
	return &t.item
}

// forget drops the prices before a gap: they are not those after it.
func (t *Reader) forget() {
	if id := t.gap.Market; id != 0 {
		t.quotes[id], t.pulses[id] = Quote{}, pulse{}
	} else {
		clear(t.quotes)
		clear(t.pulses)
	}
}

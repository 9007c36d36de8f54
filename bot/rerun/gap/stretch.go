package gap

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
	"github.com/tidemark-trading/tidemark/strategy"
)

// stretch is the recording of a state folder from a start on. Each run reads it anew, so that
// nothing of a long recording stays in memory but its orders and its candles.
type stretch struct {
	dir      string
	kinds    []strategy.Definition
	from, to market.Time // 0: all
	first    uint64      // number of the start with which it begins
	last     uint64      // number of its last record; 0: the latest
	lead     bool        // that start comes before from: all runs play what the bot did until from
	other    uint64      // number of the start with other strategies or markets that ends it; 0: none does
	// ends is the number of the last journal entry that each run can have written. A start of a run
	// that is not there was refused, or ended before its first commit.
	ends map[uuid.UUID]uint64
}

// begin is a start of the bot on the stretch.
type begin struct {
	manifest *core.Manifest
	made     *core.Config
	parts    map[string][]byte
}

// find finds the start with which the stretch begins: the last one before from, else the first one.
func (t *stretch) find() error {
	starts, err := reader.Starts(t.dir)
	if err != nil {
		return err
	}
	if t.to != 0 && starts[0].From >= t.to {
		return config.Usagef("nothing is recorded in that time; the first start of the bot was at %s", starts[0].From)
	}
	minute := market.Interval1m.Floor(t.from) // between two candles
	for i := range starts {
		if b := &starts[i]; i == 0 || b.From <= t.from {
			t.first, t.lead = b.First, b.From < minute
		}
	}
	t.from = minute
	return nil
}

// whole is an error where the bot has deleted the beginning of the stretch since it was found.
func (t *stretch) whole() error {
	starts, err := reader.Starts(t.dir)
	if err == nil && starts[0].First > t.first {
		err = fmt.Errorf("%s: the bot has deleted the oldest part of its recording meanwhile, as bot.record_mb wants: "+
			"begin later, with --from", t.dir)
	}
	return err
}

// items yields the records of the stretch in order, without starts that committed nothing, and what
// is missing between them.
func (t *stretch) items(ctx context.Context) iter.Seq2[*reader.Item, error] {
	return func(yield func(*reader.Item, error) bool) {
		vain := false // the start at hand committed nothing
		for r, err := range reader.Items(ctx, reader.Source{Dir: t.dir, From: t.first}) {
			if err == nil && r.Gap == nil {
				if t.last != 0 && r.Number > t.last || t.to != 0 && r.At >= t.to {
					return
				}
				if r.Kind == recording.KindStart {
					_, written := t.ends[r.Manifest.Run]
					vain = !written
				}
				if vain {
					continue
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// begin returns the parts that a start is made of.
func (t *stretch) begin(r *reader.Item) (*begin, error) {
	made, err := r.Manifest.Core(t.kinds)
	if err != nil {
		err = fmt.Errorf("record %d: %w", r.Number, err)
	}
	return &begin{r.Manifest, made, r.Parts}, err
}

// alike reports whether two starts name strategies and markets by the same numbers.
func alike(a, b *core.Manifest) bool {
	return slices.Equal(a.Names(), b.Names()) && slices.Equal(a.Assets, b.Assets) &&
		slices.EqualFunc(a.Markets, b.Markets, func(a, b core.MarketFacts) bool {
			return a.Name == b.Name && a.PriceDigits == b.PriceDigits && a.VolumeDigits == b.VolumeDigits
		})
}

// marketData reports whether an input is a fact of Data: what a feed brought, or the time itself.
func marketData(in *market.Input) bool {
	switch in.Kind {
	case market.InputEvent:
		return recording.MarketData(in.Event.Kind) || in.Event.Kind == market.KindTimer
	case market.InputMembers, market.InputDelisted, market.InputUnreliable, market.InputSignal:
		return true
	}
	return false
}

// answer reports whether an input is an answer of the exchange about an order.
func answer(in *market.Input) bool {
	return in.Kind == market.InputEvent && (in.Event.Kind == market.KindReport || in.Event.Kind == market.KindFill)
}

// series are candles by their close, and the prices since.
type series struct {
	prices   map[market.ID]*market.Candle // that are in no candle yet, as one
	all      []market.Candle
	seen     map[place]bool
	shortest map[market.ID]market.Interval
}

// place is where a candle stands.
type place struct {
	market   market.ID
	interval market.Interval
	start    market.Time
}

// add keeps candles that it does not have yet.
func (c *series) add(list []market.Candle) {
	if c.seen == nil {
		c.seen, c.shortest = map[place]bool{}, map[market.ID]market.Interval{}
	}
	for i := range list {
		one := list[i]
		if at := (place{one.Market, one.Interval, one.Start}); !c.seen[at] {
			c.seen[at], one.Late = true, false
			c.all = append(c.all, one)
			if least := c.shortest[one.Market]; least == 0 || one.Interval < least {
				c.shortest[one.Market] = one.Interval
			}
			if p := c.prices[one.Market]; p != nil && p.Start < one.End() {
				delete(c.prices, one.Market)
			}
		}
	}
}

// sort brings the candles into the order of delivery.
func (c *series) sort() {
	slices.SortFunc(c.all, func(a, b market.Candle) int {
		return cmp.Or(cmp.Compare(a.End(), b.End()), cmp.Compare(a.Interval, b.Interval),
			cmp.Compare(a.Market, b.Market))
	})
}

// finest is the length of the shortest candles; a minute where there are none.
func (c *series) finest() market.Time {
	least := market.Time(60e9)
	for i := range c.all {
		if length := c.all[i].End() - c.all[i].Start; i == 0 || length < least {
			least = length
		}
	}
	return least
}

// price keeps the prices of a market since its latest candle.
func (c *series) price(ev *market.Event) {
	id, price := ev.Market, market.Price(0)
	switch ev.Kind {
	case market.KindTicker:
		id, price = ev.Ticker.Market, ev.Ticker.Last
	case market.KindTrade:
		id, price = ev.Trade.Market, ev.Trade.Price
	}
	if price == 0 {
		return
	}
	if c.prices == nil {
		c.prices = map[market.ID]*market.Candle{}
	}
	p := c.prices[id]
	interval := max(c.shortest[id], market.Interval1m)
	if start := interval.Floor(ev.At); p == nil || p.Start != start {
		p = &market.Candle{Market: id, Interval: interval, Start: start, Open: price, High: price, Low: price}
		c.prices[id] = p
	}
	p.High, p.Low, p.Close = max(p.High, price), min(p.Low, price), price
}

// open are the candles that were open at a time, as far as prices show them.
func (c *series) open(at market.Time) (all []market.Candle) {
	for _, p := range c.prices {
		if p.End() > at {
			all = append(all, *p)
		}
	}
	slices.SortFunc(all, func(a, b market.Candle) int { return cmp.Compare(a.Market, b.Market) })
	return all
}

// reload carries a reload of the bot out. One that the bot refused at the last moment is refused
// again.
func (v *viewer) reload(item *reader.Item) error {
	r, later := core.ReloadOf(item.Record, item.Manifest)
	r.Kinds = v.stretch.kinds
	if err := r.Prepare(v.manifest); err != nil {
		return fmt.Errorf("prepare the reload of %s: %w", item.At, err)
	}
	commands, err := v.core.Reload(item.At, r, later)
	if err != nil {
		return nil
	}
	v.manifest = r.Manifest
	v.ask(commands)
	return nil
}

// reload lets the new parameters and limits take over in a run with People; the others go on with
// those of the start. A run with other orders than the bot's prepares the strategies from its own
// state.
func (r *run) reload(item *reader.Item) (err error) {
	if r.ledger == nil || !r.facts.Has(People) {
		return nil
	}
	if err := r.until(item.At); err != nil {
		return err
	}
	of, later := core.ReloadOf(item.Record, item.Manifest)
	of.Kinds = r.stretch.kinds
	if r.facts != whole {
		of.History, later = item.Candles, nil
		of.Until = r.session.Engine().Now()
		if of.Parts, err = r.core.Saved(); err != nil {
			return err
		}
	}
	if err := of.Prepare(r.manifest); err != nil {
		return fmt.Errorf("prepare the reload of %s: %w", item.At, err)
	}
	if err := of.CatchUp(later); err != nil {
		return nil // the bot refused it, too
	}
	next, changed := of.Prepared()
	if err := r.session.TakeOver(item.At, next, changed); err != nil {
		return nil
	}
	r.manifest = of.Manifest
	return nil
}

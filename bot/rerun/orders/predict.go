package orders

import (
	"cmp"
	"context"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/exchange/footprint"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// Prediction compares the fills of resting orders that a model predicts with those that happened.
type Prediction struct {
	Fill    sim.LimitFill
	Buckets [len(bucketNames)]Bucket
	All     Bucket
	// Unclear are the times of rest that a gap of the record cuts off, that ended in its last
	// moment, or whose market was not known when they began.
	Unclear int
	Venue   sim.QueueCounts
	Removed footprint.Counts
}

// Bucket are the times of rest of one range of the amount that stood before the order, in multiples
// of the order's own amount.
type Bucket struct {
	Name      string
	Rests     int
	Predicted int // filled, at least in part
	Seen      int
	Wrong     int // filled and not predicted, or the reverse
}

var bucketNames = [...]string{"0", "to 2", "to 5", "to 10", "more", "not known"}

var bucketLimits = [...]market.Qty{0, 2, 5, 10}

// bucketOf is the place in Buckets of an order behind an amount.
func bucketOf(ahead, amount market.Qty, known bool) int {
	if !known {
		return len(bucketNames) - 1
	}
	for i, limit := range bucketLimits {
		if limit == 0 && ahead == 0 || limit > 0 && (ahead-1)/limit < amount {
			return i
		}
	}
	return len(bucketLimits)
}

// Brier is the mean squared error of the predictions, each of which is 0 or 1. It is 0 without
// orders.
func (b *Bucket) Brier() float64 { return float64(b.Wrong) / float64(max(1, b.Rests)) }

func (b *Bucket) add(predicted, seen bool) {
	b.Rests++
	for _, one := range [...]struct {
		count *int
		so    bool
	}{{&b.Predicted, predicted}, {&b.Seen, seen}, {&b.Wrong, predicted != seen}} {
		if one.so {
			*one.count++
		}
	}
}

// Predict lets the resting orders of the log meet the recorded market without the account, each
// from the time on at which it came to rest, until it left: once more, by a model of fills.
func (l *Log) Predict(ctx context.Context, fill sim.LimitFill) (*Prediction, error) {
	p, err := newPredictor(l, fill)
	if err == nil {
		err = l.read(ctx, &quotes{}, p)
	}
	if err != nil {
		return nil, err
	}
	return p.whole(), nil
}

// predictor is a Prediction in the making.
type predictor struct {
	Prediction
	venue  *sim.Venue
	others *footprint.Markets
	rests  []*predicted // by beginning
	begun  int          // the first of rests that has not begun
	open   []*predicted
}

// predicted is a time of rest. Its number at the venue is its place in rests plus one.
type predicted struct {
	order  *Life
	rest   *Rest
	id     market.OrderID
	bucket int
	filled bool
	cut    bool
}

func newPredictor(l *Log, fill sim.LimitFill) (*predictor, error) {
	p := &predictor{Prediction: Prediction{Fill: fill}, others: footprint.New(l.Catalog)}
	for i, name := range bucketNames {
		p.Buckets[i].Name = name
	}
	catalog, err := l.open()
	if err != nil {
		return nil, err
	}
	p.venue = sim.New(catalog, sim.Config{LimitFill: fill}, p.hear)
	for _, a := range catalog.Assets() {
		if err := p.venue.Deposit(a.ID, 1<<61); err != nil {
			return nil, err
		}
	}
	for _, o := range l.Orders {
		for i := range o.Rests {
			p.rests = append(p.rests, &predicted{order: o, rest: &o.Rests[i]})
		}
		o.tell(p.others)
	}
	slices.SortStableFunc(p.rests, func(x, y *predicted) int { return cmp.Compare(x.rest.From, y.rest.From) })
	for i, one := range p.rests {
		one.id = market.OrderID(i + 1)
	}
	return p, nil
}

// open is the catalog of the log where every order that rested is allowed: the journal has no rules
// of markets.
func (l *Log) open() (*market.Catalog, error) {
	own := &market.Catalog{}
	for _, a := range l.Catalog.Assets() {
		if _, err := own.AddAsset(a.Symbol, a.Digits); err != nil {
			return nil, err
		}
	}
	for _, m := range l.Catalog.Markets() {
		if err := own.AddMarket(&market.Market{Name: m.Name, PriceDigits: m.PriceDigits, VolumeDigits: m.VolumeDigits,
			Rules: market.Rules{QuantityDecimals: m.AmountDigits, NotionalDecimals: m.QuoteDigits}}); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// tell says which part of the recorded markets is the order's own.
func (o *Life) tell(m *footprint.Markets) {
	for i := range o.Rests {
		r := &o.Rests[i]
		own := footprint.Rest{At: r.From, Order: o.ID, Market: o.Market, Side: o.Side, Price: r.Price, Amount: r.Amount}
		m.Rest(own)
		for k := range o.Fills {
			if f := &o.Fills[k]; f.Time > r.From && (r.To == 0 || f.Time <= r.To) {
				own.At, own.Amount = f.Time, max(0, own.Amount-f.Amount)
				m.Rest(own)
			}
		}
		if r.To != 0 {
			own.At, own.Amount = r.To, 0
			m.Rest(own)
		}
	}
	for k := range o.Fills {
		m.Fill(&o.Fills[k])
	}
}

// hear notes the fills at the venue.
func (p *predictor) hear(ev *market.Event) {
	for i := range ev.Fills {
		p.rests[ev.Fills[i].Order-1].filled = true
	}
}

// gap cuts off the orders that rest in a market, or in all. It is a listener's.
func (p *predictor) gap(g *Hole) {
	for _, one := range p.open {
		one.cut = one.cut || g.Market == 0 || g.Market == one.order.Market
	}
}

// record takes a record. An order leaves after the first prices that come after its end: they are
// of the time until then. It is a listener's.
func (p *predictor) record(item *reader.Item) error {
	ev := item.Data()
	if ev == nil {
		return nil
	}
	for ; p.begun < len(p.rests) && p.rests[p.begun].rest.From < ev.At; p.begun++ {
		if err := p.begin(p.rests[p.begun]); err != nil {
			return err
		}
	}
	if clean := p.others.Clean(ev); clean != nil && ev.Kind != market.KindCandles { // whose prices came before
		if err := p.venue.Advance(clean); err != nil {
			return err
		}
	}
	if ev.Kind == market.KindTicker || ev.Kind == market.KindTrade {
		return p.end(ev.Market, ev.At)
	}
	return nil
}

// end lets the orders of a market leave that left before a time.
func (p *predictor) end(id market.ID, at market.Time) (err error) {
	p.open = slices.DeleteFunc(p.open, func(one *predicted) bool {
		if err != nil || one.order.Market != id || one.rest.To == 0 || one.rest.To >= at {
			return false
		}
		err = p.leave(one, at)
		return true
	})
	return err
}

// begin lets an order come to rest.
func (p *predictor) begin(one *predicted) error {
	o := one.order
	if p.venue.Last(o.Market) == 0 {
		p.Unclear++
		return nil
	}
	p.venue.Do(&market.Command{Kind: market.CommandPlace, At: one.rest.From, Order: market.Order{ID: one.id,
		Market: o.Market, Side: o.Side, Type: market.TypeLimit, OrderState: market.OrderState{Price: one.rest.Price,
			Amount: one.rest.Amount, TimeInForce: market.GTC, SelfTradePrevention: market.CancelOldest}}})
	if err := p.venue.Arrive(one.rest.From); err != nil {
		return err
	}
	ahead, known := p.venue.Ahead(one.id)
	if !known && one.rest.Seen {
		ahead, known = one.rest.Ahead, true
	}
	one.bucket = bucketOf(ahead, one.rest.Amount, known)
	one.cut = p.venue.Order(one.id) == nil && !one.filled // the venue refused it
	p.open = append(p.open, one)
	return nil
}

// leave ends an order, and judges.
func (p *predictor) leave(one *predicted, at market.Time) error {
	p.venue.Cancel(one.id, at, market.CancelOnAdminRequest)
	if err := p.venue.Err(); err != nil {
		return err
	}
	if one.cut {
		p.Unclear++
		return nil
	}
	seen := slices.ContainsFunc(one.order.Fills, func(f market.Fill) bool {
		return !f.Taker && f.Time >= one.rest.From && f.Time <= one.rest.To
	})
	p.Buckets[one.bucket].add(one.filled, seen)
	p.All.add(one.filled, seen)
	return nil
}

// whole is the comparison. What still rests at the end of the record is not judged.
func (p *predictor) whole() *Prediction {
	p.All.Name = "all"
	p.Unclear += len(p.open) + len(p.rests) - p.begun
	p.Venue, p.Removed = p.venue.Counts(), p.others.Counts()
	return &p.Prediction
}

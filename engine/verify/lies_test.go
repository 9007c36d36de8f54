package verify_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// lie is one field of an answer said otherwise.
type lie struct {
	name string
	tell func(w *honest, r *exchange.WireOrder) // may leave the record as it is: then nothing is wanted
}

// numbers are the lies about a number: bigger, smaller, zero, negative, absurd.
func numbers[N ~int64](field string, at func(r *exchange.WireOrder) *N) (list []lie) {
	for kind, change := range map[string]func(n N) N{
		"bigger": func(n N) N { return n*3 + 7 }, "smaller": func(n N) N {
			return n /
				2
		}, "zero": func(N) N { return 0 }, "negative": func(n N) N { return -n },
		"one more": func(n N) N { return n + 1 }, "one less": func(n N) N {
			return n -
				1
		}, "absurd": func(N) N { return math.MaxInt64 },
	} {
		list = append(list, lie{field + " " + kind, func(_ *honest, r *exchange.WireOrder) {
			if n := at(r); n != nil {
				*n = change(*n)
			}
		}})
	}
	return list
}

func values(field string, at func(r *exchange.WireOrder) *market.Value) (list []lie) {
	for kind, to := range map[string]market.Value{"zero": {}, "a million": must(market.ValueOf(1e6).ScaleUp(10)),
		"minus a million": must(market.ValueOf(-1e6).ScaleUp(10)),
		"without end":     must(market.ValueOf(math.MaxInt64).ScaleUp(15))} {
		list = append(list, lie{field + " " + kind, func(_ *honest, r *exchange.WireOrder) {
			if v := at(r); v != nil {
				*v = to
			}
		}})
	}
	return list
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// last is the latest fill of an answer, nil where it has none.
func last[N any](part func(f *market.Fill) *N) func(r *exchange.WireOrder) *N {
	return func(r *exchange.WireOrder) *N {
		if len(r.Fills) == 0 {
			return nil
		}
		return part(&r.Fills[len(r.Fills)-1])
	}
}

func field[N any](part func(o *market.Order) *N) func(r *exchange.WireOrder) *N {
	return func(r *exchange.WireOrder) *N { return part(&r.Order) }
}

// liesOfFills are lies about single fills.
func liesOfFills() (lies []lie) {
	lies = slices.Concat(
		numbers("fill amount", last(func(f *market.Fill) *market.Qty { return &f.Amount })),
		numbers("fill price", last(func(f *market.Fill) *market.Price { return &f.Price })),
		numbers("fill time", last(func(f *market.Fill) *market.Time { return &f.Time })),
		values("fill fee", last(func(f *market.Fill) *market.Value { return &f.Fee })),
	)
	one := func(name string, tell func(w *honest, r *exchange.WireOrder, f *market.Fill)) {
		lies = append(lies, lie{name, func(w *honest, r *exchange.WireOrder) {
			if len(r.Fills) > 0 {
				tell(w, r, &r.Fills[len(r.Fills)-1])
			}
		}})
	}
	one("fill in base", func(_ *honest, _ *exchange.WireOrder, f *market.Fill) { f.FeeCurrency = 2 })
	one("fill of another side", func(_ *honest, _ *exchange.WireOrder, f *market.Fill) { f.Side = f.Side.Opposite() })
	one("fill repeated", func(_ *honest, r *exchange.WireOrder, f *market.Fill) { r.Fills = append(r.Fills, *f) })
	one("fill under a new id", func(_ *honest, r *exchange.WireOrder, f *market.Fill) {
		again := *f
		again.ID = uuid.UUID{9, byte(len(r.Fills))}
		r.Fills = append(r.Fills, again)
	})
	one("fill missing", func(_ *honest, r *exchange.WireOrder, _ *market.Fill) { r.Fills = r.Fills[:len(r.Fills)-1] })
	one("fill without an id", func(_ *honest, _ *exchange.WireOrder, f *market.Fill) { f.ID = uuid.Nil })
	one("fill of another order", func(w *honest, r *exchange.WireOrder, f *market.Fill) {
		for id, fills := range w.booked {
			if id != r.Order.ID && len(fills) > 0 {
				f.ID = fills[0].ID
			}
		}
	})
	one("fill not settled", func(_ *honest, _ *exchange.WireOrder, f *market.Fill) { f.Settled = false })
	return lies
}

// liesOfOrders are lies about the order itself.
func liesOfOrders() (lies []lie) {
	lies = slices.Concat(
		numbers("amount", field(func(o *market.Order) *market.Qty { return &o.Amount })),
		numbers("amountRemaining", field(func(o *market.Order) *market.Qty { return &o.AmountRemaining })),
		numbers("amountQuote", field(func(o *market.Order) *market.Money { return &o.AmountQuote })),
		numbers("price", field(func(o *market.Order) *market.Price { return &o.Price })),
		numbers("triggerAmount", field(func(o *market.Order) *market.Price { return &o.TriggerAmount })),
		numbers("onHold", field(func(o *market.Order) *market.Money { return &o.OnHold })),
		numbers("filledAmount", field(func(o *market.Order) *market.Qty { return &o.FilledAmount })),
		numbers("updated", field(func(o *market.Order) *market.Time { return &o.Updated })),
		values("filledAmountQuote", field(func(o *market.Order) *market.Value { return &o.FilledAmountQuote })),
		values("feePaid", field(func(o *market.Order) *market.Value { return &o.FeePaid })),
	)
	for status := market.StatusNew; status <= market.StatusExpired; status++ {
		lies = append(lies, lie{"status " + status.String(),
			func(_ *honest, r *exchange.WireOrder) { r.Order.Status = status }})
	}
	for name, tell := range map[string]func(o *market.Order){
		"side":          func(o *market.Order) { o.Side = o.Side.Opposite() },
		"type":          func(o *market.Order) { o.Type = o.Type%6 + 1 },
		"orderId":       func(o *market.Order) { o.ExchangeID = uuid.UUID{7} },
		"no orderId":    func(o *market.Order) { o.ExchangeID = uuid.Nil },
		"clientOrderId": func(o *market.Order) { o.ClientOrderID = uuid.UUID{7} },
		"feeCurrency":   func(o *market.Order) { o.FeeCurrency = 2 },
		"timeInForce": func(o *market.Order) {
			o.TimeInForce = o.TimeInForce%3 +
				1
		}, "no timeInForce": func(o *market.Order) { o.TimeInForce = 0 },
		"postOnly":               func(o *market.Order) { o.PostOnly = !o.PostOnly },
		"selfTradePrevention":    func(o *market.Order) { o.SelfTradePrevention = o.SelfTradePrevention%4 + 1 },
		"no selfTradePrevention": func(o *market.Order) { o.SelfTradePrevention = 0 },
		"onHoldCurrency":         func(o *market.Order) { o.OnHoldCurrency = 3 - o.OnHoldCurrency },
	} {
		lies = append(lies, lie{name, func(_ *honest, r *exchange.WireOrder) { tell(&r.Order) }})
	}
	return lies
}

func TestALieInOneFieldIsCaughtOrMovesNoMoney(t *testing.T) {
	lies := append(liesOfFills(), liesOfOrders()...)
	caught, told := map[string]int{}, map[string]int{}
	for seed := range uint64(*seeds) {
		w := newHonest(t, seed)
		w.mutate = func(o *verify.OwnOrder, r *exchange.WireOrder) {
			l := &lies[w.chance.IntN(len(lies))]
			kind := answerTo(w, o)
			lied := *r
			lied.Fills = slices.Clone(r.Fills)
			l.tell(w, &lied)
			if !slices.Equal(lied.Fills, r.Fills) || lied.Order != r.Order {
				told[l.name]++
				before := *r
				if v := w.check().Record(o, kind, &lied); !v.Holds() {
					caught[l.name]++
				} else {
					w.harmless(l.name, o, &before, &lied)
				}
			}
			if v := w.check().Record(o, kind, r); v.Holds() {
				w.book(o.ID, r)
			}
			delete(w.changes, o.ID)
		}
		w.live(200)
	}
	for _, l := range lies {
		require.Positive(t, told[l.name], "%s was never told", l.name)
	}
	for _, name := range []string{"fill amount bigger", "fill price zero", "fill price bigger", "fill fee a million",
		"fill fee minus a million", "fill in base", "fill under a new id",
		"fill of another order", "fill amount negative", "side", "type", "clientOrderId", "onHoldCurrency",
		"filledAmount bigger", "onHold negative"} {
		require.Equal(t, told[name], caught[name], name)
	}
}

// answerTo is the command that an answer is taken for: the one that may be under way.
func answerTo(_ *honest, o *verify.OwnOrder) market.CommandKind {
	if o.Change != nil {
		return 0
	}
	return market.CommandPlace
}

// harmless wants a lie that is not caught to move no money: the same fills at the same price for
// the same fee, and nothing more to spend.
func (w *honest) harmless(name string, o *verify.OwnOrder, honest, lied *exchange.WireOrder) {
	what := fmt.Sprintf("seed %d: %s of %+v: %+v", w.seed, name, *o.Order, *lied)
	were := w.money(o, honest.Fills)
	for id, p := range w.money(o, lied.Fills) {
		was := were[id]
		// a fee can come later
		require.True(w.t, p == was || !p.settled && p.amount == was.amount && p.price == was.price, what)
		delete(were, id)
	}
	for id := range were {
		require.Contains(w.t, w.owner, id, what) // its amount is booked already
	}
	require.GreaterOrEqual(w.t, lied.Order.OnHold, market.Money(0), what)
	if lied.Order.Status.Terminal() {
		return // an order that is said to have ended and has not shows in the lists
	}
	require.Equal(w.t, honest.Order.Price, lied.Order.Price, what)
	require.Equal(w.t, honest.Order.Amount, lied.Order.Amount, what)
	require.Equal(w.t, honest.Order.AmountRemaining, lied.Order.AmountRemaining, what)
	require.Equal(w.t, honest.Order.TriggerAmount, lied.Order.TriggerAmount, what)
	require.Equal(w.t, honest.Order.PostOnly, lied.Order.PostOnly, what)
	require.Less(w.t, lied.Order.Updated, w.now.Add(time.Minute), what)
}

// paid is a fill as far as it moves money.
type paid struct {
	amount  market.Qty
	price   market.Price
	fee     market.Value
	settled bool
}

// money is what the books make of fills: those that are new, and fees that were not settled.
func (w *honest) money(o *verify.OwnOrder, fills []market.Fill) map[uuid.UUID]paid {
	all := map[uuid.UUID]paid{}
	for i := range fills {
		f := &fills[i]
		if booked := slices.ContainsFunc(o.Fills,
			func(b market.Fill) bool { return b.ID == f.ID && (b.Settled || !f.Settled) }); booked {
			continue
		}
		p := paid{f.Amount, f.Price, f.Fee, f.Settled}
		if before, again := all[f.ID]; again && before != p {
			p.amount = -1
		}
		all[f.ID] = p
	}
	return all
}

package backtest

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

var (
	worlds     = flag.Int("worlds", 8, "play each relation in so many worlds")
	firstWorld = flag.Uint64("first-world", 100, "the seed of the first of these worlds")
)

// inWorlds checks something in each of the worlds.
func inWorlds(t *testing.T, check func(seed uint64)) {
	for i := range uint64(*worlds) {
		check(*firstWorld + i)
	}
}

// world is the run of a seed, as TestRandomRunsGiveWhatTheyGaveBefore draws it, over candles with
// edges. In one world of four prices are a few ticks, in another one they are huge.
func world(t *testing.T, seed uint64) *Plan {
	p := (&transcript{to: io.Discard}).plan(t, seed)
	r := rand.New(rand.NewPCG(seed, 6))
	reshape(t, p, func(list []market.Candle) []market.Candle { return edges(r, list) })
	switch r.IntN(4) {
	case 0: // 0.02 to 4.20 EUR
		rescale(t, p, func(price market.Price) market.Price { return max(1, price/500) }, 500, 1)
	case 1: // millions
		rescale(t, p, func(price market.Price) market.Price { return price * 10_000 }, 1, 10_000)
	}
	return p
}

// reshape gives the markets of a plan other candles. Longer ones are sums of the short ones.
func reshape(t *testing.T, p *Plan, change func([]market.Candle) []market.Candle) {
	all := map[Feed][]market.Candle{}
	for _, f := range p.Feeds {
		if f.Interval != market.Interval1m {
			continue
		}
		source, err := p.Open(f, 0, 0)
		require.NoError(t, err)
		all[f] = change(slices.Clone(source.(*memory).candles))
		for _, longer := range p.Feeds {
			if longer.Market == f.Market && longer.Interval == market.Interval5m {
				all[longer] = coarser(all[f])
			}
		}
	}
	p.Open = func(f Feed, _, _ market.Time) (Source, error) { return &memory{all[f]}, nil }
}

// edges changes candles of a market: prices that stand still, holes, spikes, candles without
// volume. The first candle stays: a run begins where each of its assets has a price.
func edges(r *rand.Rand, list []market.Candle) []market.Candle {
	for range r.IntN(12) {
		at := 1 + r.IntN(len(list)-1)
		part := list[at:min(len(list), at+1+r.IntN(30))]
		switch r.IntN(4) {
		case 0:
			price := list[at-1].Close
			for i := range part {
				part[i].Open, part[i].High, part[i].Low, part[i].Close = price, price, price, price
			}
		case 1:
			list = slices.Delete(list, at, min(len(list), at+len(part)))
		case 2:
			part[0].High, part[0].Low = part[0].High*5/4, part[0].Low*4/5
		case 3:
			for i := range part {
				part[i].Volume = 0
			}
		}
	}
	return list
}

// rescale changes the prices of all markets, multiplies the amounts that gamblers ask for and the
// base that the account begins with, and divides them.
func rescale(t *testing.T, p *Plan, price func(market.Price) market.Price, times, by market.Qty) {
	reprice(t, p, price)
	for _, m := range p.Catalog.Markets() {
		m.QuantityDecimals = m.AmountDigits
	}
	for i := range p.Strategies {
		if s := &p.Strategies[i]; s.Kind.Name == "gambler" {
			s.Values = wagered(s.Values, "size", max(1, int64(250_000*times/by)))
		}
	}
	for i := range p.Deposits {
		if d := &p.Deposits[i]; d.Asset != p.Currency.ID {
			d.Money = d.Money * market.Money(times) / market.Money(by)
		}
	}
}

// wagered are the values of a gambler with one more.
func wagered(values map[string]any, name string, value any) map[string]any {
	own := map[string]any{name: value}
	for name, value := range values {
		if own[name] == nil {
			own[name] = value
		}
	}
	return own
}

// reprice changes the prices of all candles.
func reprice(t *testing.T, p *Plan, price func(market.Price) market.Price) {
	reshape(t, p, func(list []market.Candle) []market.Candle {
		for i := range list {
			c := &list[i]
			c.Open, c.High, c.Low, c.Close = price(c.Open), price(c.High), price(c.Low), price(c.Close)
		}
		return list
	})
}

// keep drops the strategies of other kinds, with their money.
func keep(p *Plan, kinds ...string) {
	p.Strategies = slices.DeleteFunc(p.Strategies, func(s StrategyPlan) bool {
		return !slices.Contains(kinds, s.Kind.Name)
	})
	p.Deposits = slices.DeleteFunc(p.Deposits, func(d Deposit) bool { return int(d.Owner) > len(p.Strategies) })
}

// heard are the fills of a run, and the account at its end.
type heard struct {
	fills   []market.Fill
	account *state.Account
}

func (h *heard) Approved(state.Terms, *market.Command, []state.Figure) {}
func (h *heard) Filled(_ *state.Order, f *market.Fill)                 { h.fills = append(h.fills, *f) }
func (h *heard) Closed(*state.Order)                                   {}
func (h *heard) Ended(a *state.Account)                                { h.account = a }

// played is what a plan comes to.
func played(t *testing.T, seed uint64, p *Plan) (*heard, *Result) {
	h := &heard{}
	result, err := Run(t.Context(), p, Options{Observer: h, Keep: true})
	require.NoError(t, err, "seed %d", seed)
	return h, result
}

// sameFills compares fills one by one, but for their numbers, and says where they part.
func sameFills(t *testing.T, seed uint64, want, have []market.Fill, about ...any) {
	text := func(f market.Fill) string {
		f.ID, f.Order = uuid.UUID{}, 0
		return fmt.Sprintf("%+v", f)
	}
	for i := range min(len(want), len(have)) {
		require.Equal(t, text(want[i]), text(have[i]), "seed %d, fill %d %v", seed, i, about)
	}
	require.Equal(t, len(want), len(have), "fills, seed %d %v", seed, about)
}

package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// TestAnAccountThatIsShortCanBeRestored restores what a sound account can save: an allocation that
// has less than it holds.
func TestAnAccountThatIsShortCanBeRestored(t *testing.T) {
	own := []bool{false, true}
	for name, c := range map[string]struct {
		own  []bool
		live func(d *desk) *market.Event
		want [2]market.Money // available and held
	}{
		"a market buy has cost more than the allocation had": {own, func(d *desk) *market.Event {
			d.deposit(1, d.m.Quote, 100*eur)
			return d.bought(d.sendFor(1, market.TypeMarket, market.Buy, btc, 0, 100*eur), 105*at1)
		}, [2]market.Money{-5 * eur, 0}},
		"of two market buys that hold all, the first filled dearer": {nil, func(d *desk) *market.Event {
			d.deposit(1, d.m.Quote, 100*eur)
			first := d.sendFor(1, market.TypeMarket, market.Buy, btc/2, 0, 50*eur)
			d.sendFor(2, market.TypeMarket, market.Buy, btc/2, 0, 50*eur)
			return d.bought(first, 102*at1)
		}, [2]market.Money{-1 * eur, 50 * eur}},
		"money has left the exchange under a buy that rests": {own, func(d *desk) *market.Event {
			d.deposit(1, d.m.Quote, 100*eur)
			d.send(market.Buy, btc, 90*at1, 90*eur)
			return &market.Event{Kind: market.KindTransfer, Owner: 1, Asset: d.m.Quote, Money: -60 * eur}
		}, [2]market.Money{-50 * eur, 90 * eur}},
		"coins have left the exchange under a sell that rests": {nil, func(d *desk) *market.Event {
			d.deposit(0, d.m.Base, btc)
			d.send(market.Sell, btc, 90*at1, btc)
			return &market.Event{Kind: market.KindTransfer, Asset: d.m.Base, Money: -btc}
		}, [2]market.Money{}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, 2, c.own)
			_, err := d.Apply(c.live(d))
			require.NoError(t, err)
			require.ErrorContains(t, d.Check(), " and holds ")
			text := wholeText(t, d.Account, seatNames)
			a := restarted(t, false, c.own)
			require.NoError(t, restoreText(a, text, seatNames))
			require.Equal(t, string(text), string(wholeText(t, a, seatNames)))
			available, held := a.Balance(1, a.Catalog().MarketNamed("BTC-EUR").Quote)
			require.Equal(t, c.want, [2]market.Money{available, held})
		})
	}
}

// bought is the report that an order has filled whole at a price.
func (d *desk) bought(o *Order, price market.Price) *market.Event {
	r := d.report(o, market.ExecTrade, market.StatusFilled)
	r.FilledAmount, r.AmountRemaining, r.OnHold = o.Amount, 0, 0
	return &market.Event{Kind: market.KindReport, At: d.time, Report: r,
		Fills: []market.Fill{d.fillOf(o, o.Amount, price, 0)}}
}

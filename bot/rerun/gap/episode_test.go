package gap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// played is a report with the orders of a backtest and of live, and those of the runs between.
type played struct {
	*Comparison
	market *market.Market
}

func newPlayed(t require.TestingT) *played {
	c := &market.Catalog{}
	for _, a := range []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "EUR", Digits: 2}} {
		_, err := c.AddAsset(a.Symbol, a.Digits)
		require.NoError(t, err)
	}
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8, Status: market.Trading,
		Rules: market.Rules{TickSize: 1, QuantityDecimals: 8, NotionalDecimals: 2, MinOrderInBase: 10_000}}
	require.NoError(t, c.AddMarket(m))
	p := &played{&Comparison{Currency: "EUR", Catalog: c, To: 1e15, Account: Bridge{Gap: Amount{0, 2}},
		Strategies: []Bridge{{Name: "trend", Gap: Amount{0, 2}}}}, m}
	for range facts + 1 {
		p.Runs = append(p.Runs, &RunBooks{})
	}
	return p
}

// order adds an order to the runs from one on, up to another. A minute has one order.
func (p *played) order(from, to Fact, minute int, live market.OrderID, o RunOrder) {
	o.Strategy, o.Market, o.Live, o.At = 1, p.market.ID, live, market.Time(minute)*60e9
	if o.Filled > 0 {
		o.First = o.At + 1e9
	}
	for rung := from; rung <= to; rung++ {
		p.Runs[rung].Orders = append(p.Runs[rung].Orders, o)
	}
}

// filled is an order for hundredths of a bitcoin at a price in euros, with a fee of one euro.
func (p *played) filled(side market.Side, hundredths, price int64) RunOrder {
	o := RunOrder{Side: side, Type: market.TypeMarket, Amount: market.Qty(hundredths) * 1_000_000}
	o.Filled = o.Amount
	o.Value, _ = p.market.Value(market.Price(price*100), o.Amount)
	o.Fee = p.market.MoneyValue(100)
	return o
}

// told are the episodes as lines.
func (p *played) told(t *testing.T, gap market.Money) string {
	p.Account.Gap.Units, p.Strategies[0].Gap.Units = gap, gap
	require.NoError(t, p.episodes())
	var lines []string
	for _, e := range p.Episodes {
		line := fmt.Sprintf("%d to %d, %d orders: %s by %s (order %d): %s", e.From/60e9, e.To/60e9, e.Orders, e.Gap,
			e.Root.Fact, e.Root.Order, e.Root.Text)
		if e.Open {
			line += ", open"
		}
		for _, c := range e.Contributing {
			line += fmt.Sprintf("; %s (order %d)", c.Fact, c.Order)
		}
		lines = append(lines, line)
	}
	return strings.Join(append(lines, "outside "+p.Strategies[0].Outside.String()), "\n")
}

// The exchange refuses a sale, and the strategy sells a minute later. A later order pays another
// fee.
func TestAnEpisodeLastsUntilTheBooksAgreeAgain(t *testing.T) {
	p := newPlayed(t)
	p.order(0, facts, 1, 1, p.filled(market.Buy, 10, 30_000))
	p.order(0, Orders, 2, 2, p.filled(market.Sell, 10, 30_100))
	p.order(Orders+1, facts, 2, 2, RunOrder{Side: market.Sell, Type: market.TypeMarket, Amount: 10_000_000,
		Rejected: true})
	p.order(People+1, facts, 3, 3, p.filled(market.Sell, 10, 30_050))
	p.order(0, Fees, 4, 4, p.filled(market.Buy, 10, 30_000))
	dear := p.filled(market.Buy, 10, 30_000)
	dear.Fee = p.market.MoneyValue(300)
	p.order(facts, facts, 4, 4, dear)
	require.Equal(t, "2 to 3, 2 orders: -5.00 by orders (order 2): sell market: refused live, filled 0.1 in the "+
		"backtest; people (order 3)\n"+
		"4 to 4, 1 orders: -2.00 by fees (order 4): buy market: fee 3 live, 1 in the backtest\noutside 0.00",
		p.told(t, -700))
}

// Dust is no position, an order without a fill changes nothing, and what is open at the end has
// the rest of the gap.
func TestAnEpisodeThatIsOpenHasTheRestOfTheGap(t *testing.T) {
	p := newPlayed(t)
	p.order(0, People, 1, 0, RunOrder{Side: market.Buy, Type: market.TypeLimit, Amount: 1e8, Price: 20_000_00})
	dusty := p.filled(market.Buy, 10, 30_000)
	p.order(0, Data, 2, 2, dusty)
	dusty.Amount -= 9_000
	dusty.Filled = dusty.Amount
	p.order(Data+1, facts, 2, 2, dusty)
	p.order(People+1, facts, 3, 3, p.filled(market.Buy, 1, 30_000))
	require.Equal(t, "1 to 1, 1 orders: 0.00 by people (order 0): buy limit: no order live, not filled in the "+
		"backtest\n"+
		"2 to 2, 1 orders: 0.00 by data (order 2): buy market: amount 0.09991 live, 0.1 in the backtest\n"+
		"3 to 16666, 1 orders: 5.55 by people (order 3): buy market: filled 0.01 live, no order in the backtest, "+
		"open\n"+
		"outside 0.00", p.told(t, 555))
}

// What the gate refuses is no order, and the episode says that it was refused: live, or in the
// backtest.
func TestARefusalOfTheGateIsNamed(t *testing.T) {
	p := newPlayed(t)
	refused := RunOrder{Side: market.Buy, Type: market.TypeMarket, Amount: 10_000_000, Refused: "max_position"}
	p.order(0, Fills, 1, 0, p.filled(market.Buy, 10, 30_000))
	p.order(Fills+1, facts, 1, 0, refused)
	p.order(0, Data, 2, 0, refused)
	p.order(Data+1, facts, 2, 5, p.filled(market.Buy, 10, 30_000))
	p.order(0, People, 4, 0, refused) // and not at all in the others
	require.Equal(t, "1 to 2, 2 orders: 0.00 by fills (order 0): buy market: refused by the gate (max_position) live, "+
		"filled 0.1 in the backtest; data (order 5)\noutside 0.00", p.told(t, 0))
	require.Equal(t, "buy market: filled 0.1 live, refused by the gate (max_position) in the backtest",
		p.Episodes[0].Contributing[0].Text)
}

// Whatever is ordered, each order that differs is in one episode, cuts stand where the naive twin
// cuts, and everything adds up to the gap.
func TestEpisodesAddUpToTheGapAndAreCutAsTheNaiveTwinCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPlayed(t)
		minutes := rapid.IntRange(0, 12).Draw(t, "minutes")
		tested, live := map[int]RunOrder{}, map[int]RunOrder{}
		for minute := 1; minute <= minutes; minute++ {
			side := rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(t, "side")
			draw := func() RunOrder {
				return p.filled(side, rapid.Int64Range(0, 2).Draw(t, "amount"), rapid.Int64Range(99, 101).
					Draw(t, "price"))
			}
			with := Fact(rapid.IntRange(0, int(Fees)).Draw(t, "fact"))
			which, id := rapid.IntRange(0, 4).Draw(t, "which"), market.OrderID(minute)
			if which == 0 {
				id = 0
			}
			if which != 1 {
				tested[minute] = draw()
				p.order(0, with, minute, id, tested[minute])
			}
			if which != 0 {
				live[minute] = draw()
				p.order(with+1, facts, minute, id, live[minute])
			}
		}
		gap := rapid.Int64Range(-1e6, 1e6).Draw(t, "gap")
		p.Account.Gap.Units, p.Strategies[0].Gap.Units = market.Money(gap), market.Money(gap)
		require.NoError(t, p.episodes())
		require.Equal(t, p.naive(tested, live, minutes), p.Episodes)
	})
}

// naive walks minute by minute and looks at everything again in each. Causes are taken over.
func (p *played) naive(tested, live map[int]RunOrder, minutes int) []Episode {
	all := []Episode{}
	held := func(until int) (amount market.Qty) { // live more than tested
		for minute := 1; minute <= until; minute++ {
			amount += signed(live[minute]) - signed(tested[minute])
		}
		return amount
	}
	cash := func(from, until int) (money market.Money) {
		sum := market.Value{}
		for minute := from; minute <= until; minute++ {
			sum, _ = sum.Add(cashOf(live[minute]))
			sum, _ = sum.Sub(cashOf(tested[minute]))
		}
		money, _ = sum.FloorMoney(p.market.MoneyDrop())
		return money
	}
	first, last, count := 0, 0, 0
	end := func() {
		e := Episode{Number: len(all) + 1, Strategy: "trend", Orders: count, Gap: Amount{cash(first, last), 2}}
		e.From, e.To = market.Time(first)*60e9, market.Time(last)*60e9
		if live[last].Filled > 0 || tested[last].Filled > 0 {
			e.To += 1e9
		}
		e.Root, e.Contributing = p.Episodes[len(all)].Root, p.Episodes[len(all)].Contributing
		all, count = append(all, e), 0
	}
	for minute := 1; minute <= minutes; minute++ {
		if live[minute] == tested[minute] {
			continue
		}
		if count > 0 && held(minute-1) == 0 {
			end()
		}
		if last = minute; count == 0 {
			first = minute
		}
		count++
	}
	if count == 0 {
		return all
	}
	end()
	if held(minutes) != 0 {
		e := &all[len(all)-1]
		e.Open, e.To, e.Gap = true, p.To, p.Account.Gap
		for _, other := range all[:len(all)-1] {
			e.Gap.Units -= other.Gap.Units
		}
	}
	return all
}

func signed(o RunOrder) market.Qty {
	if o.Side == market.Sell {
		return -o.Filled
	}
	return o.Filled
}

// cashOf is what an order has brought in.
func cashOf(o RunOrder) (cash market.Value) {
	if o.Side == market.Sell {
		cash, _ = o.Value.Sub(o.Fee)
		return cash
	}
	cash, _ = o.Value.Add(o.Fee)
	return cash.Neg()
}

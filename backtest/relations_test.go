package backtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// Relations between two runs: no value is expected, one run is held against another. Strategies,
// markets and rules are those of TestRandomRunsGiveWhatTheyGaveBefore, by seed.

// relation plays the world of a seed as it is, and changed, and compares fills and figures. same is
// made in both: what the relation speaks of. undo takes the change back from a fill.
func relation(t *testing.T, seed uint64, same, change func(p *Plan), undo func(f *market.Fill)) {
	play := func(changes ...func(p *Plan)) ([]market.Fill, Performance) {
		p := world(t, seed)
		for _, change := range changes {
			if change != nil {
				change(p)
			}
		}
		h, result := played(t, seed, p)
		return h.fills, result.Performance
	}
	fills, figures := play(same)
	others, changed := play(same, change)
	for i := range others {
		if undo != nil {
			undo(&others[i])
		}
	}
	sameFills(t, seed, fills, others)
	require.Equal(t, figures.Final.Units, changed.Final.Units, "seed %d", seed)
	require.Equal(t, figures.Fees.Units, changed.Fees.Units, "seed %d", seed)
	require.Equal(t, figures.Rounding.Units, changed.Rounding.Units, "seed %d", seed)
}

// M5: where no order takes a share of the volume and no book shows it, volumes decide nothing.
func TestVolumesThatAreNotKnownChangeNoFill(t *testing.T) {
	inWorlds(t, func(seed uint64) {
		relation(t, seed, func(p *Plan) { p.Venue.VolumeShare, p.SyntheticBook = 0, false }, func(p *Plan) {
			reshape(t, p, func(list []market.Candle) []market.Candle {
				for i := range list {
					list[i].Volume = 0
				}
				return list
			})
		}, nil)
	})
}

// M7: prices with more decimals, and the tick of before. A share of a price is rounded to the unit
// before it is rounded to the tick: half a spread, a collar, the prices that a strategy works out.
// With finer units it can come to the tick beside, so this is about worlds without such shares; and
// an order that fills on a price beyond its own fills a unit beyond it, at a moment of its own.
func TestMoreDecimalsWithTheSameTickChangeNoFill(t *testing.T) {
	const digits, times = 3, 1000
	inWorlds(t, func(seed uint64) {
		relation(t, seed, func(p *Plan) {
			v := &p.Venue
			v.HalfSpread, v.Slippage, v.PlacementLimit, v.LimitFill = 0, 0, 0, sim.Touch
			keep(p, "gambler", "smacross", "dca")
			for i := range p.Strategies {
				p.Strategies[i].Limits.PriceCollar = 0
			}
		}, func(p *Plan) {
			reprice(t, p, func(price market.Price) market.Price { return price * times })
			for _, m := range p.Catalog.Markets() {
				require.NoError(t, m.SetDigits(m.PriceDigits+digits, m.VolumeDigits))
				m.TickSize *= times
			}
			for i := range p.Strategies {
				if s := &p.Strategies[i]; s.Kind.Name == "gambler" {
					s.Values = wagered(s.Values, "unit", int64(times))
				}
			}
		}, func(f *market.Fill) {
			f.Price /= times
			money, err := f.Fee.NearestMoney(digits)
			require.NoError(t, err)
			f.Fee = market.ValueOf(int64(money))
		})
	})
}

// M9: names of strategies and markets decide nothing.
func TestNamesChangeNoFill(t *testing.T) {
	inWorlds(t, func(seed uint64) {
		relation(t, seed, nil, func(p *Plan) {
			for i := range p.Strategies {
				p.Strategies[i].Name = "z" + string(rune('z'-i))
			}
			for _, m := range p.Catalog.Markets() {
				m.Name = "Z" + m.Name
			}
		}, nil)
	})
}

// M10: all times 26 weeks later: the same fills, 26 weeks later.
func TestLaterTimesChangeNoFill(t *testing.T) {
	const later = 26 * 7 * dayLength
	inWorlds(t, func(seed uint64) {
		relation(t, seed, func(p *Plan) {
			for i := range p.Strategies {
				if values := p.Strategies[i].Values; values["every_candles"] != nil {
					values["every_candles"] = int64(24) // dca counts from 1970 on, and 24 divides 26 weeks of minutes
				}
			}
		}, func(p *Plan) {
			reshape(t, p, func(list []market.Candle) []market.Candle {
				for i := range list {
					list[i].Start += later
				}
				return list
			})
		}, func(f *market.Fill) { f.Time -= later })
	})
}

// M10: rows of minutes, read as rows of hours, give the same fills at sixty times the time. Clocks
// of their own have timers, limits by the minute, and an exit that is refused and tried again.
func TestMinutesReadAsHoursHaveTheSameFills(t *testing.T) {
	const start, times = market.Time(1640995200_000_000_000), 60
	inWorlds(t, func(seed uint64) {
		relation(t, seed, func(p *Plan) {
			p.Feeds = slices.DeleteFunc(p.Feeds, func(f Feed) bool { return f.Interval != market.Interval1m })
			p.Strategies = append(p.Strategies, StrategyPlan{Name: "smacross", Kind: shipped.SMACross,
				Markets: p.Catalog.Markets(), Interval: market.Interval1m,
				Values: map[string]any{"fast": int64(5), "slow": int64(20), "share": "0.1"}})
			keep(p, "smacross", "dca", "grid")
			for i := range p.Strategies {
				s := &p.Strategies[i]
				s.Limits.OrdersPerMinute, s.Limits.CoolDown, s.Limits.CoolDownLosses = 0, 0, 0
				if s.Values["every_candles"] != nil {
					s.Values["every_candles"] = int64(12) // dca counts from 1970 on; the start is a multiple of both
				}
			}
		}, func(p *Plan) {
			p.Venue.Latency, p.DataLatency = times*p.Venue.Latency, times*p.DataLatency
			reshape(t, p, func(list []market.Candle) []market.Candle {
				for i := range list {
					list[i].Start = start + times*(list[i].Start-start)
					list[i].Interval = market.Interval1h
				}
				return list
			})
			open := p.Open
			p.Open = func(f Feed, from, to market.Time) (Source, error) {
				f.Interval = market.Interval1m
				return open(f, from, to)
			}
			for i := range p.Feeds {
				p.Feeds[i].Interval = market.Interval1h
			}
			for i := range p.Strategies {
				p.Strategies[i].Interval = market.Interval1h
			}
		}, func(f *market.Fill) { f.Time = start + (f.Time-start)/times })
	})
}

// scaled gives prices, money and amounts of a plan other units: the same integers mean so many
// powers of ten more. Sizes in the parameters of strategies are money.
func scaled(t *testing.T, p *Plan, price, money, amount int) {
	p.Currency.Digits -= uint8(money)
	for _, m := range p.Catalog.Markets() {
		m.QuoteDigits, m.NotionalDecimals = p.Currency.Digits, m.NotionalDecimals-uint8(money)
		p.Catalog.Asset(m.Base).Digits -= uint8(amount)
		m.AmountDigits, m.QuantityDecimals = m.AmountDigits-uint8(amount), m.QuantityDecimals-uint8(amount)
		require.NoError(t, m.SetDigits(m.PriceDigits-uint8(price), m.VolumeDigits-uint8(amount)))
	}
	for i := range p.Strategies {
		for name, value := range p.Strategies[i].Values {
			if text, is := value.(string); is && strings.HasSuffix(name, "money") {
				p.Strategies[i].Values[name] = decimal.RequireFromString(text).Shift(int32(money)).String()
			}
		}
	}
}

// M11: prices and cash × 10^k scale money.
func TestPricesAndCashTimesTenScaleMoney(t *testing.T) {
	for _, k := range []int{-6, -1, 2} {
		inWorlds(t, func(seed uint64) {
			relation(t, seed, nil, func(p *Plan) { scaled(t, p, k, k, 0) }, nil)
		})
	}
}

// M12: prices × 10^k and amounts in units as many times smaller: the same money.
func TestPricesTimesTenOfASmallerUnitAreTheSameMoney(t *testing.T) {
	for _, k := range []int{-3, 2} {
		inWorlds(t, func(seed uint64) {
			relation(t, seed, nil, func(p *Plan) { scaled(t, p, k, 0, -k) }, nil)
		})
	}
}

// M14, M15: the fills are the whole story: what they cost, and nothing else, leaves the account.
func TestFillsExplainTheAccountToTheLastUnit(t *testing.T) {
	inWorlds(t, func(seed uint64) {
		for _, free := range []bool{false, true} {
			p := world(t, seed)
			if free {
				p.Fees, p.Venue.HalfSpread, p.Venue.Slippage = Fees{}, 0, 0
			}
			h, result := played(t, seed, p)
			want, fees := map[market.AssetID]market.Money{}, market.Value{}
			for _, d := range p.Deposits {
				want[d.Asset] += d.Money
			}
			for i := range h.fills {
				f := &h.fills[i]
				m := p.Catalog.Market(f.Market)
				value, err := m.Value(f.Price, f.Amount)
				require.NoError(t, err)
				amount := market.Money(f.Amount)
				if f.Side == market.Buy {
					value = value.Neg()
				} else {
					amount = -amount
				}
				value, err = value.Sub(f.Fee)
				require.NoError(t, err)
				money, err := value.ExactMoney(m.MoneyDrop())
				require.NoError(t, err, "seed %d", seed)
				want[m.Quote], want[m.Base] = want[m.Quote]+money, want[m.Base]+amount
				fees, err = fees.Add(f.Fee)
				require.NoError(t, err)
			}
			for asset, money := range want {
				require.Equal(t, money, h.account.Total(asset).Total, "seed %d, asset %d", seed, asset)
			}
			equity := want[p.Currency.ID]
			for _, m := range p.Catalog.Markets() {
				worth, err := m.Notional(h.account.Last(m.ID), market.Qty(want[m.Base]))
				require.NoError(t, err)
				equity += worth
			}
			about := &result.Performance
			require.InDelta(t, float64(equity), float64(about.Final.Units), float64(len(p.Catalog.Markets())),
				"seed %d: base is rounded down", seed)
			m := p.Catalog.Markets()[0]
			paid, err := fees.NearestMoney(m.MoneyDrop())
			require.NoError(t, err)
			require.InDelta(t, float64(paid), float64(about.Fees.Units+about.Rounding.Units), 1, "seed %d", seed)
			if free {
				require.Zero(t, about.Fees.Units)
			}
		}
	})
}

// M13: so many times the cash gains so many times as much, within a cent a fill of the smaller run.
func TestTenTimesTheCashGainsTenTimesAsMuch(t *testing.T) {
	inWorlds(t, func(seed uint64) {
		run := func(times market.Money) *Result {
			p := world(t, seed)
			p.Strategies = []StrategyPlan{p.Strategies[0]}
			s := &p.Strategies[0]
			s.Kind, s.Limits, s.Own = shipped.Breakout, risk.Limits{}, false
			s.Values = map[string]any{"channel": int64(9), "atr": int64(5), "share": "0.1"}
			p.Venue.VolumeShare, p.Account.MaxExposure = 0, 0
			p.Deposits = []Deposit{{Asset: p.Currency.ID, Money: times * 100_000_00}}
			for _, m := range p.Catalog.Markets() {
				m.QuantityDecimals = m.AmountDigits
			}
			_, result := played(t, seed, p)
			return result
		}
		gain := func(of *Result) float64 { return float64(of.Performance.Final.Units - of.Performance.Start.Units) }
		one := run(1)
		for _, times := range []market.Money{10, 1000} {
			all := run(times)
			require.Equal(t, one.Orders.Fills, all.Orders.Fills, "seed %d", seed)
			require.InDelta(t, gain(one)*float64(times), gain(all), float64(times)*float64(one.Orders.Fills),
				"seed %d, %d times", seed, times)
		}
	})
}

package backtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

var (
	updateRuns = flag.Bool("update-runs", false,
		"write testdata/runs.txt anew, after a change that is meant to change results")
	transcripts = flag.String("transcripts", "",
		"folder for the transcript of each random run: two revisions' files show the first difference")
)

// runsFile holds a line for each random run: its seed, the number of its approved commands, fills
// and refusals, and the hash of its transcript.
const runsFile = "testdata/runs.txt"

// Random strategies and shipped ones with random parameters, in random markets, under random rules,
// decide and fill as they did when the file was written: a faster program is the same program.
func TestRandomRunsGiveWhatTheyGaveBefore(t *testing.T) {
	var have strings.Builder
	for seed := range uint64(40) {
		have.WriteString(randomRun(t, seed))
		if testing.Short() && seed == 9 {
			break
		}
	}
	if *updateRuns {
		require.NoError(t, os.WriteFile(runsFile, []byte(have.String()), 0o644))
	}
	text, err := os.ReadFile(runsFile)
	require.NoError(t, err)
	want := strings.SplitAfter(string(text), "\n")
	for i, line := range strings.SplitAfter(have.String(), "\n") {
		require.Equal(t, want[i], line, "compare the files that -transcripts writes here and in an earlier revision")
		if testing.Short() && i == 9 {
			break
		}
	}
}

// randomRun plays the run of a seed and returns its line of the file.
func randomRun(t *testing.T, seed uint64) string {
	s := &transcript{hash: sha256.New()}
	s.to = s.hash
	if *transcripts != "" {
		require.NoError(t, os.MkdirAll(*transcripts, 0o755))
		file, err := os.Create(fmt.Sprintf("%s/%d.txt", *transcripts, seed))
		require.NoError(t, err)
		defer file.Close()
		s.to = io.MultiWriter(file, s.hash)
	}
	result, err := Run(context.Background(), s.plan(t, seed), Options{Observer: s})
	require.NoError(t, err, "seed %d", seed)
	perf := &result.Performance
	s.note("%s to %s, fees %s, rounding %s", perf.Start, perf.Final, perf.Fees, perf.Rounding)
	return fmt.Sprintf("%d: %d commands, %d fills, %d refused, %x\n", seed, s.commands, s.fills, s.refused,
		s.hash.Sum(nil))
}

// transcript is an observer of a run that hashes what it hears. It writes the fields of an order
// one by one: a new field of a type must not change it.
type transcript struct {
	to                       io.Writer
	hash                     hash.Hash
	commands, fills, refused int
}

func (s *transcript) note(format string, args ...any) { fmt.Fprintf(s.to, format+"\n", args...) }

func (s *transcript) Approved(asked state.Terms, c *market.Command, _ []state.Figure) {
	s.commands++
	o := &c.Order
	s.note("%s %d of %d in %d, asked %v: %s %s %d %d %d @ %d trigger %d, %d %d %v %v, exits %d %d %d, changed %d",
		c.Kind, o.ID, o.Strategy, o.Market, asked, o.Side, o.Type, o.Amount, o.AmountQuote, o.OnHold, o.Price,
		o.TriggerAmount, o.TimeInForce, o.SelfTradePrevention, o.PostOnly, o.Triggered, o.Bracket.Stop,
		o.Bracket.Target, o.Bracket.Keep, c.Changed)
}

func (s *transcript) Filled(o *state.Order, f *market.Fill) {
	s.fills++
	s.note("fill of %d at %d: %s %d @ %d, fee %s of %d, taker %v, %s", f.Order, f.Time, f.Side, f.Amount, f.Price,
		f.Fee,
		f.FeeCurrency, f.Taker, o.State)
}

func (s *transcript) Closed(o *state.Order) {
	s.note("end of %d: %s, filled %d for %s, fees %s, at %d, %d", o.ID, o.State, o.FilledAmount, o.FilledAmountQuote,
		o.FeePaid, o.Updated, o.RestatementReason)
}

func (s *transcript) Ended(a *state.Account) {
	for _, asset := range a.Catalog().Assets() {
		s.note("%s: %+v", asset.Symbol, a.Total(asset.ID))
	}
	if err := a.Check(); err != nil {
		s.note("the account is wrong: %v", err)
	}
}

// answer notes the answer to an ask.
func (g *gambler) answer(id market.OrderID, err error) {
	var refusal *risk.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Reason == risk.ReasonSelfCross:
		// without the price of the own order: any that crosses may be named
		g.note("refused: %s %d, %d", refusal.Reason, refusal.Code, refusal.Have)
	case errors.As(err, &refusal):
		g.note("refused: %s %d, %d of %d", refusal.Reason, refusal.Code, refusal.Have, refusal.Limit)
	case err != nil:
		g.note("refused")
	default:
		g.note("asked: %d", id)
	}
}

// plan draws a run: markets, series, strategies, rules.
func (s *transcript) plan(t *testing.T, seed uint64) *Plan {
	r := rand.New(rand.NewPCG(seed, 5))
	p := &Plan{Catalog: &market.Catalog{}, SyntheticBook: true, OneByOne: r.IntN(4) == 0,
		Fees: Fees{Maker: market.Rate(r.IntN(3)) * 75_000, Taker: 250_000},
		Account: risk.AccountLimits{AllowSelfCross: r.IntN(2) == 0,
			MaxExposure: market.Money(r.IntN(2)) * 600_000_00},
		DataLatency: market.Duration(r.IntN(2)) * 20e9,
		Venue: sim.Config{Path: sim.Path(r.IntN(5)), LimitFill: sim.LimitFill(r.IntN(2)),
			FeeRounding: exchange.FeeRounding(r.IntN(3)), HalfSpread: market.Rate(r.IntN(2)) * 10_000,
			Slippage: market.Rate(r.IntN(2)) * 20_000, Latency: market.Duration(r.IntN(2)) * 90e9,
			VolumeShare: market.Rate(r.IntN(2)) * 30_000_000, PlacementLimit: market.Rate(r.IntN(2)) * 5_000_000}}
	var err error
	p.Currency, err = p.Catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	p.Account.Currency = p.Currency.ID
	p.Deposits = []Deposit{{Asset: p.Currency.ID, Money: 100_000_00}}
	for i := range 1 + r.IntN(5) {
		s.market(t, r, p, fmt.Sprintf("M%d", i))
	}
	s.strategies(r, p, seed)
	series := seriesOf(t, r, p, 200+r.IntN(600))
	p.Open = func(f Feed, _, _ market.Time) (Source, error) { return &memory{series[f.Market.ID][f.Interval]}, nil }
	return p
}

// market adds a market with a balance of its base.
func (s *transcript) market(t *testing.T, r *rand.Rand, p *Plan, base string) {
	asset, err := p.Catalog.AddAsset(base, 8)
	require.NoError(t, err)
	m := &market.Market{Name: base + "-EUR", PriceDigits: 2, VolumeDigits: 4, Rules: market.Rules{
		QuantityDecimals: uint8(4 + r.IntN(5)), NotionalDecimals: 2, TickSize: market.Price(1 + 4*r.IntN(2)),
		MinOrderInQuote: market.Money(r.IntN(2)) * 5_00, MaxOpenOrders: r.IntN(2) * 60}}
	require.NoError(t, p.Catalog.AddMarket(m))
	p.Deposits = append(p.Deposits, Deposit{Asset: asset.ID, Money: 20_000_000_000})
}

// strategies adds gamblers, and shipped strategies beside them.
func (s *transcript) strategies(r *rand.Rand, p *Plan, seed uint64) {
	count := func(format string, args ...any) {
		if strings.HasPrefix(format, "refused") {
			s.refused++
		}
		s.note(format, args...)
	}
	for i := range 1 + r.IntN(3) {
		needs := strategy.Needs{Ticker: r.IntN(3) == 0, Book: r.IntN(3) == 0}
		s.strategy(r, p, gamblers(seed*10+uint64(i), needs, r.IntN(3) == 0, count), nil)
	}
	kinds := shipped.Definitions()[:6] // with more, each seed would draw another run
	for range r.IntN(4) {
		i := r.IntN(len(kinds))
		s.strategy(r, p, kinds[i], [...]map[string]any{
			{"fast": int64(3 + r.IntN(9)), "slow": int64(14 + r.IntN(30)), "share": "0.1"},
			{"channel": int64(5 + r.IntN(20)), "atr": int64(5), "share": "0.1", "stop_atr": 1.5, "target_atr": 2.5},
			{"period": int64(5 + r.IntN(9)), "low": 40.0, "high": 60.0, "expire": int64(3), "share": "0.1"},
			{"levels": int64(1 + r.IntN(50)), "spacing_bps": "8", "recentre_bps": "20", "money": "20"},
			{"money": "7", "every_candles": int64(5 + r.IntN(50))},
			{"half_spread_bps": "5", "money": "40", "max_money": "200", "book": r.IntN(2) == 0},
		}[i])
	}
}

// strategy adds a strategy in some of the markets, sometimes with limits and money of its own.
func (s *transcript) strategy(r *rand.Rand, p *Plan, kind strategy.Definition, values map[string]any) {
	all := p.Catalog.Markets()
	first := r.IntN(len(all))
	plan := StrategyPlan{Name: fmt.Sprintf("s%d", len(p.Strategies)), Kind: kind, Values: values,
		Markets: all[first : first+1+r.IntN(len(all)-first)], Interval: market.Interval1m}
	if r.IntN(3) == 0 {
		plan.Limits = risk.Limits{MaxOpenOrders: 25, PriceCollar: 4_000_000, OrdersPerMinute: 40,
			MaxPosition: 30_000_00, CoolDownLosses: 3, CoolDown: 600e9}
	}
	p.Strategies = append(p.Strategies, plan)
	if r.IntN(3) == 0 {
		p.Strategies[len(p.Strategies)-1].Own = true
		p.Deposits = append(p.Deposits, Deposit{Asset: p.Currency.ID, Money: 20_000_00,
			Owner: market.StrategyID(len(p.Strategies))})
	}
}

// seriesOf makes the candles of each market, and sometimes those of five minutes too, by market and
// interval.
func seriesOf(t *testing.T, r *rand.Rand, p *Plan, n int) map[market.ID]map[market.Interval][]market.Candle {
	all := map[market.ID]map[market.Interval][]market.Candle{}
	for _, m := range p.Catalog.Markets() {
		g, err := synthetic.New(synthetic.Config{Seed: r.Uint64(), Market: m, Interval: market.Interval1m,
			Start: 1640995200_000_000_000, First: market.Price(10_00 + r.Int64N(2000_00)), Volume: 5_0000,
			DailyVolatility: 0.08, GapChance: 0.002})
		require.NoError(t, err)
		one := make([]market.Candle, n)
		for i := range one {
			g.Next(&one[i])
		}
		one[0].Start = 1640995200_000_000_000 // a run begins where each of its assets has a price
		all[m.ID] = map[market.Interval][]market.Candle{market.Interval1m: one}
		p.Feeds = append(p.Feeds, Feed{Market: m, Interval: market.Interval1m, Drive: true, Deliver: true})
		if r.IntN(3) == 0 {
			all[m.ID][market.Interval5m] = coarser(one)
			p.Feeds = append(p.Feeds, Feed{Market: m, Interval: market.Interval5m})
		}
	}
	return all
}

// coarser sums candles of one minute up to candles of five.
func coarser(one []market.Candle) (five []market.Candle) {
	for _, c := range one {
		start := market.Interval5m.StartOf(market.Interval5m.Index(c.Start))
		if len(five) == 0 || five[len(five)-1].Start != start {
			c.Start, c.Interval = start, market.Interval5m
			five = append(five, c)
			continue
		}
		sum := &five[len(five)-1]
		sum.High, sum.Low, sum.Close = max(sum.High, c.High), min(sum.Low, c.Low), c.Close
		sum.Volume += c.Volume
	}
	return five
}

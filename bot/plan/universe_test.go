package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy"
)

// firstDay is the day of the first candle: 2024-01-01.
const firstDay = int64(19723)

// life is the candles of a market: its days, and the volume of each in units of quote.
type life struct {
	name     string
	from, to int64 // days after firstDay; to is not in it
	volume   func(day int64) int64
}

func always(volume int64) func(int64) int64 { return func(int64) int64 { return volume } }

// lives are an old market, a delisted market, a young market, and a small market that grows.
func lives() []life {
	return []life{{"OLD-EUR", 0, 120, always(1000)}, {"DEAD-EUR", 0, 80, always(900)},
		{"NEW-EUR", 50, 120, always(2000)}, {"SMALL-EUR", 0, 120,
			func(day int64) int64 { return 1 + max(0, day-60)*50 }},
		{"USD-USDC", 0, 120, always(5000)}}
}

// market24 writes candles of 1d at a price of 10 into a store.
func market24(t *testing.T, all []life) (path string) {
	path = filepath.Join(t.TempDir(), "candles.db")
	store, err := candles.Open(path)
	require.NoError(t, err)
	for _, l := range all {
		var list []market.Candle
		for day := l.from; day < l.to; day++ {
			list = append(list, market.Candle{Open: 10_00, High: 11_00, Low: 9_00, Close: 10_00,
				Volume: market.Volume(l.volume(day) * 1_0000 / 10), Start: candles.DayStart(firstDay + day),
				Interval: market.Interval1d})
		}
		_, err := store.Put(candles.WriteOptions{Market: l.name, Interval: market.Interval1d}, list, 2, 4, nil)
		require.NoError(t, err)
	}
	require.NoError(t, store.Close())
	return path
}

// addRecord stores a record of the markets of the names, at noon of a day.
func addRecord(t *testing.T, path string, day int64, minimum string, names ...string) {
	addFees(t, path, day, minimum, "", "", names...)
}

// addFees is addRecord with the fees of an account.
func addFees(t *testing.T, path string, day int64, minimum, maker, taker string, names ...string) {
	store, err := candles.Open(path)
	require.NoError(t, err)
	l := &candles.Listing{At: candles.DayStart(firstDay+day) + 12*3600*1e9, Exchange: "https://x.example"}
	for _, name := range names {
		l.Markets = append(l.Markets, candles.Listed{Market: name, Status: "trading", TickSize: "0.001",
			MinOrderInQuote: minimum, QuantityDecimals: 4, NotionalDecimals: 2, VolumeQuote24h: "3",
			MakerFee: maker, TakerFee: taker})
	}
	_, _, err = store.AddListing(l)
	require.NoError(t, err)
	require.NoError(t, store.Close())
}

// probe notes the members at each instant, buys all of them once, and tries to buy the others.
type probe struct {
	strategy.Base
	seen  *[]string
	names map[market.ID]string
	buys  bool // what it does not hold
	sells bool // what it holds
	with  []strategy.Option
}

func (p *probe) OnCandle(*strategy.Desk, market.Candle) {}

func (p *probe) OnCandles(d *strategy.Desk, g strategy.Group) {
	members := d.Universe()
	var names []string
	for _, id := range members {
		names = append(names, strings.TrimSuffix(p.names[id], "-EUR"))
		if p.buys && d.In(id).Flat() {
			d.In(id).Buy(strategy.Money(100_00), p.with...)
		} else if p.sells {
			d.In(id).Sell(strategy.PositionShare(market.Whole))
		}
	}
	day := candles.DayOf(g.End) - firstDay
	*p.seen = append(*p.seen, fmt.Sprintf("%d %s", day, strings.Join(names, " ")))
	for id, name := range p.names {
		if d.In(id).Member() == slices.Contains(members, id) {
			continue
		}
		panic(name)
	}
	for _, c := range g.Candles {
		if !d.In(c.Market).Member() {
			if _, err := d.In(c.Market).Buy(strategy.Money(10_00)); err == nil ||
				!strings.Contains(err.Error(), "universe") && !strings.Contains(err.Error(), "warm_up") {
				panic(fmt.Sprint(p.names[c.Market], err))
			}
		}
	}
}

const universeConfig = `
[backtest]
from = 2024-02-10
[data]
candles = %q
[strategies.every]
kind = "probe"
universe = {rank = "volume30d", top = 2, min_days = 10}
interval = "1d"
`

// runProbe runs a backtest over a store and returns the members at each close.
func runProbe(t *testing.T, path string, buys bool, sets ...string) (*backtest.Result, []string) {
	seen := &[]string{}
	p := planProbe(t, path, seen, buys, false, sets...)
	var halted []string
	p.Options.Keep = true
	p.Options.Halted = func(h backtest.Halted) { halted = append(halted, h.Reason) }
	result, err := backtest.Run(context.Background(), p.Run, p.Options)
	require.NoError(t, err)
	require.Empty(t, halted)
	return result, *seen
}

// planProbe plans a backtest over a store.
func planProbe(t *testing.T, path string, seen *[]string, buys, sells bool, sets ...string) *Backtest {
	return planWith(t, path, &probe{seen: seen, buys: buys, sells: sells}, sets...)
}

// planWith is planProbe with copies of a probe.
func planWith(t *testing.T, path string, like *probe, sets ...string) *Backtest {
	definition := strategy.Define("probe", "notes members", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
			copied := *like
			p := &copied
			p.names = map[market.ID]string{}
			for _, m := range s.Markets {
				p.names[m.ID] = m.Name
			}
			return p, nil
		})
	source := &config.Source{Text: fmt.Sprintf(universeConfig, path)}
	var err error
	source.Overrides, err = config.ParseSets(sets)
	require.NoError(t, err)
	c, err := config.LoadBacktest(source)
	require.NoError(t, err)
	p, err := NewBacktest(c, []strategy.Definition{definition})
	require.NoError(t, err)
	lib, err := OpenLibrary(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lib.Close()) })
	require.NoError(t, p.Finish(lib))
	return p
}

// Forks and runs from the start decide the same, though they share the markets whose rules change.
func TestTheLookaheadCheckOfAUniverseFindsNothing(t *testing.T) {
	path := market24(t, lives())
	addFees(t, path, 60, "5", "0.001", "0.002", "OLD-EUR", "DEAD-EUR", "NEW-EUR", "SMALL-EUR")
	addFees(t, path, 90, "200", "0.002", "0.004", "OLD-EUR", "NEW-EUR", "SMALL-EUR")
	p := planProbe(t, path, &[]string{}, true, true)
	report, err := backtest.CheckLookahead(context.Background(), p.Run,
		backtest.LookaheadOptions{Seed: 3, Places: 20, Decisions: 30})
	require.NoError(t, err)
	require.Empty(t, report.Changed)
	require.Greater(t, report.Forks, 20)
	require.Empty(t, report.FromStart)
	text := func() string {
		result, err := backtest.Run(context.Background(), p.Run, p.Options)
		require.NoError(t, err)
		out, err := json.Marshal(result)
		require.NoError(t, err)
		return string(out)
	}
	require.Equal(t, text(), text(), "a pass begins with the rules of the beginning")
}

// changes are the lines whose members differ from those before.
func changes(seen []string) (list []string) {
	last := "none"
	for _, line := range seen {
		_, members, _ := strings.Cut(line, " ")
		if members != last {
			list, last = append(list, line), members
		}
	}
	return list
}

func TestMembersChangeByWhatWasKnownEachDay(t *testing.T) {
	_, seen := runProbe(t, market24(t, lives()), false)
	require.Equal(t, []string{
		"41 OLD DEAD",
		"60 NEW OLD",    // ten days are known
		"96 NEW SMALL",  // the mean of days 66 to 95 is 1026
		"116 SMALL NEW", // that of days 86 to 115 is 2026
	}, changes(seen))
}

// A market's later days never change the members of a day before, whatever happens in them.
func TestTheFutureChangesNoMember(t *testing.T) {
	_, whole := runProbe(t, market24(t, lives()), false)
	for _, cut := range []int64{45, 59, 61, 79, 81, 82, 95, 96, 97, 115} {
		other := lives()
		for i := range other {
			l, volume := &other[i], other[i].volume
			l.volume = func(day int64) int64 {
				if day < cut {
					return volume(day)
				}
				return (day*7919 + int64(i)*104729) % 9000
			}
			if l.name == "DEAD-EUR" && cut < 80 {
				l.to = 119 // it lives on
			}
			if l.name == "OLD-EUR" {
				l.to = max(cut, 100) // it ends
			}
		}
		_, seen := runProbe(t, market24(t, other), false)
		known := slices.IndexFunc(whole,
			func(line string) bool { return strings.HasPrefix(line, fmt.Sprint(cut, " ")) })
		require.Equal(t, whole[:known+1], seen[:known+1], "cut at day %d", cut)
	}
}

func TestADelistedMarketStaysAtItsLastPriceLessTheHaircut(t *testing.T) {
	path := market24(t, lives())
	r, _ := runProbe(t, path, true)
	require.Len(t, r.Delisted, 1)
	d := r.Delisted[0]
	require.Equal(t, "DEAD-EUR 2024-03-21 10 5", fmt.Sprint(d.Market, " ", d.At.Date(), " ", d.Last, " ", d.Worth))
	exit := slices.IndexFunc(r.Trades, func(t backtest.RoundTrip) bool { return t.Reason == "delisted" })
	require.GreaterOrEqual(t, exit, 0)
	require.Equal(t, "DEAD-EUR", r.Trades[exit].Market)
	u := r.Universes[0]
	require.Equal(t, []int{4, 3}, []int{u.Members, u.Survivors})
	require.Zero(t, u.ByRecords)
	text := strings.Join(r.UniverseLines(), "\n")
	require.Contains(t, text, "3 of 4 markets that were members still trade: their candles reach the end of the data.")
	require.Contains(t, text, "the result has survivor bias")
	require.Contains(t, strings.Join(r.Warnings, "\n"),
		"DEAD-EUR was delisted at 2024-03-21T00:00:00Z: 9.97506234 held at 10 are worth 5 each from then on (haircut "+
			"50 %)")

	all, _ := runProbe(t, path, true, "backtest.delisting_haircut=1")
	require.Equal(t, "0", all.Delisted[0].Worth.String())
	half, whole := r.Performance.Final.Units, all.Performance.Final.Units
	require.Equal(t, d.Lost.Units, half-whole)
}

func TestRecordsSayWhoSurvivesAndWhichRulesHeld(t *testing.T) {
	path := market24(t, lives())
	addRecord(t, path, 60, "5", "OLD-EUR", "DEAD-EUR", "NEW-EUR", "SMALL-EUR", "USD-USDC")
	addRecord(t, path, 90, "200", "OLD-EUR", "NEW-EUR", "SMALL-EUR")
	addRecord(t, path, 130, "5", "NEW-EUR", "OLD-EUR")
	r, seen := runProbe(t, path, true)
	require.Equal(t, []string{"41 OLD DEAD", "60 NEW OLD", "96 NEW SMALL", "116 SMALL NEW"}, changes(seen))
	require.Equal(t, []int{4, 2}, []int{r.Universes[0].Members, r.Universes[0].Survivors})
	text := strings.Join(r.UniverseLines(), "\n")
	require.Contains(t, text, "2 of 4 markets that were members still trade, by the record of 2024-05-10.")
	require.Contains(t, text, "Markets are recorded from 2024-03-01 on.")
	require.Contains(t, strings.Join(r.Assumptions, "\n"), "Market rules (tick size, minimums, decimals) are those "+
		"recorded at the time. Before the first record, of 2024-03-01, they are that record's. Fees are today's")
	require.Len(t, r.Delisted, 1)
	// on day 96 SMALL comes in, and 100 EUR are below the minimum of day 90
	bought := map[string]bool{}
	for _, f := range r.Fills {
		bought[f.Market] = true
	}
	require.Equal(t, map[string]bool{"OLD-EUR": true, "DEAD-EUR": true, "NEW-EUR": true}, bought)
}

// A record from after the end of the range is not known in it: it delists no market, has no rules
// and counts no survivors.
func TestARecordAfterTheEndOfTheRangeChangesNothing(t *testing.T) {
	all := lives()
	all[0].to = 97 // OLD-EUR ends three days before the range
	path := market24(t, all)
	var results [2]string
	for i := range results {
		t.Run(fmt.Sprint(i), func(t *testing.T) { // which closes the store
			r, seen := runProbe(t, path, true, "backtest.to=2024-04-10")
			require.Len(t, r.Delisted, 1, "DEAD-EUR")
			text, err := json.Marshal(r)
			require.NoError(t, err)
			results[i] = fmt.Sprint(string(text), seen)
		})
		addRecord(t, path, 130, "200", "NEW-EUR", "SMALL-EUR")
	}
	require.Equal(t, results[0], results[1])
}

// feesPaid are the rates of the fills, by market.
func feesPaid(t *testing.T, r *backtest.Result) map[string]float64 {
	rates := map[string]float64{}
	for _, f := range r.Fills {
		require.True(t, f.Taker)
		rates[f.Market] = f.Fee.Float() / (f.Price.Float() * f.Amount.Float())
	}
	return rates
}

func TestFeesAreThoseRecordedAtTheTime(t *testing.T) {
	path := market24(t, lives())
	addFees(t, path, 58, "5", "0.001", "0.002", "OLD-EUR", "DEAD-EUR", "NEW-EUR")
	addRecord(t, path, 59, "5", "OLD-EUR", "DEAD-EUR", "NEW-EUR", "SMALL-EUR") // the key was missing
	addFees(t, path, 61, "5", "-0.0001", "0.004", "OLD-EUR", "DEAD-EUR", "NEW-EUR")
	addFees(t, path, 62, "5", "-0.02", "0.01", "OLD-EUR") // no fees
	r, _ := runProbe(t, path, true)
	said := strings.Join(r.Assumptions, "\n")
	require.Contains(t, said, "Fees: maker -0.01 % to 0.15 %, taker 0.2 % to 0.4 % of the value of each fill")
	require.Contains(t, said, "Fees are those recorded at the time, of the account that recorded them. Before the "+
		"first record with fees, of 2024-02-28, they are that record's. Today's, the config's rates, are charged in "+
		"SMALL-EUR.")
	require.Contains(t, strings.Join(r.Warnings, "\n"),
		"The fees recorded at 2024-03-03T12:00:00Z for OLD-EUR are not "+
			"used: maker -0.02 and taker 0.01 are no fees.")
	paid := feesPaid(t, r)
	require.Len(t, paid, 4)
	for name, rate := range map[string]float64{"OLD-EUR": 0.002, "DEAD-EUR": 0.002, "NEW-EUR": 0.002,
		"SMALL-EUR": 0.0025} { // NEW comes on day 60
		require.InDelta(t, rate, paid[name], 2e-4, name)
	}
	later, _ := runProbe(t, path, true, "backtest.from=2024-03-10") // all are bought after day 61
	require.InDelta(t, 0.004, feesPaid(t, later)["OLD-EUR"], 2e-4)
	require.NotContains(t, strings.Join(later.Assumptions, "\n"), "Before the first record with fees")

	fixed, _ := runProbe(t, path, true, "account.taker_fee=0.003")
	said = strings.Join(fixed.Assumptions, "\n")
	require.Contains(t, said, "Fees: maker 0.15 %, taker 0.3 % of")
	require.Contains(t, said, "Fees are the config's (account.maker_fee, account.taker_fee) for all of the past; the "+
		"recorded ones are not used.")
	require.InDelta(t, 0.003, feesPaid(t, fixed)["OLD-EUR"], 2e-4)

	sections := []string{}
	for _, name := range []string{"OLD-EUR", "DEAD-EUR", "NEW-EUR", "SMALL-EUR"} {
		sections = append(sections, "markets."+name+".tick_size=0.01")
	}
	own, _ := runProbe(t, path, true, sections...)
	require.Contains(t, strings.Join(own.Assumptions, "\n"),
		"Today's market rules (tick size, minimums, decimals) are "+
			"applied to the past. Fees are those recorded at the time")
}

func TestMistakesInAUniverseAreNamedWithTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		`universe = {rank = "volume30", top = 2}`: `x.toml:4: strategies.a.universe.rank: "volume30" is not one of ` +
			`volume30d, volume7d, volume1d; the nearest is "volume30d"`,
		`universe = {top = 2}`:                                    `x.toml:4: strategies.a.universe.rank: is missing`,
		`universe = {rank = "volume7d"}`:                          `x.toml:4: strategies.a.universe.top: 0 is not in 1 to 1000`,
		`universe = {rank = "volume7d", topp = 3}`:                `unknown key; the nearest is "top"`,
		`universe = {rank = "volume1d", top = 2, min_days = 9}`:   `9 is more than the 1 days of volume1d`,
		`universe = {rank = "volume1d", top = 2, quote = "USDC"}`: `USDC is not EUR, the account's currency`,
		"markets = [\"A-EUR\"]\nuniverse = {rank = \"volume1d\", top = 2}": "x.toml:4: strategies.a.markets: markets " +
			"and " +
			"universe: a strategy has one of them",
	} {
		c, err := config.LoadBacktest(&config.Source{File: "x.toml", Text: "[strategies.a]\nkind = \"smacross\"\n" +
			"interval = \"1h\"\n" + text})
		if err == nil {
			_, err = NewBacktest(c, smaCross())
		}
		require.ErrorContains(t, err, want, text)
	}
}

// The exits of a position in a delisted market are cancelled; nothing rests there for ever.
func TestOrdersInADelistedMarketEnd(t *testing.T) {
	p := planWith(t, market24(t, lives()), &probe{seen: &[]string{}, buys: true,
		with: []strategy.Option{strategy.StopAt(5), strategy.TargetAt(50)}})
	p.Options.Keep = true
	r, err := backtest.Run(context.Background(), p.Run, p.Options)
	require.NoError(t, err)
	require.Len(t, r.Delisted, 1)
	require.Equal(t, "9.97506234", r.Delisted[0].Held.String())
	require.Zero(t, r.Unprotected)
	require.Equal(t, []backtest.Count{{Reason: "every: universe", Count: 110}}, r.Refusals)
	require.EqualValues(t, 3, r.Orders.Open, "the stops of the other three")
	require.Len(t, r.Warnings, 1)
}

// The universe stands on the terminal and in report.html, and comes back from result.json.
func TestTheReportShowsTheUniverse(t *testing.T) {
	p := planProbe(t, market24(t, lives()), &[]string{}, true, false)
	p.Options.Out = t.TempDir()
	r, err := backtest.Run(context.Background(), p.Run, p.Options)
	require.NoError(t, err)
	var terminal bytes.Buffer
	require.NoError(t, backtest.WriteSummary(&terminal, r, backtest.SummaryOptions{}))
	page, err := os.ReadFile(filepath.Join(p.Options.Out, "report.html"))
	require.NoError(t, err)
	for _, text := range []string{terminal.String(), string(page)} {
		require.Contains(t, text, "3 of 4 markets that were members still trade")
	}
	require.Regexp(t, `<td[^>]*>DEAD-EUR</td><td[^>]*>2024-03-21</td><td[^>]*>10</td><td[^>]*>5</td>`, string(page))
	stored, err := os.ReadFile(filepath.Join(p.Options.Out, "result.json"))
	require.NoError(t, err)
	var back backtest.Result
	require.NoError(t, json.Unmarshal(stored, &back))
	require.Equal(t, r.Universes, back.Universes)
	require.Equal(t, r.Delisted, back.Delisted)
	if testing.Verbose() {
		t.Log(terminal.String())
	}
}

package bridge_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/bot/rerun/gap/bridge"
	"github.com/tidemark-trading/tidemark/market"
)

// sample is a gap of −7.00 EUR: a refused order, and a fee.
func sample() *gap.Comparison {
	eur := func(units market.Money) gap.Amount { return gap.Amount{Units: units, Digits: 2} }
	one := func(name string) gap.Bridge {
		b := gap.Bridge{Name: name, Live: eur(4300), Gap: eur(-700), Turnover: eur(1_000_000), Outside: eur(0),
			Unexplained: eur(0),
			Profits:     []gap.Amount{eur(5000), eur(5000), eur(5000), eur(4500), eur(4500), eur(4500), eur(4300)}}
		for i, fact := range []string{"data", "people", "orders", "fills", "prices", "fees"} {
			step := eur(b.Profits[i+1].Units - b.Profits[i].Units)
			b.Terms = append(b.Terms, gap.Term{Fact: fact, About: "about " + fact, Step: step, Mean: step, Least: step,
				Most: step})
		}
		b.Terms[2].Least, b.Terms[2].Most = eur(-600), eur(-400)
		return b
	}
	const minute = market.Time(60e9)
	return &gap.Comparison{From: 0, To: 60 * minute, Currency: "EUR", Starts: 2, Account: one(""),
		Strategies: []gap.Bridge{one("trend"), one("other")}, Matched: gap.Match{Matched: 9, Orders: 10},
		Notes: []string{"events 3 to 4 are lost"}, Assumptions: []string{"no spread"},
		Episodes: []gap.Episode{
			{Number: 1, Strategy: "trend", From: minute, To: 3 * minute, Gap: eur(-500), Orders: 2,
				Root: gap.Divergence{Fact: "orders", Market: "BTC-EUR", Order: 7,
					Text: "sell market: refused live, filled 0.1 in the backtest"},
				Contributing: []gap.Divergence{{Fact: "people", Order: 8}, {Fact: "data"}}},
			{Number: 2, Strategy: "trend", From: 5 * minute, To: 60 * minute, Gap: eur(-200), Orders: 1, Open: true,
				Root: gap.Divergence{Fact: "people", Market: "BTC-EUR", Text: "buy <limit>: no order live"}},
		}}
}

func TestThePageShowsTheWayAndLeadsFromEachEpisodeToExplain(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, bridge.Page(sample(), "bots/live").Write(&out))
	for _, words := range []string{"the backtest 50.00: the difference is -7.00, -7.00 bps of a turnover of",
		"The largest step on the way is -5.00, orders: about orders.", "2 starts",
		"-7.00 bps of a turnover of 10000.00",
		`aria-label="from the backtest to live, step by step"`, `data-name="trend"`, "<td data-l=\"least\">-6.00</td>",
		"1970-01-01 00:01:00 to 00:03:00", "people (order 8), data", "bot explain 7 --state bots/live",
		"bot explain --refused trend --state bots/live", "1970-01-01 00:05:00 to the end, still open",
		"buy &lt;limit&gt;", "events 3 to 4 are lost", "no spread"} {
		require.True(t, strings.Contains(out.String(), words), words)
	}
	require.NotContains(t, out.String(), "unexplained: ")
	require.Less(t, strings.Index(out.String(), "bot explain 7 "), strings.Index(out.String(), "--refused trend"),
		"the largest gap first")
	var again bytes.Buffer
	require.NoError(t, bridge.Page(sample(), "bots/live").Write(&again))
	require.Equal(t, out.String(), again.String())
}

// A terminal has the table of each part, and no picture; the tracking error needs money.
func TestATerminalShowsTheStepsOfEachStrategy(t *testing.T) {
	r := sample()
	text := bridge.Page(r, "bots/live").Text(100)
	require.Equal(t, 3, strings.Count(text,
		"\norders             45.00  -5.00            -5.00  -5.00  -6.00  -4.00\n"),
		text)
	require.Contains(t, text, "\nother\nfact ")
	require.Contains(t, text, "\n\n  bot explain 7 --state bots/live\n", "a command stands on a line of its own")
	require.NotContains(t, text, "tracking error")
	r.Account.Equity = gap.Amount{Units: 70_000_00, Digits: 2}
	require.Contains(t, bridge.Page(r, "bots/live").Text(100),
		"\nThe tracking error is -1.00 bps of the 70000.00 EUR at the beginning.\n")
}

func TestThePageWarnsWhereTheTermsAreWorthLittle(t *testing.T) {
	r := sample()
	r.Matched = gap.Match{Matched: 8, Orders: 10, Run: "orders"}
	r.Account.Unexplained.Units = 101 // of 10 000.00, so 1.01 bps
	r.Account.Terms[2].RangeOnly = true
	var out bytes.Buffer
	require.NoError(t, bridge.Page(r, "bots/live").Write(&out))
	for _, words := range []string{"8 of 10 orders of the run with orders have a live order",
		"1.01 EUR are unexplained: 1.01 bps of the turnover, more than 1.", "<td data-l=\"mean\">–</td>"} {
		require.True(t, strings.Contains(out.String(), words), words)
	}
}

func TestAGapOfNothingIsSaid(t *testing.T) {
	r := sample()
	r.Account.Gap.Units, r.Episodes, r.Account.Live.Units = 0, nil, 5000
	var out bytes.Buffer
	require.NoError(t, bridge.Page(r, "bots/live").Write(&out))
	require.Contains(t, out.String(), "Live has earned what the backtest earns: 50.00 EUR.")
	require.Contains(t, out.String(), "Every order came to the same live and in the backtest.")
}

func TestTheCSVHasEveryStepAndEveryEpisode(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, bridge.WriteSteps(&out, sample()))
	lines := strings.Split(out.String(), "\n")
	require.Equal(t, []string{"strategy,fact,profit,step,mean,least,most,range_only", ",backtest,50.00,,,,,",
		",data,50.00,0.00,0.00,0.00,0.00,false", ",people,50.00,0.00,0.00,0.00,0.00,false",
		",orders,45.00,-5.00,-5.00,-6.00,-4.00,false"}, lines[:5])
	require.Equal(t, []string{"other,unexplained,43.00,0.00,,,,", "other,live,43.00,-7.00,,,,", ""},
		lines[len(lines)-3:])
	out.Reset()
	require.NoError(t, bridge.WriteEpisodes(&out, sample()))
	require.Equal(t, `episode,strategy,from_ms,to_ms,open,gap,orders,cause,market,order,text,contributing
1,trend,60000,180000,false,-5.00,2,orders,BTC-EUR,7,"sell market: refused live, filled 0.1 in the `+`backtest",`+
		`"people (order 8), data"
2,trend,300000,3600000,true,-2.00,1,people,BTC-EUR,,buy <limit>: no order live,
`, out.String())
}

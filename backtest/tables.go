package backtest

import (
	"fmt"
	"math"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
)

// tables writes the tables of the report as text.
func (res *Result) tables(run *report.Run) {
	for _, s := range res.Strategies {
		one := report.Strategy{Name: s.Name, Kind: s.Kind}
		for _, p := range s.Params {
			one.Params += p.Name + " " + p.Value + " "
		}
		one.Began = s.BeganText()
		one.Params = strings.TrimSpace(one.Params)
		run.Strategies = append(run.Strategies, one)
	}
	for _, row := range res.Rows() {
		name, below := strings.CutPrefix(row.Name, "  ")
		one := report.Figure{Name: name, Value: row.Strategy, Hold: row.Hold, Below: below}
		run.Figures = append(run.Figures, one)
	}
	run.Envelope.Head = []string{"path", "final equity", "return"}
	for _, o := range res.Envelope {
		name := o.Path
		if o.Chosen {
			name += " (this run)"
		}
		run.Envelope.Rows = append(run.Envelope.Rows, []string{name, o.Final.Short(), o.Return.Percent(2)})
	}
	run.EnvelopeNote = fmt.Sprintf(
		"The same run when prices within a candle move otherwise. %s candles (%s) could have "+
			"filled own orders in either order.", numbered(res.Candles.Ambiguous),
		res.Candles.AmbiguousShare.Percent(3))
	run.Late.Head, run.Late.Rows = []string{"delay", "final equity", "return"}, res.lateRows()
	run.Falls.Head = []string{"depth", "peak", "bottom", "recovered", "length"}
	for i := range res.Drawdowns {
		d := &res.Drawdowns[i]
		run.Deep = append(run.Deep, report.Fall{From: market.Time(d.Start), Bottom: market.Time(d.Bottom),
			To: market.Time(d.Recovered), Depth: -math.Abs(float64(d.Depth))})
		recovered := "not yet"
		if d.Recovered != 0 {
			recovered = d.Recovered.Date()
		}
		run.Falls.Rows = append(run.Falls.Rows, []string{d.Depth.Percent(2), d.Start.Date(), d.Bottom.Date(), recovered,
			d.Length.String()})
	}
	res.facts(run)
}

// facts writes the tables of what the run was given.
func (res *Result) facts(run *report.Run) {
	run.Refusals.Rows = res.RefusalRows()
	run.Queue.Rows = queueRows(res.Queue)
	run.Data.Head = []string{"market", "interval", "candles", "no trade", "missing"}
	for _, d := range res.Data {
		run.Data.Rows = append(run.Data.Rows,
			[]string{d.Market, d.Interval, numbered(d.Candles), numbered(d.NoTrade), numbered(d.Missing)})
	}
	run.Rules.Head = []string{"market", "tick", "amount decimals", "minimum", "maximum", "open orders", "fee category"}
	for i := range res.Rules {
		r := &res.Rules[i]
		run.Rules.Rows = append(run.Rules.Rows, []string{r.Market, r.TickSize, fmt.Sprint(r.QuantityDecimals),
			r.MinOrderInBase + " / " + r.MinOrderInQuote, r.MaxOrderInBase + " / " + r.MaxOrderInQuote,
			fmt.Sprint(r.MaxOpenOrders), r.FeeCategory})
	}
	run.Universe = res.UniverseLines()
	run.Delisted.Head = []string{"market", "last candle", "last price", "valued at", "held", "lost, " + res.Currency}
	for i := range res.Delisted {
		d := &res.Delisted[i]
		run.Delisted.Rows = append(run.Delisted.Rows, []string{d.Market, d.At.Date(), d.Last.String(), d.Worth.String(),
			d.Held.String(), d.Lost.String()})
	}
	for _, d := range res.Definitions {
		run.Definitions = append(run.Definitions, report.Pair{Name: d.Name, Text: d.Formula})
	}
	id := &res.Run
	run.Identity = []report.Pair{{Name: "run", Text: id.ID}, {Name: "code", Text: id.CodeVersion},
		{Name: "config", Text: id.ConfigHash}, {Name: "data", Text: id.DataHash}, {Name: "seed",
			Text: fmt.Sprint(id.Seed)}}
}

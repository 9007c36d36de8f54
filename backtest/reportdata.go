package backtest

import (
	"math"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
)

// reportData collects what only report.html shows.
type reportData struct {
	trips *report.Trips
	days  []report.Day
	stops stops
}

func newSheet(cfg *recorderConfig) *reportData {
	n := report.Names{Strategies: cfg.Strategies, MoneyDigits: cfg.Currency.Digits}
	if len(n.Strategies) == 0 {
		n.Strategies = []string{""} // nothing but the recorder runs
	}
	for _, m := range cfg.Catalog.Markets() {
		n.Markets = append(n.Markets, m.Name)
		n.PriceDigits, n.AmountDigits = append(n.PriceDigits, m.PriceDigits), append(n.AmountDigits, m.AmountDigits)
	}
	return &reportData{trips: report.NewTrips(n)}
}

// place is the place of a market in report.Names.
func place(id market.ID) int { return int(id) - 1 }

// trip adds a round trip.
func (s *reportData) trip(m *market.Market, t *trip, pnl market.Value) {
	one := report.Trip{Market: place(m.ID), Strategy: max(int(t.strategy)-1, 0), Reason: t.tag(), Entered: t.entered,
		Exited: t.exited, Amount: float64(t.amount) / float64(market.Pow10(m.AmountDigits)),
		Fees: t.fees.Float(m.ValueDigits), Profit: pnl.Float(m.ValueDigits), Part: t.part}
	one.Entry, one.Exit = t.prices(m)
	one.Return = one.Profit / t.cost.Float(m.ValueDigits)
	one.Worst, one.Best = t.excursions(m)
	s.trips.Add(one)
}

// maxStops is the largest number of stretches of stops in the page: the latest.
const maxStops = 10_000

// stops are the prices at which positions were to be sold, as long as each stood.
type stops struct {
	open  []openStop
	ended []report.Stop
}

type openStop struct {
	order market.OrderID
	report.Stop
}

// command follows the stops that sell: placed, moved, cancelled.
func (s *stops) command(c *market.Command, catalog *market.Catalog) {
	o := &c.Order
	switch {
	case c.Kind == market.CommandPlace && o.Side == market.Sell && o.Type.HasTrigger() && o.Type.IsStop():
		s.begin(catalog.Market(o.Market), o.ID, c.At, o.TriggerAmount)
	case c.Kind == market.CommandUpdate && c.Changed.Has(market.ChangeTriggerAmount):
		if s.end(o.ID, c.At) {
			s.begin(catalog.Market(o.Market), o.ID, c.At, o.TriggerAmount)
		}
	}
}

func (s *stops) begin(m *market.Market, id market.OrderID, at market.Time, price market.Price) {
	s.open = append(s.open, openStop{id, report.Stop{Market: place(m.ID), From: at, Price: m.Float(price)}})
}

// end ends the stretch of an order, and reports whether it has one.
func (s *stops) end(id market.OrderID, at market.Time) bool {
	for i := range s.open {
		if s.open[i].order != id {
			continue
		}
		one := s.open[i].Stop
		one.To = max(at, one.From) // a change at the very end of the run is not carried out
		if len(s.ended) == 2*maxStops {
			s.ended = append(s.ended[:0], s.ended[maxStops:]...)
		}
		s.ended = append(s.ended, one)
		s.open[i] = s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		return true
	}
	return false
}

// all are the latest stretches; the call ends the open ones.
func (s *stops) all(at market.Time) []report.Stop {
	for len(s.open) > 0 {
		s.end(s.open[0].order, at)
	}
	return s.ended[max(len(s.ended)-maxStops, 0):]
}

// report is the content of report.html.
func (r *recorder) report(res *Result) *report.Run {
	p := &res.Performance
	run := &report.Run{
		Title: res.Title, Currency: res.Currency, From: market.Time(res.From), To: market.Time(res.To),
		Synthetic: res.Synthetic, Warnings: res.Warnings, Tries: res.Tries, Cards: res.cards(),
		Assumptions: res.Assumptions,
		Files:       res.Files,
		BuyAndHold:  report.BuyAndHold{HoldNote: res.holdText(), Hold: r.hold.samples},
		Curves: report.Curves{Trips: r.page.trips, Days: *r.equity.daily, Candles: r.cfg.Candles,
			Stops: r.page.stops.all(market.Time(res.To))},
	}
	run.Equity = append(run.Equity, report.Sample{At: market.Time(res.From), Equity: p.Start.Float(),
		Cash: p.Start.Float()})
	for _, s := range res.curve {
		run.Equity = append(run.Equity, report.Sample{At: s.at, Equity: r.amount(s.equity).Float(),
			Cash: r.amount(s.cash).Float()})
	}
	if r.hold.seen && !r.hold.several() {
		m := r.cfg.Markets[0]
		run.HoldMarket, run.HoldFrom = place(m.ID), r.hold.from
		run.HoldScale = p.Start.Float() / (m.Float(r.hold.open) * (1 + rate(r.hold.fee)))
	}
	for i := range run.Candles {
		c := &run.Candles[i]
		c.Count = int64((res.To - res.From) / Moment(c.Interval.End(0)))
		for _, d := range res.Data {
			if d.Market == r.page.trips.Markets[c.Market] && d.Interval == c.Interval.String() && d.Candles > 0 {
				c.Count = d.Candles
			}
		}
	}
	for _, m := range res.Months {
		run.Months = append(run.Months, report.Month{Year: m.Year, Month: m.Month, Return: float64(m.Return)})
	}
	res.tables(run)
	r.plots.fill(run)
	return run
}

// cards are the headline figures.
func (res *Result) cards() []report.Card {
	p, h := &res.Performance, &res.Hold
	class := ""
	switch {
	case p.Return < 0:
		class = "down"
	case p.Return > 0:
		class = "up"
	}
	return []report.Card{
		{Title: "Return", Value: p.Return.Percent(2), Note: "buy and hold " + h.Return.Percent(2), Class: class},
		{Title: "Final equity", Value: p.Final.Short(), Note: res.Currency + ", from " + p.Start.Short()},
		{Title: "Maximum drawdown", Value: p.Drawdown.Depth.Percent(2), Note: "buy and hold " +
			h.Drawdown.Depth.Percent(2)},
		{Title: "Sharpe", Value: p.Sharpe.Text(2), Note: "buy and hold " + h.Sharpe.Text(2)},
		{Title: "Positions", Value: Figure(res.Trips.Positions).Text(0), Note: res.Trips.PositionRate.Percent(1) +
			" won; " + counted(res.Trips.Count, "exit")},
		{Title: "Fees", Value: p.Fees.Short(), Note: res.Currency + "; turnover " + p.Turnover.Text(1) + "×"},
	}
}

// fill adds what strategies plotted. A value that belongs to a candle stands at its close.
func (p *plots) fill(run *report.Run) {
	for _, l := range p.lines {
		one := report.Line{Market: place(l.key.market), Pane: l.key.pane, Name: p.label(&l.key)}
		scale := p.scale(&l.key)
		for _, point := range l.points() {
			one.Points = append(one.Points, report.Value{At: point.at, Y: point.value / scale})
		}
		if len(one.Points) > 0 && !math.IsNaN(one.Points[0].Y) {
			run.Lines = append(run.Lines, one)
		}
	}
	for i := range p.marks {
		m := &p.marks[i]
		run.Marks = append(run.Marks, report.Mark{Market: place(m.market), At: m.at, Text: m.name,
			Price: p.catalog.Market(m.market).Float(m.price)})
	}
}

package strategy

import "github.com/tidemark-trading/tidemark/market"

// Plotted is a value of a line, or a mark, of one strategy in one market.
type Plotted struct {
	Market market.ID
	Name   string  // of the line; the text of a mark
	Pane   string  // of a line in a pane of its own; "": on the price
	Value  float64 // see MarketDesk.Plot; 0 of a mark
	Mark   bool
}

// Plotter gets what strategies plot.
type Plotter interface {
	// Plot gets a value or a mark of strategy s at the present event.
	Plot(s market.StrategyID, p Plotted)
}

// plotting is an Engine that shows what strategies plot. Plotter is nil where nothing is shown. It
// drops what comes from outside of the strategy's callbacks.
type plotting interface{ Plotter() Plotter }

// PlotOption says where a line is drawn.
type PlotOption struct{ pane string }

// Pane draws a line in a pane of that name below the price. Lines with the same pane share it.
func Pane(name string) PlotOption { return PlotOption{name} }

// Plot adds a value to the line of that name, at the present event. The line lies over the market's
// prices, so the value is in units of the market's prices: float64(c.Close), or what an indicator
// over prices gives. With Pane it has a pane of its own, and any unit. NaN and infinity break the
// line. Of several values at one instant the last counts. A name is a constant, not a text that
// changes.
//
// A backtest with files draws the lines in report.html and writes them to plots.csv, thinned as the
// equity curve is. A live bot keeps the latest values of each line for its dashboard, and writes
// them to the debug log; everywhere else they are lines of the debug log alone. A plot never
// changes what a strategy may do, and never halts it: outside of its callbacks it is dropped.
func (m MarketDesk) Plot(name string, value float64, with ...PlotOption) {
	if !m.desk.muted { // all of Plot where nothing is shown; it is inlined
		m.plotLine(name, value, with)
	}
}

func (m MarketDesk) plotLine(name string, value float64, with []PlotOption) {
	p := Plotted{Market: m.id, Name: name, Value: value}
	for i := range with {
		p.Pane = with[i].pane
	}
	m.plot(p)
}

// Mark puts a mark with a short text on the market's price at the present event, where lines of
// Plot go.
func (m MarketDesk) Mark(text string) {
	if !m.desk.muted {
		m.plot(Plotted{Market: m.id, Name: text, Mark: true})
	}
}

func (m MarketDesk) plot(p Plotted) {
	if !m.desk.has(m.id) {
		return
	}
	if m.desk.plotter != nil {
		m.desk.plotter.Plot(m.desk.id, p)
		return
	}
	line := m.desk.log.Debug().Str("market", m.facts().Name).Str("name", p.Name)
	if p.Mark {
		line.Msg("mark")
		return
	}
	if p.Pane != "" {
		line = line.Str("pane", p.Pane)
	}
	line.Float64("value", p.Value).Msg("plot")
}

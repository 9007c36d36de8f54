package backtest

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// SummaryOptions describe the terminal.
type SummaryOptions struct {
	Color bool // the caller checks NO_COLOR and pipes
	Width int  // columns; 0: 100, never more
}

const maxWidth = 100

// figureRow is a line of the table of figures: the strategy's and, where there is one, the figure
// of buy-and-hold.
type figureRow struct{ Name, Strategy, Hold string }

// Rows returns the figures as text, in the order in which the report and the summary show them.
func (res *Result) Rows() []figureRow {
	p, h, t, o := &res.Performance, &res.Hold, &res.Trips, &res.Orders
	money := func(a Amount) string { return a.Short() + " " + res.Currency }
	return append([]figureRow{
		{"final equity", money(p.Final), money(h.Final)},
		{"return", p.Return.Percent(2), h.Return.Percent(2)},
		{"CAGR", p.CAGR.Percent(2), h.CAGR.Percent(2)},
		{"volatility, a year", p.Volatility.Percent(2), h.Volatility.Percent(2)},
		{"Sharpe", p.Sharpe.Text(3), h.Sharpe.Text(3)},
		{"Sortino", p.Sortino.Text(3), h.Sortino.Text(3)},
		{"Calmar", p.Calmar.Text(3), h.Calmar.Text(3)},
		{"beta to buy and hold", p.Beta.Text(3), ""},
		{"alpha, a year", p.Alpha.Percent(2), ""},
		{"max drawdown", p.Drawdown.Depth.Percent(2), h.Drawdown.Depth.Percent(2)},
		{"  from the peak of", p.Drawdown.Start.Date(), h.Drawdown.Start.Date()},
		{"  to the bottom of", p.Drawdown.Bottom.Date(), h.Drawdown.Bottom.Date()},
		{"  recovered", p.Drawdown.recovery(), h.Drawdown.recovery()},
		{"time in the market", p.Exposure.Percent(2), ""},
		{"positions", fmt.Sprintf("%s, %s open at the end", numbered(t.Positions), numbered(t.Open)), ""},
		{"  win rate", t.PositionRate.Percent(2), ""},
		{"round trips (exits)", numbered(t.Count), ""},
		{"  win rate", t.WinRate.Percent(2), ""},
		{"profit factor", t.ProfitFactor.Text(3), ""},
		{"SQN", t.SQN.Text(3), ""},
		{"Kelly", t.Kelly.Percent(2), ""},
		{"expectancy", money(t.Expectancy), ""},
		{"average win / loss", t.AverageWin.Short() + " / " + t.AverageLoss.Short(), ""},
		{"largest win / loss", t.LargestWin.Short() + " / " + t.LargestLoss.Short(), ""},
		{"longest losing run", fmt.Sprint(t.LosingRun), ""},
		{"orders / fills", numbered(o.Orders) + " / " + numbered(o.Fills), ""},
		{"fees", money(p.Fees), ""},
		{"rounding", money(p.Rounding), ""},
		{"turnover", p.Turnover.Text(2) + "×", ""},
	}, res.unprotectedRows()...)
}

// recovery is the date of the recovery.
func (d *Drawdown) recovery() string {
	switch {
	case d.Start == 0:
		return "–"
	case d.Recovered == 0:
		return "not yet, " + d.Length.String()
	}
	return d.Recovered.Date() + ", " + d.Length.String()
}

// WriteSummary writes the summary of a run, in at most opts.Width columns.
func WriteSummary(w io.Writer, res *Result, opts SummaryOptions) error {
	if opts.Width <= 0 || opts.Width > maxWidth {
		opts.Width = maxWidth
	}
	s := &summary{width: max(opts.Width, 40), colour: opts.Color}
	s.head(res)
	s.list("Universe", res.UniverseLines())
	s.list("Assumptions", res.Assumptions)
	s.refusals(res)
	s.envelope(res)
	s.hindsight(res)
	s.months(res)
	s.figures(res)
	s.chart(res)
	s.files(res)
	s.headline(res)
	_, err := io.WriteString(w, s.String())
	return err
}

// summary builds a text within a width.
type summary struct {
	strings.Builder
	width  int
	colour bool
}

// The colours of a terminal.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// paint wraps text in a colour where there is colour.
func (s *summary) paint(colour, text string) string {
	if !s.colour || text == "" || colour == "" {
		return text
	}
	return colour + text + plain
}

func (s *summary) line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

func (s *summary) title(text string) { s.line("\n%s", s.paint(bold, text)) }

// head writes title, strategies and range, and the warnings.
func (s *summary) head(res *Result) {
	for _, l := range wrap(res.Title, s.width) {
		s.line("%s", s.paint(bold, l))
	}
	for _, st := range res.Strategies {
		text := st.Name + " (" + st.Kind + ")"
		for _, p := range st.Params {
			text += " " + p.Name + "=" + p.Value
		}
		s.wrapped("", text, "")
		s.wrapped("", st.BeganText(), "")
	}
	s.wrapped("", fmt.Sprintf("%s to %s, %s candle closes", res.From.Date(), res.To.Date(),
		numbered(res.Candles.Groups)), "")
	if res.Synthetic {
		s.wrapped("", "SYNTHETIC DATA: a generator made these candles; the result says nothing about real money.",
			yellow)
	}
	for _, text := range res.Warnings {
		s.wrapped("", text, yellow)
	}
}

// wrapped writes a text over as many lines as it needs; indent is for the lines after the first.
func (s *summary) wrapped(first, text, colour string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(first))
	for i, l := range wrap(text, s.width-len(indent)) {
		if i > 0 {
			first = indent
		}
		s.line("%s%s", first, s.paint(colour, l))
	}
}

// figures writes strategy and buy-and-hold side by side.
func (s *summary) figures(res *Result) {
	const name = 22
	if s.width < name+2*29 {
		s.narrowFigures(res)
		return
	}
	column := min(30, (s.width-name)/2)
	s.line("\n%s%s%s", pad("", name), s.paint(bold, left("strategy", column)),
		s.paint(bold, left(holdTitle(res), column)))
	for _, r := range res.Rows() {
		text := left(r.Strategy, column)
		if r.Name == "return" {
			text = s.paint(signColour(res.Performance.Return), text)
		}
		s.line("%s", strings.TrimRight(pad(r.Name, name)+text+left(r.Hold, column), " "))
	}
}

// narrowFigures writes buy-and-hold below the strategy, and a value that has no room beside its
// name below it.
func (s *summary) narrowFigures(res *Result) {
	row := func(label, value string) {
		if room := s.width - len(label) - 1; utf8.RuneCountInString(value) <= room {
			s.line("%s %s", label, left(value, room))
			return
		}
		s.line("%s", label)
		for _, l := range wrap(value, s.width) {
			s.line("%s", left(l, s.width))
		}
	}
	s.line("\n%s", s.paint(bold, left("strategy", s.width)))
	for _, r := range res.Rows() {
		row(r.Name, r.Strategy)
	}
	s.line("\n%s", s.paint(bold, left(holdTitle(res), s.width)))
	for _, r := range res.Rows() {
		if r.Hold != "" {
			row(r.Name, r.Hold)
		}
	}
}

func holdTitle(res *Result) string {
	if res.Hold.Market == "" {
		return "buy and hold"
	}
	return "hold " + res.Hold.Market
}

func signColour(f Figure) string {
	switch {
	case f < 0:
		return red
	case f > 0:
		return green
	}
	return ""
}

// months writes a row for every year.
func (s *summary) months(res *Result) {
	s.title("Monthly returns, %")
	if s.width < 97 {
		for _, m := range res.Months {
			s.line("%04d-%02d %s", m.Year, m.Month, s.paint(signColour(m.Return), left(m.Return.Points(), 9)))
		}
		return
	}
	s.line("%s", s.paint(dim,
		"       Jan    Feb    Mar    Apr    May    Jun    Jul    Aug    Sep    Oct    Nov    Dec     year"))
	for at := 0; at < len(res.Months); {
		year, next, growth := res.Months[at].Year, 1, 1.0
		row := fmt.Sprintf("%4d", year)
		for ; at < len(res.Months) && res.Months[at].Year == year; at++ {
			m := &res.Months[at]
			row += pad("", 7*(m.Month-next)) + s.paint(signColour(m.Return), left(m.Return.Points(), 7))
			next, growth = m.Month+1, growth*(1+float64(m.Return))
		}
		s.line("%s%s%s", row, pad("", 7*(13-next)), s.paint(bold, left(Figure(growth-1).Points(), 9)))
	}
}

func (s *summary) envelope(res *Result) {
	if len(res.Envelope) == 0 {
		return
	}
	s.title("Under other paths within the candles")
	for _, o := range res.Envelope {
		name := o.Path
		if o.Chosen {
			name += " (this run)"
		}
		final, change := o.Final.Short()+" "+res.Currency, o.Return.Percent(2)
		if s.width < 66 {
			s.line("%s%s\n%s", pad(name, 24), left(change, s.width-24), left(final, s.width))
			continue
		}
		s.line("%s%s%s", pad(name, 26), left(final, 26), left(change, 14))
	}
	s.line("%s", s.paint(dim, fmt.Sprintf("%d ambiguous candles (%s)", res.Candles.Ambiguous,
		res.Candles.AmbiguousShare.Percent(3))))
}

func (s *summary) hindsight(res *Result) {
	if len(res.Hindsight) == 0 {
		return
	}
	s.title("With signals that arrive later")
	for _, row := range res.lateRows() {
		s.line("%s%s%s", pad(row[0], 26), left(row[1]+" "+res.Currency, 26), left(row[2], 14))
	}
	s.line("%s", s.paint(dim, "what is gone after a minute may have known the future"))
}

// list writes a line for every text.
func (s *summary) list(title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	s.title(title)
	for _, text := range texts {
		s.wrapped("· ", text, "")
	}
}

// headline is the last of a summary, which stays on the screen.
func (s *summary) headline(res *Result) {
	p, t := &res.Performance, &res.Trips
	s.line("")
	s.wrapped("", fmt.Sprintf("Return %s, %s %s.", p.Return.Percent(2), holdTitle(res), res.Hold.Return.Percent(2)),
		signColour(p.Return))
	s.wrapped("", fmt.Sprintf("%s to %s %s, maximum drawdown %s, Sharpe %s, %s, fees %s.",
		p.Start.Short(), p.Final.Short(), res.Currency, p.Drawdown.Depth.Percent(2), p.Sharpe.Text(2), t.text(),
		p.Fees.Short()), bold)
	for _, text := range res.Tries {
		s.wrapped("", text, "")
	}
	if res.Synthetic {
		s.wrapped("", "The candles are synthetic: this says nothing about real money.", yellow)
	}
}

func (s *summary) files(res *Result) {
	if len(res.Files) == 0 {
		return
	}
	s.title("Written to " + res.Dir)
	s.wrapped("", strings.Join(res.Files, ", "), "")
}

// text counts positions, and exits where some positions had several.
func (t *TripFigures) text() string {
	text := counted(t.Positions, "position")
	if t.Positions > 0 {
		text += fmt.Sprintf(", %s won", t.PositionRate.Percent(1))
	}
	if t.Count != t.Positions {
		text += "; " + counted(t.Count, "exit")
	}
	return text
}

// counted is such as "1 exit" and "2 exits".
func counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return numbered(n) + " " + noun
}

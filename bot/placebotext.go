package bot

import (
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/placebo"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view/chart"
)

// placeboWriter builds the end of a placebo for a terminal.
type placeboWriter struct {
	textWriter
	o *placebo.Result
}

// placeboText is the end of a placebo: the winner, the winners of the surrogates, the verdict, and
// what the test cannot see, and the page; without a path there is none.
func placeboText(o *placebo.Result, terminal backtest.SummaryOptions, page string) string {
	w := &placeboWriter{newTextWriter(terminal), o}
	w.winner()
	w.surrogates()
	w.verdict()
	w.lost()
	w.line("")
	w.line("The surrogates' winners are in %s.", o.File)
	if page != "" {
		w.line("The page is %s.", page)
	}
	return w.String()
}

// winner writes what the search found in the data.
func (w *placeboWriter) winner() {
	rest := fmt.Sprintf("a Sharpe of %s in excess of a hold at %%s own exposure (%s against cash)", w.o.Theta.Text(2),
		w.o.Sharpe.Text(2))
	if w.o.Winner == nil {
		w.text("", "The stitched test days of the data have "+rest+"; each window chose the best of %d sets.", "their",
			w.o.Tried)
		return
	}
	w.text("", "The winner in the data: %s, with "+rest+", the best of %d sets.", research.SettingsText(w.o.Winner),
		"its",
		w.o.Tried)
}

// classes of the histogram, and the longest bar.
const (
	placeboClasses = 12
	placeboBar     = 50
)

// surrogates writes the winners of the surrogates.
func (w *placeboWriter) surrogates() {
	w.line("")
	w.text("", "The winners of the same search on %d surrogates: Sharpe in excess, and how many have it",
		w.o.Surrogates)
	values := make([]float64, len(w.o.Thetas))
	for i, theta := range w.o.Thetas {
		values[i] = float64(theta)
	}
	bars := chart.Histogram(values, placeboClasses)
	most := 1.0
	for _, b := range bars {
		most = max(most, b.Value)
	}
	var rows [][]string
	for i, b := range bars {
		yours := ""
		if theta := float64(w.o.Theta); theta >= b.From && (theta < b.To || i == len(bars)-1 && theta <= b.To) {
			yours = " ← yours"
		}
		rows = append(rows, []string{fmt.Sprintf("%.2f to %.2f", b.From, b.To), fmt.Sprint(int(b.Value)),
			strings.Repeat("█", int(b.Value/most*placeboBar+0.5)) + yours})
	}
	w.histogram(rows)
	if theta := float64(w.o.Theta); len(bars) > 0 && theta > bars[len(bars)-1].To {
		w.text("", "Yours, %s, is above all of them.", w.o.Theta.Text(2))
	}
	for _, q := range w.o.Quantiles {
		if q.Share == 0.5 {
			w.text("", "Half of them show more than %s.", q.Value.Text(2))
		}
	}
	if w.o.Empty > 0 {
		w.text("", "On %d surrogates the search found nothing.", w.o.Empty)
	}
}

// histogram writes rows of class, number and bar.
func (w *placeboWriter) histogram(rows [][]string) {
	class, number := 0, 0
	for _, row := range rows {
		class, number = max(class, len(row[0])), max(number, len(row[1]))
	}
	for _, row := range rows {
		w.line("%s", strings.TrimRight(fmt.Sprintf("%*s  %*s  %s", class, row[0], number, row[1], row[2]), " "))
	}
}

// verdict writes the rank.
func (w *placeboWriter) verdict() {
	w.line("")
	w.line("Verdict")
	w.text("", "%s", w.o.Verdict())
	e := stats.Explain(stats.FigurePlacebo)
	w.text("  ", "%s: %s. %s %s", e.Name, w.o.P.Text(3), e.Says, e.SaysNot)
}

// lost writes what the test cannot see.
func (w *placeboWriter) lost() {
	w.line("")
	w.line("What surrogates do not keep:")
	for _, sentence := range w.o.Lost() {
		w.text("  ", "%s", sentence)
	}
}

package report_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/report"
)

// made is a Runner that makes up the rows of sets: the returns of each are drawn by its number.
type made struct {
	days  int
	edges map[uint64]float64 // daily returns on top, by set
	// lossless is a set whose profit factor is infinite; that of others is their number.
	lossless uint64
	differ   bool // all figures of all sets
}

func (m *made) Ahead() int { return 4 }

func (m *made) Run(ctx context.Context, todo <-chan research.Group, done chan<- research.Done) error {
	for g := range todo {
		d := research.Done{Number: g.Number}
		for _, set := range g.Sets {
			d.Rows = append(d.Rows, m.row(set, g.Rung))
		}
		select {
		case done <- d:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (m *made) row(set uint64, rung uint8) research.Row {
	random := rand.New(rand.NewPCG(set, 3))
	row := research.Row{Set: set, Rung: rung, First: 19000,
		Figures: make(research.Figures, len(research.FigureNames()))}
	for range m.days {
		x := float32(0.02*random.NormFloat64() + m.edges[set])
		row.Daily, row.Excess = append(row.Daily, x), append(row.Excess, x)
	}
	row.Figures[0] = random.NormFloat64() + 1000*m.edges[set]
	row.Figures[3], row.Figures[4], row.Figures[13] = 0.1, float64(set), 100
	for i := range row.Figures {
		if m.differ {
			row.Figures[i] += float64((set*7+uint64(i)*13)%101) / 37
		}
	}
	if set == m.lossless {
		row.Figures[4] = math.Inf(1)
	}
	return row
}

// searched is a sweep over made-up rows.
func searched(t testing.TB, method research.Method, objective string, m *made, vary ...string) *report.Sweep {
	var dims []research.Dimension
	for _, text := range vary {
		d, err := research.ParseDimension(text)
		require.NoError(t, err)
		dims = append(dims, d)
	}
	space, err := research.NewSpace(dims...)
	require.NoError(t, err)
	formula, err := research.Objective(objective)
	require.NoError(t, err)
	sets := 10_000
	if method == research.Grid {
		sets = 0
	}
	found, err := research.Search(t.Context(), research.Job{Space: space, Method: method, Objective: formula,
		Sets: sets,
		File: filepath.Join(t.TempDir(), "a.sweep"), Runner: m, Workers: 2, To: 40 * 86400e9,
		Look: func([]research.Setting) (string, error) { return "", nil },
		Worker: func() (research.Make, error) {
			return func([]research.Setting) (*backtest.Plan, error) { return &backtest.Plan{}, nil }, nil
		}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, found.Close()) })
	outcome, err := found.Outcome()
	require.NoError(t, err)
	s := &report.Sweep{Title: "made up", Found: found, Outcome: outcome, Space: space}
	for i := range outcome.Top {
		s.Commands = append(s.Commands, fmt.Sprintf("bot backtest --set %s", outcome.Top[i].Settings[0].Value))
	}
	return s
}

func text(t testing.TB, s *report.Sweep) string {
	var out strings.Builder
	doc, err := s.Doc()
	require.NoError(t, err)
	require.NoError(t, doc.Write(&out))
	return out.String()
}

func TestThePageOfASweepHasAMapForEachPair(t *testing.T) {
	s := searched(t, research.Grid, "sharpe", &made{days: 60}, "a=1:4:1", "b=x,y,z", "c=0.1%,0.2%", "alone=7")
	page := text(t, s)
	for _, pair := range []string{"a × b", "a × c", "b × c"} {
		require.Contains(t, page, `<div data-name="`+pair+`">`)
	}
	require.NotContains(t, page, "× alone")
	require.Contains(t, page, "below it at the best set&#39;s other values")
	require.Contains(t, page, "rank correlation of the halves")
	require.Contains(t, page, "bot backtest --set")
	require.Equal(t, page, text(t, s), "the same sweep has the same page")

	require.Contains(t, text(t, searched(t, research.Grid, "sharpe", &made{days: 60}, "a=1:9:1")), "Sharpe ratio by a.")
}

func TestThePageNamesWhatIsMissing(t *testing.T) {
	page := text(t, searched(t, research.CMAES, "sharpe", &made{days: 60}, "a=1:40:1", "b=1:40:1"))
	require.Contains(t, page, "PBO is missing: cma-es chose its sets by the results")
	require.Contains(t, page, "Missing: only a grid")

	for _, method := range research.Methods() {
		page = text(t, searched(t, method, "return - sharpe", &made{days: 60}, "a=1:9:1", "b=1:4:1", "c=true,false"))
		require.Contains(t, page, "method "+string(method))
		body, _, _ := strings.Cut(page, "<script>")
		require.NotContains(t, body, "NaN")
	}

	s := searched(t, research.Grid, "sharpe", &made{days: 60}, "a=1:4:1", "b=1:3:1")
	s.Outcome.Top, s.Outcome.Require, s.Found.Winner = nil, []string{"trips > 5"}, nil
	require.Contains(t, text(t, s), "No set meets trips &gt; 5.")
}

// A figure without a value is not drawn, and wins nothing: with one parameter and with two.
func TestAPageIsDrawnWithoutASetThatHasNoValue(t *testing.T) {
	for _, vary := range [][]string{{"a=1:9:1"}, {"a=1:4:1", "b=1:3:1"}} {
		s := searched(t, research.Grid, "profit_factor", &made{days: 60, lossless: 2}, vary...)
		require.Equal(t, s.Space.Size()-1, s.Found.Winner.Set)
		page := text(t, s)
		require.Contains(t, page, "1 without a value of the objective: they rank last")
	}
}

// A page warns first: below the bar, and where the winner stands alone.
func TestThePageWarnsBeforeAllElse(t *testing.T) {
	page := text(t, searched(t, research.Grid, "sharpe", &made{days: 200}, "a=1:8:1", "b=1:8:1"))
	for _, warning := range []string{"Probably luck: 100 in 100 searches on worthless data do as well.",
		research.StandsAlone,
		"The winner lies at the border of the space (b=1)"} {
		require.Less(t, strings.Index(page, warning), strings.Index(page, `<div class="cards">`))
		require.Contains(t, page, warning)
	}
	hill := &made{days: 200, edges: map[uint64]float64{}}
	for a := range uint64(3) {
		for b := range uint64(3) {
			hill.edges[(a+2)*8+b+2] = 0.01
		}
	}
	page = text(t, searched(t, research.Grid, "sharpe", hill, "a=1:8:1", "b=1:8:1"))
	require.Contains(t, page, `<div class="verdict good"><p class="answer">Hard to explain by luck: 1 in 1,000 searches `+
		`on worthless data does as well.</p><p>Of searches`)
	require.Contains(t, page, "plateau</text>", "the hill is outlined")
}

// The table of the page has the numbers of the exported one, each set at its rank.
func TestTheTableOfThePageIsTheExportedOne(t *testing.T) {
	s := searched(t, research.Grid, "10*return+sharpe", &made{days: 60, differ: true,
		edges: map[uint64]float64{5: 0.01}}, "a=1:20:1", "b=x,y,z", "c=1:5:1")
	var out bytes.Buffer
	require.NoError(t, s.Found.WriteSets(&out))
	exported, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	at := func(name string) int { return slices.Index(exported[0], name) }
	rows := exported[1:]
	slices.SortStableFunc(rows, func(a, b []string) int {
		x, _ := strconv.ParseFloat(a[at("objective")], 64)
		y, _ := strconv.ParseFloat(b[at("objective")], 64)
		return cmp.Compare(y, x)
	})
	_, table, _ := strings.Cut(text(t, s), `<div class="sorted" data-first="20">`)
	table, _, _ = strings.Cut(table, "</table>")
	shown := regexp.MustCompile(`(?s)<tr>(<td.*?)</tr>`).FindAllStringSubmatch(table, -1)
	require.Len(t, shown, 200)
	for i, line := range shown {
		var cells []string
		for _, cell := range regexp.MustCompile(`>([^<]*)</td>`).FindAllStringSubmatch(line[1], -1) {
			cells = append(cells, cell[1])
		}
		want := []string{strconv.Itoa(i + 1), rows[i][at("a")], rows[i][at("b")], rows[i][at("c")]}
		for _, c := range [][2]string{{"objective", "%.3f"}, {"sharpe", ""}, {"excess_sharpe", ""}, {"return", ""},
			{"drawdown", ""}, {"trips", ""}, {"fees", ""}, {"exposure", ""}} {
			x, err := strconv.ParseFloat(rows[i][at(c[0])], 64)
			require.NoError(t, err)
			if c[1] != "" {
				want = append(want, fmt.Sprintf(c[1], x))
			} else {
				want = append(want, research.FigureText(c[0], backtest.Figure(x)))
			}
		}
		require.Equal(t, want, cells)
	}
}

// A hill is one row of the table of plateaus, a parameter that alone makes the objective explains
// its variance, and the best so far steps to the best.
func TestThePageSaysWhereGoodSetsLieAndWhatMakesThem(t *testing.T) {
	hills := &made{days: 60, edges: map[uint64]float64{}}
	for a := range uint64(3) {
		for b := range uint64(3) {
			share := 0.75
			if a == 1 && b == 1 {
				share = 1
			}
			hills.edges[(a+2)*20+b+2], hills.edges[(a+12)*20+b+12] = 0.04*share, 0.02*share
		}
	}
	page := text(t, searched(t, research.Grid, "sharpe", hills, "a=1:20:1", "b=1:20:1"))
	_, table, _ := strings.Cut(page, "one set a plateau</h2>")
	table, _, _ = strings.Cut(table, "</table>")
	require.Equal(t, 2, strings.Count(table, `<td data-l="sets">9</td>`), table)
	require.Equal(t, 3, strings.Count(table, "<tr>"), "the titles, and one row a plateau")

	steep := &made{days: 60, edges: map[uint64]float64{}}
	for set := range uint64(60) {
		steep.edges[set] = 0.01 * float64(set/6)
	}
	page = text(t, searched(t, research.Grid, "sharpe", steep, "a=1:10:1", "b=1:6:1"))
	require.Regexp(t, `>a</text>\n(?s).*>b</text>.*>(9\d|100) %</text>`, page)
	require.Contains(t, page, "Method: variance explained, ε² of Kelley")
	require.Regexp(t, `The best came as number \d+ of 60\.`, page)
	require.Contains(t, page, "90 in 100 sets</text>")
	require.NotContains(t, page, "Grey is a hold", "the winner was not run again")

	page = text(t, searched(t, research.Sobol, "sharpe", steep, "a=1:10:1", "b=1:6:1"))
	require.Contains(t, page, "There is no such table: only a grid")
}

// Ten thousand sets over six parameters, the most pairs that are drawn.
func TestThePageOfTenThousandSetsIsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("the page of ten thousand sets is not made: -short")
	}
	s := searched(t, research.Sobol, "10*return+sharpe", &made{days: 40}, "a=1:100:1", "b=1:100:1", "c=1:100:1",
		"d=1:100:1", "e=1:100:1", "f=1:100:1", "g=1,2", "h=1,2")
	require.Equal(t, 10_000, s.Outcome.Tried)
	page := text(t, s)
	require.Less(t, len(page), 2_000_000)
	require.Contains(t, page, "2 others are left out")
	require.Contains(t, page, "One set in 7 is drawn.")
}

func BenchmarkSweepPage(b *testing.B) {
	s := searched(b, research.Sobol, "sharpe", &made{days: 1000}, "a=1:100:1", "b=1:100:1", "c=1:100:1", "d=1:100:1",
		"e=1:100:1", "f=1:100:1")
	b.ReportAllocs()
	for b.Loop() {
		b.ReportMetric(float64(len(text(b, s))), "bytes/page")
	}
}

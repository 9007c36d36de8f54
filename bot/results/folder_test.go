package results_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/results"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
	"github.com/tidemark-trading/tidemark/research/trials"
)

// hostile is a name that would run a script if it were written as it is.
const hostile = `<img src=x onerror="hacked=1"><script>hacked=1</script>`

// bench is a Folder with a clock that a test moves.
type bench struct {
	*results.Folder
	made *bottest.Results
	now  time.Time
}

func newBench(t *testing.T) *bench {
	b := &bench{made: &bottest.Results{TB: t, Folder: filepath.Join(t.TempDir(), "out"), Hours: 2400}, now: time.Now()}
	b.Folder = results.New(results.Config{Folder: b.made.Folder, Now: func() time.Time { return b.now }})
	return b
}

// list lists the results anew.
func (b *bench) list(q results.Query) *results.Results {
	b.made.Helper()
	b.now = b.now.Add(2 * time.Second)
	r, err := b.Results(q)
	require.NoError(b.made, err)
	return r
}

func names(r *results.Results) (list []string) {
	for _, e := range r.Results {
		list = append(list, e.Name)
	}
	return list
}

func TestAFolderThatIsNotThereIsSaid(t *testing.T) {
	b := newBench(t)
	require.True(t, b.list(results.Query{}).Missing)
	b.made.Backtest("a", "a", "trend", "5", "20")
	require.Equal(t, []string{"a"}, names(b.list(results.Query{})))
}

func TestTheListHasTheFiguresOfResultJSON(t *testing.T) {
	b := newBench(t)
	b.made.Backtest("deep/down/slow", "slow", "trend", "20", "100")
	b.made.Backtest("fast", hostile, "trend", "5", "20")
	b.made.Write("broken/result.json", `{"format": 1, "tit`)
	b.made.Write("newer/result.json", `{"format": 99}`)
	list := b.list(results.Query{Sort: "sharpe"})
	require.Equal(t, 4, list.Total)
	require.Equal(t, []string{"smacross"}, list.Strategies)
	require.Equal(t, []string{"BTC-EUR"}, list.Markets)
	var good, bad int
	for _, e := range list.Results {
		if e.Error != "" {
			bad++
			continue
		}
		require.Zero(t, bad, "results that cannot be read come last")
		good++
		var whole struct {
			Title       string
			Performance struct {
				Return, Sharpe float64
				Drawdown       struct{ Depth float64 } `json:"max_drawdown"`
			}
			Trips struct{ Count int64 }
		}
		require.NoError(t, json.Unmarshal([]byte(b.made.Read(e.Name+"/result.json")), &whole))
		require.Equal(t, whole.Title, e.Title)
		require.Equal(t, []float64{whole.Performance.Return, whole.Performance.Sharpe,
			whole.Performance.Drawdown.Depth},
			[]float64{float64(e.Return), float64(e.Sharpe), float64(e.Drawdown)})
		require.Equal(t, whole.Trips.Count, e.Trips)
		require.True(t, e.P > 0 && e.P < 1)
		require.Len(t, e.Files, 7, "all files but config.json")
	}
	require.Equal(t, []int{2, 2}, []int{good, bad})
	require.GreaterOrEqual(t, float64(list.Results[0].Sharpe), float64(list.Results[1].Sharpe))
	require.Contains(t, list.Results[3].Error, "format 99")
	require.Empty(t, b.list(results.Query{Strategy: "grid"}).Results)
	require.Len(t, b.list(results.Query{Market: "BTC-EUR"}).Results, 2)
	_, err := b.Results(results.Query{Sort: "colour"})
	require.ErrorAs(t, err, new(results.WrongError))
}

// Every order is total and the same up and down, whatever is undefined.
func TestEveryOrderPutsUndefinedFiguresLast(t *testing.T) {
	b := newBench(t)
	b.made.Backtest("a", "a", "trend", "5", "20")
	b.made.Backtest("b", "b", "trend", "20", "100")
	text := b.made.Read("a/result.json")
	for _, figure := range []string{"return", "sharpe", "cagr"} {
		at := strings.Index(text, `"`+figure+`":`)
		end := at + strings.IndexByte(text[at:], ',')
		text = text[:at] + `"` + figure + `": null` + text[end:]
	}
	b.made.Write("c/result.json", text)
	for _, sort := range append(results.Orders(), "name") {
		up, down := names(b.list(results.Query{Sort: sort, Ascending: true})), names(b.list(results.Query{Sort: sort}))
		require.ElementsMatch(t, up, down, sort)
		if sort == "sharpe" || sort == "return" || sort == "cagr" {
			require.Equal(t, []string{"c", "c"}, []string{up[2], down[2]}, sort)
			require.Equal(t, up[0], down[1])
		}
	}
}

func TestAResultIsReadAgainWhenItChanges(t *testing.T) {
	b := newBench(t)
	b.made.Backtest("a", "first", "trend", "5", "20")
	require.Equal(t, "first", b.list(results.Query{}).Results[0].Title)
	b.made.Backtest("a", "second time", "trend", "5", "20")
	require.Equal(t, "second time", b.list(results.Query{}).Results[0].Title)
	require.NoError(t, os.RemoveAll(filepath.Join(b.made.Folder, "a")))
	require.Empty(t, b.list(results.Query{}).Results)
	_, err := b.Result("a")
	require.ErrorAs(t, err, new(results.NotFoundError))
}

// A file outside of the list is not served, however it is called, and no link leads out.
func TestNothingButListedFilesIsServed(t *testing.T) {
	b := newBench(t)
	b.made.Backtest("a", "a", "trend", "5", "20")
	b.made.Write("a/secret.txt", "secret")
	b.made.Write("../secret.html", "secret")
	b.made.Write("page.html", "secret")
	outside := filepath.Join(filepath.Dir(b.made.Folder), "elsewhere")
	require.NoError(t, os.MkdirAll(outside, 0o755))
	for name, text := range map[string]string{"result.json": b.made.Read("a/result.json"), "report.html": "secret",
		"stress.html": "secret", "x.sweep": "secret", "gap.csv": "strategy,fact,profit,step\n,live,1,secret\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(outside, name), []byte(text), 0o644))
	}
	link := func(from, to string) { require.NoError(t, os.Symlink(from, filepath.Join(b.made.Folder, to))) }
	link(outside, "linked") // a folder
	for _, name := range []string{"stress.html", "x.sweep"} {
		link(filepath.Join(outside, name), name)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(b.made.Folder, "b"), 0o755))
	for _, name := range []string{"result.json", "report.html", "gap.csv"} {
		link(filepath.Join(outside, name), "b/"+name)
	}
	list := b.list(results.Query{})
	require.Equal(t, []string{"a"}, names(list))
	sweeps, err := b.Sweeps()
	require.NoError(t, err)
	require.Empty(t, sweeps.Sweeps)
	gaps, err := b.Gaps()
	require.NoError(t, err)
	require.Empty(t, gaps.Gaps)
	for _, name := range []string{"", ".", "a", "a/config.json", "a/secret.txt", "../secret.html", "page.html",
		"a/../../secret.html", "/etc/passwd", "a/../a/report.html", "./a/report.html", "a//report.html",
		`a\report.html`,
		"linked/report.html", "b/report.html", "stress.html", "a/report.html\x00", "A/report.html",
		"%2e%2e/secret.html",
		strings.Repeat("a/", 5000) + "report.html"} {
		_, err := b.File(name)
		require.ErrorAs(t, err, new(results.NotFoundError), "%.60q", name)
		if name != "a" {
			_, err = b.Result(name)
			require.ErrorAs(t, err, new(results.NotFoundError), "%.60q", name)
		}
		_, err = b.Sweep(name, "")
		require.ErrorAs(t, err, new(results.NotFoundError), "%.60q", name)
	}
	for _, name := range list.Results[0].Files {
		f, err := b.File(name)
		require.NoError(t, err)
		require.Equal(t, b.made.Read(name), string(f.Text))
	}

	// A listed file becomes a link between the look and the question.
	require.NoError(t, os.Remove(filepath.Join(b.made.Folder, "a", "report.html")))
	link(filepath.Join(outside, "report.html"), "a/report.html")
	_, err = b.File("a/report.html")
	require.Error(t, err)
}

func TestAPageKeepsItsOwnPolicyInASandbox(t *testing.T) {
	b := newBench(t)
	b.made.Backtest("a", "a", "trend", "5", "20")
	b.made.Write("b/result.json", b.made.Read("a/result.json"))
	b.made.Write("b/report.html", "<!DOCTYPE html><script>hacked=1</script>"+b.made.Read("a/report.html"))
	b.made.Write("c/result.json", b.made.Read("a/result.json"))
	b.made.Write("c/report.html", strings.Replace(b.made.Read("a/report.html"), "img-src data:", "img-src *", 1))
	b.list(results.Query{})
	own, err := b.File("a/report.html")
	require.NoError(t, err)
	require.Contains(t, own.Policy, "script-src 'sha256-")
	require.True(t, strings.HasSuffix(own.Policy, "frame-ancestors 'none'; sandbox allow-scripts"))
	for _, name := range []string{"b/report.html", "c/report.html"} {
		other, err := b.File(name)
		require.NoError(t, err)
		require.NotContains(t, other.Policy, "script")
		require.Contains(t, other.Policy, "default-src 'none'")
	}
	data, err := b.File("a/trades.csv")
	require.NoError(t, err)
	require.Empty(t, data.Policy)
}

func TestResultsAreComparedAsBotCompareDoes(t *testing.T) {
	b := newBench(t)
	for i, fast := range []string{"5", "10", "20", "30", "40", "50"} {
		b.made.Backtest(fmt.Sprintf("r/%d", i), "run", "trend", fast, "100")
	}
	o, err := b.Compare("r/0", "r/1", "r/2", "r/3", "r/4")
	require.NoError(t, err)
	require.Len(t, o.Pairs, 4)
	require.Equal(t, []string{"5", "10", "20", "30", "40"}, o.Settings[0].Values)
	require.Empty(t, o.Pairs[0].Missing)
	for _, wrong := range [][]string{{"r/0"}, {"r/0", "r/0"}, {"r/0", "r/1", "r/2", "r/3", "r/4", "r/5"}, {}} {
		_, err = b.Compare(wrong...)
		require.ErrorAs(t, err, new(results.WrongError), "%v", wrong)
	}
	_, err = b.Compare("r/0", "../r/0")
	require.ErrorAs(t, err, new(results.NotFoundError))
	require.NoError(t, os.Remove(filepath.Join(b.made.Folder, "r/0/equity.csv")))
	_, err = b.Compare("r/0", "r/1")
	require.ErrorContains(t, err, "has no equity.csv")
	one, err := b.Result("r/0")
	require.NoError(t, err)
	require.Contains(t, one.NoCurve, "has no equity.csv")
}

// A sweep writes, under its lock, while the folder reads after each group.
func TestASweepIsSeenWhileItRuns(t *testing.T) {
	b := newBench(t)
	job := b.made.Job("grid.sweep", "fast=2:20:2", "slow=25:100:15")
	looks, rates := 0, 0
	look := func(p research.Progress) {
		b.now = b.now.Add(2 * time.Second)
		list, err := b.Sweeps()
		require.NoError(b.made, err)
		require.Len(b.made, list.Sweeps, 1)
		s := list.Sweeps[0]
		require.Equal(b.made, []any{results.SweepKind, p.Done, 60, "", "grid"}, []any{s.Kind, s.Done, s.Total, s.Error,
			s.Method})
		if p.Done < 60 {
			require.Equal(b.made, results.Running, s.State)
		}
		if s.Rate.Defined() {
			rates++
			require.InDelta(b.made, float64(60-s.Done)/float64(s.Rate), float64(s.LeftS), 1e-9)
		}
		found, err := b.Sweep("grid.sweep", "return")
		require.NoError(b.made, err)
		require.Empty(b.made, found.Missing)
		require.Equal(b.made, p.Done, found.Outcome.Tried)
		looks++
	}
	job.Progress = look
	want, err := research.Sweep(t.Context(), job)
	require.NoError(t, err)
	require.Greater(t, looks, 2)
	require.Positive(t, rates)
	found, err := b.Sweep("grid.sweep", "")
	require.NoError(t, err)
	require.Equal(t, results.Finished, found.State)
	require.Equal(t, want.Top[0].Settings, found.Outcome.Top[0].Settings)
	require.Equal(t, want.Verdict.Luck, found.Outcome.Verdict.Luck)
	require.Len(t, found.Around, len(want.Top))
	require.Equal(t, []string{"fast × slow"}, found.Pairs)
	_, is := found.Map("")
	require.True(t, is)
	_, is = found.Strands()
	require.True(t, is)
	_, err = b.Sweep("grid.sweep", "1+1")
	require.ErrorAs(t, err, new(results.WrongError))
}

func TestASearchThatDoesNotGoOnIsStopped(t *testing.T) {
	b := newBench(t)
	b.made.Sweep("whole.sweep", "fast=2:20:3", "slow=25:100:25")
	text := b.made.Read("whole.sweep")
	b.made.Write("cut.sweep", text[:len(text)*2/3])
	workers := []machines.Worker{{Name: "box-7", Cores: 4, Groups: 12, JoinedMS: 1_000, HeardMS: 2_000}}
	for name, list := range map[string][]machines.Worker{"cut.sweep": workers, "whole.sweep": workers} {
		r := machines.Roster{Sweep: name, Workers: list}
		require.NoError(t, r.Write(filepath.Join(b.made.Folder, ".farm-"+name)))
	}
	b.made.Write(filepath.Join(".farm-damaged", machines.RosterFile), "{")
	b.made.Write("text.sweep", "no sweep")
	b.made.Write("p.placebo", "TMPLACEBO {} 0")
	b.made.Write("stress-run.html", "stress")
	b.now = b.now.Add(time.Hour)
	list, err := b.Sweeps()
	require.NoError(t, err)
	by := map[string]results.Sweep{}
	for _, s := range list.Sweeps {
		by[s.Name] = s
	}
	require.Equal(t, []any{results.Finished, "whole.html", false}, []any{by["whole.sweep"].State,
		by["whole.sweep"].Page,
		by["whole.sweep"].Machines})
	require.Equal(t, []any{results.Stopped, "", true}, []any{by["cut.sweep"].State, by["cut.sweep"].Page,
		by["cut.sweep"].Machines})
	require.Equal(t, workers, by["cut.sweep"].Workers)
	require.Less(t, by["cut.sweep"].Done, by["whole.sweep"].Done)
	require.Contains(t, by["text.sweep"].Error, "no file of a sweep")
	require.Contains(t, by["p.placebo"].Error, "no file of a placebo")
	require.Equal(t, results.StressKind, by["stress-run.html"].Kind)
	_, err = json.Marshal(list)
	require.NoError(t, err)
}

func TestTheWayOfAGapIsRead(t *testing.T) {
	b := newBench(t)
	b.made.Write("gap/gap.csv", "strategy,fact,profit,step,mean,least,most,range_only\n,backtest,50.00,,,,,\n"+
		",data,50.00,0.00,0.00,0.00,0.00,false\n,orders,45.00,-5.00,-5.00,-6.00,-4.00,false\n,live,43.00,-7.00,,,,\n"+
		"trend,live,1.00,1.00,,,,\n")
	b.made.Write("gap/gap.html", "page")
	b.made.Write("other/gap.csv", "a,b\n1,2\n")
	list, err := b.Gaps()
	require.NoError(t, err)
	by := map[string]results.Gap{list.Gaps[0].Name: list.Gaps[0], list.Gaps[1].Name: list.Gaps[1]}
	g := by["gap"]
	require.Equal(t, []string{"50.00", "43.00", "-7.00"}, []string{g.Backtest, g.Live, g.Gap})
	require.Equal(t, []results.Step{{Fact: "data", Profit: "50.00", Step: "0.00"}, {Fact: "orders", Profit: "45.00",
		Step: "-5.00"}}, g.Steps)
	require.Equal(t, []string{"gap/gap.html", "gap/gap.csv"}, g.Files)
	require.Contains(t, by["other"].Error, "another program made it")
}

// folders is the number of empty folders among which a result is found.
var folders = flag.Int("shelf-folders", 300, "look for a result among so many folders")

// A walk is bounded whatever the folder holds, and says so.
func TestAWalkIsBounded(t *testing.T) {
	b := newBench(t)
	deep := strings.Repeat("d/", 12)
	b.made.Write(deep+"result.json", "{}")
	list := b.list(results.Query{})
	require.Empty(t, list.Results)
	require.Contains(t, list.Cut, "levels down")
	for i := range *folders {
		require.NoError(t, os.Mkdir(filepath.Join(b.made.Folder, fmt.Sprintf("f%05d", i)), 0o755))
	}
	b.made.Write("f00099/result.json", "[]")
	require.Len(t, b.list(results.Query{}).Results, 1)
}

// Whatever the files of a result hold, there is an answer.
func TestHostileFilesAreRowsWithAnError(t *testing.T) {
	b := newBench(t)
	b.made.Backtest("a", "a", "trend", "5", "20")
	good := b.made.Read("a/result.json")
	for i, text := range []string{"", "null", "[]", "{", good[:len(good)/2], strings.Repeat("[", 100_000),
		`{"format":1,"assumptions":["",""],"strategies":[{}]}`, `{"format":1,"performance":{"return":1e308}}`,
		`{"format":1,"from":{"ms":-9223372036854775808}}`, "\x00\xff"} {
		folder := fmt.Sprintf("h%d", i)
		b.made.Write(folder+"/result.json", text)
		for _, name := range []string{"days.csv", "equity.csv", "trades.csv"} {
			b.made.Write(folder+"/"+name, []string{"time_ms,equity\n1,1\n", "time_ms,return\nx,y\n", "\"", "",
				"a\n\n"}[i%5])
		}
	}
	big, err := os.Create(filepath.Join(b.made.Folder, "a", "equity.csv"))
	require.NoError(t, err)
	require.NoError(t, big.Truncate(1<<31))
	require.NoError(t, big.Close())
	b.made.Write("big/result.json", "")
	require.NoError(t, os.Truncate(filepath.Join(b.made.Folder, "big", "result.json"), 1<<31))
	list := b.list(results.Query{})
	require.Len(t, list.Results, 12)
	for _, e := range list.Results {
		one, err := b.Result(e.Name)
		require.True(t, e.Error != "" || err == nil, "%s: %v", e.Name, err)
		if e.Name != "a" {
			_, err = b.Compare("a", e.Name)
			require.Error(t, err)
		} else {
			require.Contains(t, one.NoCurve, "a page reads at most")
		}
		_, err = json.Marshal(one)
		require.NoError(t, err)
	}
}

// A ledger that is filled while the folder looks: the counts are those of bot trials, and the
// folder leaves the ledger's files as they are.
func TestTriesAreThoseOfTheLedger(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(t.TempDir(), trials.Name)
	b.Ledger = file
	b.made.Backtest("a", "a", "trend", "5", "20")
	require.Nil(t, b.list(results.Query{}).Results[0].Tries)
	e := b.list(results.Query{}).Results[0]
	origin := trials.Origin{Strategy: "smacross", Markets: []string{"BTC-EUR"}, From: market.Time(e.From).Millis(),
		To: market.Time(e.To).Millis(), Code: "test", Data: "d"}
	other := origin
	other.Markets = []string{"ETH-EUR"}
	for i := range 5 {
		try := trials.Try{Key: uint64(i + 1), Series: uint64(i/2 + 1), Sharpe: 0.01, Days: 90}
		_, err := trials.At(file).Append(trials.Group{Origin: origin, At: 1, Tries: []trials.Try{try}},
			trials.Group{Origin: other, At: 1, Tries: []trials.Try{try}})
		require.NoError(t, err)
	}
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	e = b.list(results.Query{Sort: "tries"}).Results[0]
	require.Equal(t, &results.Tries{Tries: 5, Series: 3, Bar: backtest.Figure(research.LuckOf(3, int(e.Days)).Bar)},
		e.Tries)
	one, err := b.Result("a")
	require.NoError(t, err)
	require.Equal(t, e.Tries, one.Tries)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, before, after)
	list, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, list, 1)

	b.made.Write("s/result.json", strings.Replace(b.made.Read("a/result.json"), `"synthetic_data": false`,
		`"synthetic_data": true`, 1))
	for _, e := range b.list(results.Query{}).Results {
		require.Equal(t, e.Name == "a", e.Tries != nil, "made-up candles have no ledger")
	}
	require.NoError(t, os.WriteFile(file, []byte("no ledger"), 0o644))
	require.Nil(t, b.list(results.Query{Sort: "name", Ascending: true}).Results[0].Tries)
}

package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/compare"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// The kinds of results.
const (
	Backtest    = "backtest"
	WalkForward = "walk-forward"
)

// Entry is a result in the list.
type Entry struct {
	Name      string `json:"name"` // its folder below the folder of results
	Kind      string `json:"kind"` // backtest or walk-forward
	ChangedMS int64  `json:"changed_ms"`
	Error     string `json:"error,omitempty"` // why it cannot be read; then the rest is empty

	Title      string          `json:"title"`
	Synthetic  bool            `json:"synthetic_data"`
	Strategies []string        `json:"strategies"` // kinds, sorted
	Markets    []string        `json:"markets"`    // sorted
	From       backtest.Moment `json:"from"`
	To         backtest.Moment `json:"to"`
	Code       string          `json:"code_version"`
	Data       string          `json:"data_hash"`
	Config     string          `json:"config_hash"`
	Warnings   []string        `json:"warnings"`

	Currency string          `json:"currency"`
	Return   backtest.Figure `json:"return"`
	CAGR     backtest.Figure `json:"cagr"`
	Sharpe   backtest.Figure `json:"sharpe"`
	Drawdown backtest.Figure `json:"max_drawdown"`
	Trips    int64           `json:"round_trips"`
	Fees     backtest.Amount `json:"fees"`
	Final    backtest.Amount `json:"final_equity"`
	Days     int64           `json:"daily_returns"`
	// P is 1 − PSR against cash: the share of records of this length without any edge whose
	// Sharpe ratio is at least as high; null: it is undefined, or there is no days.csv.
	P     backtest.Figure `json:"psr_p"`
	Tries *Tries          `json:"tries,omitempty"` // null: no ledger knows these candles

	Files []string `json:"files"` // that can be fetched, by their paths
}

// readEntry reads the figures of a result. An error is a part of the entry.
func readEntry(root *os.Root, p place) Entry {
	e := Entry{Name: p.path, Kind: Backtest, ChangedMS: p.changed.UnixMilli(), Strategies: []string{},
		Markets: []string{}, Warnings: []string{}}
	text, err := readFile(root, path.Join(p.path, "result.json"), maxResult)
	var r *backtest.Result
	if err == nil {
		r, err = compare.Decode(p.path, text)
	}
	if err != nil {
		e.Error = plain(err)
		return e
	}
	if _, err := root.Lstat(path.Join(p.path, "walkforward.html")); err == nil {
		e.Kind = WalkForward
	}
	e.fill(r)
	e.P = recordOf(root, p.path)
	return e
}

// fill takes the figures of a result.
func (e *Entry) fill(r *backtest.Result) {
	e.Title, e.Synthetic, e.From, e.To = r.Title, r.Synthetic, r.From, r.To
	e.Code, e.Data, e.Config = r.Run.CodeVersion, r.Run.DataHash, r.Run.ConfigHash
	e.Warnings = append(e.Warnings, r.Warnings...)
	for i := range r.Strategies {
		e.Strategies = append(e.Strategies, r.Strategies[i].Kind)
		e.Markets = append(e.Markets, r.Strategies[i].Markets...)
	}
	slices.Sort(e.Strategies)
	slices.Sort(e.Markets)
	e.Strategies, e.Markets = slices.Compact(e.Strategies), slices.Compact(e.Markets)
	p := &r.Performance
	e.Currency, e.Return, e.CAGR, e.Sharpe, e.Drawdown = r.Currency, p.Return, p.CAGR, p.Sharpe, p.Drawdown.Depth
	e.Trips, e.Fees, e.Final, e.Days = r.Trips.Count, p.Fees, p.Final, p.Days
}

// recordOf is 1 − PSR of the daily returns; NaN where there are none.
func recordOf(root *os.Root, folder string) backtest.Figure {
	none := backtest.Figure(math.NaN())
	days, err := compare.ReadDays(folder, reader(root, folder))
	if err != nil || len(days) < 3 {
		return none
	}
	returns := make([]float64, len(days))
	for i := range days {
		returns[i] = days[i].Return
	}
	record, err := stats.TrackRecordOf(returns)
	if err != nil {
		return none
	}
	return backtest.Figure(record.P(0))
}

// reader reads the files of a result folder, of a bounded size.
func reader(root *os.Root, folder string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		most := int64(maxTable)
		if name == "result.json" {
			most = maxResult
		}
		return readFile(root, path.Join(folder, name), most)
	}
}

func readRun(root *os.Root, folder string) (*compare.Run, error) {
	return compare.ReadFrom(folder, reader(root, folder))
}

// plain is an error in words without the paths of the system.
func plain(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Sprintf("%s: %v", at.Path, at.Err)
	}
	return err.Error()
}

// Result is a result whole: the answer of /api/v1/result.
type Result struct {
	Entry
	Result json.RawMessage `json:"result"` // the content of result.json
	Trades Table           `json:"trades"` // the rows of trades.csv

	Whole   *backtest.Result `json:"-"` // the same
	Run     *compare.Run     `json:"-"` // with its curve; nil: the folder has none
	NoCurve string           `json:"-"` // why not
}

// Settings are the strategies of the run with their parameters: names and values.
func (r *Result) Settings() (rows [][2]string) {
	for i := range r.Whole.Strategies {
		one := &r.Whole.Strategies[i]
		rows = append(rows, [2]string{one.Name, one.Kind + " on " + strings.Join(one.Markets, ", ") + ", " +
			one.Interval})
		for _, p := range one.Params {
			rows = append(rows, [2]string{one.Name + "." + p.Name, p.Value})
		}
	}
	return rows
}

// Result reads a result.
func (s *Folder) Result(name string) (*Result, error) {
	entry, err := s.entry(name)
	if err != nil {
		return nil, err
	}
	if entry.Error != "" {
		return nil, notFound("%s", entry.Error)
	}
	root, err := os.OpenRoot(s.Folder)
	if err != nil {
		return nil, fmt.Errorf("read the folder of results: %w", err)
	}
	defer root.Close()
	r := &Result{Entry: entry}
	if r.Result, err = readFile(root, path.Join(name, "result.json"), maxResult); err != nil {
		return nil, err
	}
	if r.Whole, err = compare.Decode(name, r.Result); err != nil {
		return nil, err
	}
	if r.Run, err = readRun(root, name); err != nil {
		r.Run, r.NoCurve = nil, plain(err)
	}
	r.Trades = readTable(root, path.Join(name, "trades.csv"))
	return r, nil
}

// entry is the entry of a name.
func (s *Folder) entry(name string) (Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.look(); err != nil {
		return Entry{}, err
	}
	e, known := s.entries[name]
	if !known {
		return Entry{}, notFound("there is no result %q in %s", name, s.Folder)
	}
	one := e.value
	one.Tries = s.tries.of(&one)
	return one, nil
}

// MaxCompared is the number of results that a page compares.
const MaxCompared = 5

// maxDays is the most daily returns of a result that is compared: they are drawn again 4,999 times.
const maxDays = 40_000

// Compare holds results against each other: the answer of /api/v1/compare, as bot compare --json
// has it.
func (s *Folder) Compare(names ...string) (*compare.Comparison, error) {
	if len(names) < 2 || len(names) > MaxCompared {
		return nil, WrongError{fmt.Sprintf("%d results: choose 2 to %d", len(names), MaxCompared)}
	}
	runs := make([]*compare.Run, len(names))
	for i, name := range names {
		var err error
		if runs[i], err = s.run(name); err != nil {
			return nil, err
		}
		if n := len(runs[i].Days); n > maxDays {
			return nil, WrongError{fmt.Sprintf("%s has %d daily returns, and a page compares at most %d", name, n,
				maxDays)}
		}
	}
	o, err := compare.Compare(runs)
	if err != nil {
		return nil, WrongError{err.Error()}
	}
	return o, nil
}

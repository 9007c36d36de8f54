package compare

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// Run is a finished backtest, read from its folder. The JSON has the names of result.json.
type Run struct {
	Name string `json:"name"` // Compare gives it: no two runs have one name
	Dir  string `json:"dir"`
	Figures
	Result *backtest.Result `json:"-"`
	Equity []Sample         `json:"-"` // as equity.csv has it: thinned
	Days   []Day            `json:"-"` // nil: the folder has no days.csv

	read func(name string) ([]byte, error) // a file of the folder
}

// Figures are the parts of a result that a comparison shows.
type Figures struct {
	Title       string               `json:"title"`
	Info        backtest.RunInfo     `json:"run"`
	From        backtest.Moment      `json:"from"`
	To          backtest.Moment      `json:"to"`
	Performance backtest.Performance `json:"performance"`
	Hold        backtest.Hold        `json:"buy_and_hold"`
	Trips       backtest.TripFigures `json:"trips"`
}

// A Sample is the equity at a close.
type Sample struct {
	At     market.Time
	Equity float64
}

// A Day is a UTC day with its return.
type Day struct {
	End    market.Time
	Return float64
}

// Read reads a result folder, or the folder of a result.json.
func Read(path string) (*Run, error) {
	dir := filepath.Clean(path)
	if filepath.Base(dir) == "result.json" {
		dir = filepath.Dir(dir)
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such folder", path)
	case err != nil:
		return nil, err
	case !info.IsDir() && filepath.Ext(dir) == ".sweep":
		return nil, fmt.Errorf("%s is the file of a sweep: run its best set with the command that bot sweep printed, "+
			"and compare that folder", path)
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no result folder of bot backtest", path)
	}
	return ReadFrom(dir, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) })
}

// ReadFrom reads a result folder whose files another function reads by their names. dir is the
// folder for errors and for names of runs.
func ReadFrom(dir string, read func(name string) ([]byte, error)) (*Run, error) {
	r := &Run{Dir: dir, read: read}
	text, err := read("result.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no result folder: it has no result.json; bot backtest writes one", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, "result.json"), err)
	}
	if r.Result, err = Decode(dir, text); err != nil {
		return nil, err
	}
	res := r.Result
	r.Figures = Figures{res.Title, res.Run, res.From, res.To, res.Performance, res.Hold, res.Trips}
	return r, r.tables()
}

// Decode reads the text of a result.json. dir is its folder, for errors.
func Decode(dir string, text []byte) (*backtest.Result, error) {
	r := &backtest.Result{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, "result.json"), err)
	}
	switch {
	case r.Format > backtest.Format:
		return nil, fmt.Errorf("%s has a result of format %d, and this program reads %d: use the newer program", dir,
			r.Format, backtest.Format)
	case r.Format < backtest.Format:
		return nil, fmt.Errorf("%s has the result of an older program, whose daily returns lack the first day: run "+
			"the backtest again", dir)
	}
	return r, nil
}

// tables reads the curve and the days.
func (r *Run) tables() error {
	err := r.table("equity.csv", "equity", func(at market.Time, x float64) {
		r.Equity = append(r.Equity, Sample{at, x})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no equity.csv; bot backtest writes it beside result.json", r.Dir)
	}
	if err == nil && (len(r.Equity) == 0 || r.Equity[0].Equity <= 0) {
		err = fmt.Errorf("%s has no curve: the run saw no candle, or had no money", filepath.Join(r.Dir, "equity.csv"))
	}
	if err != nil {
		return err
	}
	r.Days, err = readDays(r)
	return err
}

// ReadDays reads the daily returns of a result folder; nil: it has no days.csv. Its parameters are
// those of ReadFrom.
func ReadDays(dir string, read func(name string) ([]byte, error)) ([]Day, error) {
	return readDays(&Run{Dir: dir, read: read})
}

func readDays(r *Run) ([]Day, error) {
	days := []Day{}
	err := r.table("days.csv", "return", func(at market.Time, x float64) { days = append(days, Day{at, x}) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return days, err
}

// table reads the first two columns of a table, which are a time in milliseconds and a number. The
// times rise.
func (r *Run) table(name, column string, take func(market.Time, float64)) error {
	path := filepath.Join(r.Dir, name)
	text, err := r.read(name)
	if err != nil {
		return err
	}
	rows := csv.NewReader(bytes.NewReader(text))
	rows.ReuseRecord = true
	head, err := rows.Read()
	if err != nil || len(head) < 2 || head[0] != "time_ms" || head[1] != column {
		return fmt.Errorf("%s does not begin with time_ms,%s", path, column)
	}
	before := market.Time(math.MinInt64)
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		line, _ := rows.FieldPos(0)
		at, value, err := sampleOf(row[0], row[1])
		if err == nil && at <= before {
			err = errors.New("its time is not after that of the line before")
		}
		if err != nil {
			return fmt.Errorf("read %s: line %d: %w", path, line, err)
		}
		take(at, value)
		before = at
	}
}

func sampleOf(ms, number string) (market.Time, float64, error) {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%q is no time in milliseconds", ms)
	}
	at, err := market.TimeOfMillis(n)
	if err != nil {
		return 0, 0, err
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, 0, fmt.Errorf("%q is no number", number)
	}
	return at, x, nil
}

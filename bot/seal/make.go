package seal

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/compare"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Options are a person's decisions about a promise.
type Options struct {
	OutOfSample market.Time // the first day that no choice has seen; 0: none is known
	Slippage    float64     // at most, in bps, on average
	Horizon     int         // days of the drawdown
	Chance      float64     // that the drawdown is exceeded within it
	Level       float64     // share of kept promises that are ever called broken
}

// DefaultOptions are those of `bot seal` without flags.
func DefaultOptions() Options {
	return Options{Slippage: 5, Horizon: stats.DaysPerYear, Chance: 0.01, Level: 0.05}
}

// drawdownResamples is how often the days are drawn again for the depth of the drawdown.
const drawdownResamples = 4999

// walkPage is the page in the folder of a walk-forward, all of whose days are out of sample.
const walkPage = "walkforward.html"

// dailyRecord is the record of a backtest, by UTC day from the day on which a strategy could trade.
type dailyRecord struct {
	first    int64 // day
	returns  []float64
	exposure []float64 // at the beginning of the day, as a part of the equity
	trips    []float64
}

// FromBacktest makes a document of the result folder of a backtest. Its program and search stay
// empty. The warnings are for the person who seals.
func FromBacktest(dir string, o Options) (d *Document, warnings []string, err error) {
	run, err := compare.Read(dir)
	if err != nil {
		return nil, nil, err
	}
	if run.Days == nil {
		return nil, nil, fmt.Errorf("%s has no days.csv: run the backtest again", dir)
	}
	rec, err := readRecord(run)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	d = &Document{Version: documentVersion, Currency: run.Result.Currency, Backtest: backtestOf(run, rec)}
	for _, s := range run.Result.Strategies {
		d.Strategies = append(d.Strategies, Strategy{s.Name, s.Kind, s.Markets, s.Interval, s.Params})
	}
	if err := d.hashFiles(run.Dir); err != nil {
		return nil, nil, err
	}
	from := 0
	if _, err := os.Stat(filepath.Join(run.Dir, walkPage)); err == nil {
		d.Backtest.Walk = true
		o.OutOfSample = max(o.OutOfSample, dayTime(rec.first))
	}
	if o.OutOfSample != 0 {
		from = int(max(0, min(o.OutOfSample.Day()-rec.first, int64(len(rec.returns)))))
		d.Backtest.OutOfSample = dateOf(o.OutOfSample)
	} else {
		warnings = append(warnings,
			"no day is out of sample: the promise rests on the days on which the parameters may "+
				"have been chosen, and such a promise is mostly too good; name the first day that no choice has seen "+
				"with --out-of-sample, or seal the result of bot walkforward")
	}
	d.Backtest.OutOfSampleDays = len(rec.returns) - from
	more, err := d.promise(rec, from, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	if d.Backtest.Synthetic {
		warnings = append(warnings, "the candles are synthetic: this promise says nothing about real money")
	}
	return d, append(warnings, more...), nil
}

func backtestOf(run *compare.Run, rec *dailyRecord) Backtest {
	info := &run.Result.Run
	return Backtest{Title: run.Title, Run: info.ID, CodeVersion: info.CodeVersion, ConfigHash: info.ConfigHash,
		DataHash: info.DataHash, From: run.From.Date(), To: run.To.Date(), Days: len(rec.returns),
		Synthetic: run.Result.Synthetic}
}

// hashFiles notes the hashes of the files that the promise was made from.
func (d *Document) hashFiles(dir string) error {
	for name, into := range map[string]*string{"result.json": &d.Backtest.ResultSHA256,
		"days.csv": &d.Backtest.DaysSHA256} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		*into = hashOf(text)
	}
	return nil
}

// promise makes the promises from the days out of sample. A quantity that the backtest says nothing
// about gets no weight.
func (d *Document) promise(rec *dailyRecord, from int, o Options) (warnings []string, err error) {
	p := &d.Promise
	p.Level = o.Level
	returns := rec.returns[from:]
	if p.Return, err = stats.PromiseOfReturns(rec.returns, returns, flatExposure(rec.exposure[from:])); err != nil {
		return nil, fmt.Errorf("promise of the return: %w", err)
	}
	if p.Return.Mean <= 0 {
		warnings = append(warnings, fmt.Sprintf("the promised return is not above 0 (%.3f standard deviations a day, "+
			"after one standard error): only losses can break it", p.Return.Mean))
	}
	p.Weights[stats.QuantityReturn] = 1
	p.Slippage = stats.SlippagePromise{Unit: 10, Most: o.Slippage / 10, Clip: 4}
	p.Weights[stats.QuantitySlippage] = 1
	if p.Trips, err = stats.PromiseOfTrips(rec.trips[from:]); err == nil {
		p.Weights[stats.QuantityTrips] = 1
	} else {
		warnings = append(warnings, fmt.Sprintf("round trips are not promised: %v", err))
	}
	p.Drawdown, err = stats.PromiseOfDrawdown(returns, o.Horizon, o.Chance, drawdownResamples, 1)
	if err == nil {
		p.Weights[stats.QuantityDrawdown] = 1
	} else {
		warnings = append(warnings, fmt.Sprintf("the drawdown is not promised: %v", err))
	}
	sum := 0.0
	for _, weight := range p.Weights {
		sum += weight
	}
	for q := range p.Weights {
		p.Weights[q] /= sum
	}
	return warnings, p.Check()
}

// flatDays is the number of days in a row without a position from which the promise of a day
// follows the exposure.
const flatDays = 7

// flatExposure is the mean exposure at the beginning of the days, 0 where the strategy is never
// flat for a week.
func flatExposure(exposure []float64) float64 {
	mean, flat, longest := 0.0, 0, 0
	for _, x := range exposure {
		mean += min(max(x, 0), 1) / float64(len(exposure))
		if flat++; x > 0 {
			flat = 0
		}
		longest = max(longest, flat)
	}
	if longest < flatDays {
		return 0
	}
	return mean
}

// readRecord reads the days of a result folder.
func readRecord(run *compare.Run) (*dailyRecord, error) {
	if len(run.Days) == 0 {
		return nil, errors.New("it has no whole day")
	}
	rec := &dailyRecord{}
	began := beganDay(run.Result.Strategies)
	for _, d := range run.Days {
		day := d.End.Day() - 1
		if day < began {
			continue
		}
		if len(rec.returns) == 0 {
			rec.first = day
		}
		if day != rec.first+int64(len(rec.returns)) {
			return nil, fmt.Errorf("days.csv lacks days before %s", dateOf(dayTime(day)))
		}
		rec.returns = append(rec.returns, d.Return)
	}
	rec.trips, rec.exposure = make([]float64, len(rec.returns)), make([]float64, len(rec.returns))
	err := eachRow(run.Dir, "trades.csv", []string{"exit_time_ms"}, func(row []float64) {
		if at := dayOfMS(row[0]) - rec.first; at >= 0 && at < int64(len(rec.trips)) {
			rec.trips[at]++
		}
	})
	if err != nil {
		return nil, err
	}
	return rec, rec.readExposure(run.Dir)
}

// beganDay is the first day on which a strategy could trade.
func beganDay(list []backtest.StrategyInfo) int64 {
	first := int64(math.MaxInt64)
	for i := range list {
		for _, b := range list[i].Began {
			if b.At != 0 {
				first = min(first, market.Time(b.At).Day())
			}
		}
	}
	if first == math.MaxInt64 {
		return math.MinInt64 // none could: each day counts
	}
	return first
}

// readExposure takes, for each day, the last sample before it; the curve is thinned.
func (rec *dailyRecord) readExposure(dir string) error {
	next, last := 0, 0.0
	err := eachRow(dir, "equity.csv", []string{"time_ms", "equity", "exposure"}, func(row []float64) {
		for ; next < len(rec.exposure) && dayOfMS(row[0]) >= rec.first+int64(next); next++ {
			if dayTime(rec.first+int64(next)).Millis() == int64(row[0]) {
				break // the sample is of midnight itself
			}
			rec.exposure[next] = last
		}
		last = 0
		if row[1] > 0 {
			last = row[2] / row[1]
		}
	})
	for ; next < len(rec.exposure); next++ {
		rec.exposure[next] = last
	}
	return err
}

func dayOfMS(ms float64) int64 {
	return int64(math.Floor(ms / float64(24*time.Hour/time.Millisecond)))
}

// eachRow calls visit with columns of a table of numbers.
func eachRow(dir, name string, columns []string, visit func(row []float64)) error {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("it needs all files of a backtest: %w", err)
	}
	rows := csv.NewReader(bytes.NewReader(text))
	all, err := rows.ReadAll()
	if err != nil || len(all) == 0 {
		return fmt.Errorf("%s is no table: %w", name, err)
	}
	places := make([]int, len(columns))
	for i, column := range columns {
		if places[i] = slices.Index(all[0], column); places[i] < 0 {
			return fmt.Errorf("%s has no column %s", name, column)
		}
	}
	values := make([]float64, len(columns))
	for line, row := range all[1:] {
		for i, place := range places {
			if values[i], err = strconv.ParseFloat(row[place], 64); err != nil {
				return fmt.Errorf("%s: line %d: %q is no number", name, line+2, row[place])
			}
		}
		visit(values)
	}
	return nil
}

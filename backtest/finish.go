package backtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// About describes a run; it stands in the result and changes nothing.
type About struct {
	Title       string // of the report, such as "trend on BTC-EUR"
	Synthetic   bool   // the candles come from a generator
	Warnings    []string
	CodeVersion string
	ConfigHash  string
	DataHash    string
	Seed        uint64
	Data        []DataInfo
	Assumptions []string // one line each, the most important first
	Universes   []Universe
}

// finishInfo is the driver's part of the Result. Slices are copied as they are, except that
// Refusals are sorted.
type finishInfo struct {
	About
	To          market.Time // end of the last candle; 0: the last Mark
	Strategies  []StrategyInfo
	Path        string       // how prices move within a candle in this run
	Others      []pathEquity // the same run under other paths
	Late        []pathEquity // the same run with signals that arrive later, by the names of the delays
	Refusals    []Count
	Ambiguous   int64 // candles in which own orders could have filled in either order
	Unprotected time.Duration
	Causes      []CauseSeconds // of it
	OneCandle   *OneCandleExits
	Queue       *sim.QueueCounts
	Delisted    []Delisting
}

// pathEquity is the final equity of the run under another order of the prices within a candle.
type pathEquity struct {
	Path  string
	Final market.Money
}

// Finish ends the recording, computes the Result and, with a folder, writes the files. After an
// error no new file is left in the folder. Record nothing after it.
func (r *recorder) Finish(info finishInfo) (*Result, error) {
	if err := r.Err(); err != nil {
		r.Abort()
		return nil, fmt.Errorf("record the run: %w", err)
	}
	if info.To == 0 {
		info.To = r.last.at
	}
	r.closeMonth()
	res := r.result(info)
	if r.cfg.Tried != nil {
		t := r.track()
		res.Tries = r.cfg.Tried(&t)
	}
	if r.out == nil {
		return res, nil
	}
	if err := r.publish(res); err != nil {
		r.Abort()
		return nil, err
	}
	return res, nil
}

// result puts the figures together.
func (r *recorder) result(info finishInfo) *Result {
	res := &Result{
		Format: Format, Title: info.Title, Synthetic: info.Synthetic, Warnings: append([]string{}, info.Warnings...),
		Run: RunInfo{
			ID: r.cfg.Run.String(), CodeVersion: info.CodeVersion, ConfigHash: info.ConfigHash, DataHash: info.DataHash,
			Seed: info.Seed,
		},
		From: Moment(r.cfg.From), To: Moment(info.To), Currency: r.cfg.Currency.Symbol,
		Strategies: info.Strategies, Data: info.Data, Rules: r.rules(),
		Performance: r.performance(info.To), Hold: r.buyAndHold(info.To),
		Trips: r.tally.figures(r.held.open()), Orders: r.tally.orders, Months: r.months,
		Files: []string{}, Envelope: r.envelope(info), Candles: r.candles(info),
		Refusals: append([]Count{}, info.Refusals...), UnprotectedBy: append([]CauseSeconds{}, info.Causes...),
		Unprotected: Seconds(info.Unprotected), Assumptions: info.Assumptions, Definitions: definitions(),
		OneCandle: info.OneCandle, Queue: info.Queue, Universes: info.Universes, Delisted: info.Delisted,
		Hindsight: r.late(info),
	}
	res.Performance.Alpha, res.Performance.Beta = r.marketModel()
	res.Drawdowns = r.equity.drawdowns(info.To)
	slices.SortFunc(res.Refusals, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	res.Warnings = append(res.Warnings, r.plots.warnings()...)
	res.curve = r.points()
	if r.kept != nil {
		res.Trades, res.Fills = r.kept.trades, r.kept.fills
	}
	return res
}

// performance computes the account's figures.
func (r *recorder) performance(to market.Time) Performance {
	growth := float64(r.last.equity) / float64(r.cfg.Start)
	traded := r.tally.amount(r.tally.traded)
	fees, rounding := r.tally.charged()
	return Performance{
		Start: r.amount(r.cfg.Start), Final: r.amount(r.last.equity), Gain: r.amount(r.last.equity - r.cfg.Start),
		Fees: fees, Rounding: rounding, Traded: traded,
		Turnover: Figure(r.tally.traded.Float(r.tally.digits) / r.amount(r.cfg.Start).Float()),
		Exposure: Figure(float64(r.invested) / float64(r.marks)),
		Ratios:   r.equity.ratios(growth, 0, r.span(to), to),
	}
}

func undefinedRatios() Ratios {
	u := undefined()
	return Ratios{Return: u, CAGR: u, Volatility: u, Sharpe: u, Sortino: u, Calmar: u, Drawdown: Drawdown{Depth: u}}
}

// holdEquity is start·price ÷ (open·(1+fee)), rounded down; at most the largest amount.
func holdEquity(start market.Money, open, price market.Price, fee market.Rate) market.Money {
	one := market.Pow10(market.RateDigits)
	up := new(big.Int).Mul(big.NewInt(int64(start)), big.NewInt(int64(price)))
	up.Mul(up, big.NewInt(one))
	down := new(big.Int).Mul(big.NewInt(int64(open)), big.NewInt(one+int64(fee)))
	if down.Sign() <= 0 {
		return start
	}
	if up.Quo(up, down); !up.IsInt64() {
		return math.MaxInt64
	}
	return market.Money(up.Int64())
}

// envelope returns the chosen path first, then the others.
func (r *recorder) envelope(info finishInfo) []PathEnd {
	if len(info.Others) == 0 {
		return []PathEnd{}
	}
	all := []PathEnd{r.outcome(pathEquity{info.Path, r.last.equity})}
	all[0].Chosen = true
	for _, other := range info.Others {
		all = append(all, r.outcome(other))
	}
	return all
}

func (r *recorder) outcome(p pathEquity) PathEnd {
	return PathEnd{Path: p.Path, Final: r.amount(p.Final), Return: Figure(float64(p.Final)/float64(r.cfg.Start) - 1)}
}

// candles sums the figures of the data.
func (r *recorder) candles(info finishInfo) CandleFigures {
	f := CandleFigures{Groups: r.marks, Ambiguous: info.Ambiguous}
	var read int64
	for _, d := range info.Data {
		read, f.NoTrade, f.Missing = read+d.Candles, f.NoTrade+d.NoTrade, f.Missing+d.Missing
	}
	f.AmbiguousShare = Figure(float64(info.Ambiguous) / float64(read))
	return f
}

// rules lists the rules of all markets of the catalog.
func (r *recorder) rules() []Rules {
	all := make([]Rules, 0, len(r.cfg.Catalog.Markets()))
	for _, m := range r.cfg.Catalog.Markets() {
		all = append(all, Rules{
			Market: m.Name, Status: m.Status.String(), PriceDigits: m.PriceDigits, TickSize: m.FormatPrice(m.TickSize),
			AmountDigits: m.AmountDigits, QuantityDecimals: m.QuantityDecimals, NotionalDecimals: m.NotionalDecimals,
			MinOrderInBase: m.FormatQty(m.MinOrderInBase), MinOrderInQuote: m.FormatMoney(m.MinOrderInQuote),
			MaxOrderInBase: m.FormatQty(m.MaxOrderInBase), MaxOrderInQuote: m.FormatMoney(m.MaxOrderInQuote),
			MaxOpenOrders: m.MaxOpenOrders, FeeCategory: m.FeeCategory,
		})
	}
	return all
}

// points returns the equity curve with its extremes and the ends of the deepest fall.
func (r *recorder) points() []sample {
	if r.marks == 0 || !r.curve.has {
		return nil
	}
	return r.curve.points(r.last, r.extremes.known()...)
}

// ConfigFile is the name of the file with Options.Config. A Result does not list it.
const ConfigFile = "config.json"

// putConfig puts the config beside the results.
func (r *recorder) putConfig() error {
	if r.cfg.Config == nil {
		return nil
	}
	t, err := r.out.create(ConfigFile)
	if err == nil {
		_, err = t.Write(r.cfg.Config)
	}
	return err
}

// publish writes the files that need the whole run and gives all files their names, result.json
// last.
func (r *recorder) publish(res *Result) error {
	if !r.plots.empty() {
		t, err := r.out.create("plots.csv")
		if err != nil {
			return err
		}
		r.plots.write(t)
	}
	if err := r.putConfig(); err != nil {
		return err
	}
	var equity, days, page, whole *table
	for _, t := range []struct {
		to   **table
		name string
	}{{&equity, "equity.csv"}, {&days, "days.csv"}, {&page, "report.html"}, {&whole, "result.json"}} {
		var err error
		if *t.to, err = r.out.create(t.name); err != nil {
			return err
		}
	}
	res.Files = slices.DeleteFunc(r.out.names(), func(name string) bool { return name == ConfigFile })
	res.Dir = r.cfg.Out
	writeCurve(equity, res.curve, r.cfg.Currency.Digits)
	writeDays(days, *r.equity.daily)
	if err := r.report(res).Write(page); err != nil {
		return fmt.Errorf("write %s: %w", page.name, err)
	}
	if err := writeJSON(whole, res); err != nil {
		return fmt.Errorf("write %s: %w", whole.name, err)
	}
	return r.out.publish()
}

func writeCurve(t *table, curve []sample, digits uint8) {
	t.buf = append(t.buf, equityHeader...)
	for _, s := range curve {
		t.buf = appendSample(t.buf, s, digits)
		t.flushFull()
	}
}

// writeDays writes the daily returns, which equity.csv cannot have: it is thinned.
func writeDays(t *table, days []report.Day) {
	t.buf = append(t.buf, daysHeader...)
	for _, d := range days {
		t.buf = strconv.AppendInt(t.buf, d.End.Millis(), 10)
		t.buf = append(t.buf, ',')
		t.buf = append(strconv.AppendFloat(t.buf, d.Return, 'g', -1, 64), '\n')
		t.flushFull()
	}
}

func writeJSON(t *table, res *Result) error {
	enc := json.NewEncoder(t)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(res)
}

// JSON returns the result as result.json has it.
func (res *Result) JSON() ([]byte, error) { return json.MarshalIndent(res, "", "  ") }

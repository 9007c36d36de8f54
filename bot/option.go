package bot

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// Option is a setting of Backtest.
//
// Closes, Bars, CSV, Candles and Store give candles. The strategy trades in all markets that they
// name, on the interval of the first, unless Interval names another; longer intervals are merged
// from the given ones. Several series go together, for several markets or intervals; Store goes
// alone. Prices have at least two decimals. With Universe, the strategy trades the best ranked of
// the markets.
type Option struct{ apply func(q *quick) error }

// quick has the settings of the options of a Backtest.
type quick struct {
	interval  market.Interval // 0: not said yet
	markets   []string
	given     []plan.Series
	store     string
	bare      error            // Store names no market; nil: it does
	universe  *config.Override // nil: the strategy trades all markets
	cash, out string
	overrides []config.Override
	log       zerolog.Logger
	counted   bool
}

// trade adds a market, and the interval unless there is one.
func (q *quick) trade(name string, interval market.Interval) {
	if !slices.Contains(q.markets, name) {
		q.markets = append(q.markets, name)
	}
	if q.interval == 0 {
		q.interval = interval
	}
}

// set overrides a key of the config. Errors about it begin with the option.
func (q *quick) set(option, text string, path ...string) {
	q.overrides = append(q.overrides, config.Override{Flag: option, Path: path, Text: text, Word: true})
}

// library opens the candles.
func (q *quick) library(c *config.Backtest) (plan.Library, error) {
	if len(q.given) > 0 {
		return plan.NewGiven(q.given)
	}
	return plan.OpenLibrary(c)
}

// Interval is the interval on which the strategy trades, where it is not that of the first candles:
// with candles of 1m given, it can trade on 1h, and its orders meet the prices of the minutes.
func Interval(interval market.Interval) Option {
	return Option{func(q *quick) error {
		q.interval = interval
		return nil
	}}
}

// Store takes candles from a store, the file that `bot candles` writes.
func Store(file string, interval market.Interval, markets ...string) Option {
	return Option{func(q *quick) error {
		if q.store != "" && q.store != file {
			return fmt.Errorf("bot.Store(%q, …) beside bot.Store(%q, …): a run has one store", file, q.store)
		}
		q.store = file
		if len(markets) == 0 {
			q.bare = fmt.Errorf("bot.Store(%q, %s): no market is named; add one, such as \"BTC-EUR\"", file, interval)
			q.interval = cmp.Or(q.interval, interval)
		}
		for _, name := range markets {
			q.trade(name, interval)
		}
		return nil
	}}
}

// Counted counts the run as a try, in the ledger beside the Store: runs of tests do not count
// otherwise. A range that is sealed is refused.
func Counted() Option {
	return Option{func(q *quick) error {
		q.counted = true
		return nil
	}}
}

// Universe lets the strategy trade, each day, the markets with the largest volume by what was known
// then: rank is "volume30d", "volume7d" or "volume1d", top how many are members. The markets are
// those of the given candles, or all of the store, of which Store then names none, or one for
// another currency than EUR. A candle of Closes has a volume of 1. A market needs a known volume on
// nine tenths of the days; Set("strategies.NAME.universe.min_days", "1") changes that, NAME is the
// strategy's.
func Universe(rank string, top int) Option {
	return Option{func(q *quick) error {
		q.universe = &config.Override{Flag: fmt.Sprintf("bot.Universe(%q, %d)", rank, top),
			Text: fmt.Sprintf("{rank = %q, top = %d}", rank, top)}
		return nil
	}}
}

// CSV takes candles from a file, which `bot candles import` would read: with a header, or with the
// columns time, open, high, low, close, volume.
func CSV(name string, interval market.Interval, file string) Option {
	return Option{func(q *quick) error {
		place := fmt.Sprintf("bot.CSV(%q, %s, %q)", name, interval, file)
		in, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		defer in.Close()
		return q.parse(place, name, interval, in)
	}}
}

// Candles takes candles in the units of a market, of which Name, PriceDigits and VolumeDigits
// count. They are sorted by Start, have the same Interval, and are not changed any more. Their
// Market is ignored.
func Candles(m market.Market, list []market.Candle) Option {
	return Option{func(q *quick) error {
		if len(list) == 0 {
			return fmt.Errorf("bot.Candles(%q): there are no candles", m.Name)
		}
		return q.give(fmt.Sprintf("bot.Candles(%q)", m.Name), plan.Series{Market: m.Name, Interval: list[0].Interval,
			PriceDigits: m.PriceDigits, VolumeDigits: m.VolumeDigits, Candles: list})
	}}
}

// Cash is the money at the start, in the quote asset of the first market, as a decimal. Without it
// there are 10,000.
func Cash(money string) Option {
	return Option{func(q *quick) error {
		q.cash = money
		return nil
	}}
}

// Fees are the rates of maker and taker, with a unit: "0.15%", "15bps", or "0.0015". A rebate is
// negative. A rate above 0.02 without a unit is an error: it is probably meant in percent.
func Fees(maker, taker string) Option {
	return Option{func(q *quick) error {
		for i, text := range [...]string{maker, taker} {
			key := [...]string{"maker_fee", "taker_fee"}[i]
			if _, err := market.ParseRate(text); err != nil {
				return fmt.Errorf("bot.Fees(%q, %q): %q is no rate; want one like \"0.15%%\": %w", maker, taker, text,
					err)
			}
			q.set(fmt.Sprintf("bot.Fees(%q, %q)", maker, taker), text, "account", key)
		}
		return nil
	}}
}

// Between is the range to trade in, as --from and --to of `bot backtest`: "2024-01-01", RFC 3339 or
// Unix ms, and "" for no bound. The end is exclusive.
func Between(from, to string) Option {
	return Option{func(q *quick) error {
		for i, text := range [...]string{from, to} {
			if text != "" {
				q.set(fmt.Sprintf("bot.Between(%q, %q)", from, to), text, "backtest", [...]string{"from", "to"}[i])
			}
		}
		return nil
	}}
}

// Set sets any key of the config, as --set of `bot backtest` does: Set("backtest.path",
// "pessimistic"), Set("markets.BTC-EUR.min_order_in_quote", "5").
func Set(key, value string) Option {
	return Option{func(q *quick) error {
		sets, err := config.ParseSets([]string{key + "=" + value})
		if err != nil {
			return fmt.Errorf("bot.Set(%q, %q): the key is none; want one like \"risk.max_drawdown\"", key, value)
		}
		sets[0].Flag = fmt.Sprintf("bot.Set(%q, %q)", key, value)
		q.overrides = append(q.overrides, sets...)
		return nil
	}}
}

// Out writes the result files and report.html to a folder.
func Out(dir string) Option {
	return Option{func(q *quick) error {
		q.out = dir
		return nil
	}}
}

// Log writes what the strategy logs, refused orders among it, from the level info on.
// Log(t.Output()) shows it beside a failed test.
func Log(to io.Writer) Option {
	return Option{func(q *quick) error {
		q.log = console.Logger(to, "info", os.Getenv)
		return nil
	}}
}

// give adds candles.
func (q *quick) give(place string, s plan.Series) error {
	q.given = append(q.given, s)
	if _, err := plan.NewGiven(q.given); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	q.trade(s.Market, s.Interval)
	return nil
}

// leastDigits are the decimals that given prices have at least, so that a test with whole prices
// has a tick of 0.01 and not of 1.
const leastDigits = 2

// parse adds the candles of a CSV.
func (q *quick) parse(place, name string, interval market.Interval, in io.Reader) error {
	list, report, err := candles.ParseCSV(in, candles.ImportOptions{WriteOptions: candles.WriteOptions{Market: name,
		Interval: interval, PriceDigits: leastDigits}})
	if bad, is := errors.AsType[*candles.BadRowsError](err); is {
		return fmt.Errorf("%s: %d bad rows%s", place, bad.Total, badRows(bad.Rows))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return q.give(place, plan.Series{Market: name, Interval: interval, PriceDigits: report.PriceDigits,
		VolumeDigits: report.VolumeDigits, Candles: list})
}

func badRows(rows []candles.BadRow) (text string) {
	for _, row := range rows {
		text += fmt.Sprintf("\n  line %d: %s: %q", row.Line, row.Reason, row.Text)
	}
	return text
}

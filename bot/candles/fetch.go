package candles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

const fetchHelp = `Download closed candles from an exchange into the store, the newest first. No key is needed.

Each page is stored when it arrives. After a failure or a Ctrl-C, the same command goes on where it stopped: it never
requests an answered range again. An interval without a candle in an answered range counts as one without trades. An
interval outside the answered ranges, or before the first candle, is missing.

The command keeps to the exchange's weight budget, waits near its end, and waits for the end of a ban. It locks the
store only while it writes a page. A backtest can read the store between two pages, and the fetch waits for it.

With --markets it downloads no candles. It stores which markets there are, with their rules and volumes of the last 24
hours: one record a UTC day, for cron. A day keeps its first record. A backtest with a universe reads these records.
If -c is a config of bot run with a key, the record has the account's fees too: they are asked once for each fee
category of each quote asset.

-c takes a config of bot run, for base_url, prefix and weight_per_ip of its [exchange], or a config of bot backtest,
for the store of its [data].`

// defaultExchange is where bot exchange listens.
const defaultExchange = "http://127.0.0.1:8080"

// fetchFlags are the flags of the command beside those of all.
type fetchFlags struct {
	*storeFlags
	from, to, baseURL, prefix string
	markets                   bool
}

func (a *commands) fetchCommand(store *storeFlags) *cobra.Command {
	f := &fetchFlags{storeFlags: store}
	c := &cobra.Command{
		Use: "fetch", Short: "Download candles from an exchange", Long: fetchHelp, Args: cobra.NoArgs,
		Example: "  bot candles fetch --market BTC-EUR --interval 1m --from 2024-01-01 \\\n" +
			"    --base-url https://api.example.com/v2\n" +
			"  bot candles fetch --market BTC-EUR --interval 1h --from 2024-01-01 \\\n" +
			"    --to 2025-01-01 -c live.toml --db candles.db\n" +
			"  bot candles fetch --markets --base-url https://api.example.com/v2",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			if f.markets {
				return a.fetchMarkets(ctx, f)
			}
			return a.fetchCandles(ctx, f)
		}),
	}
	f.seriesFlags(c)
	f.jsonFlag(c)
	c.Flags().BoolVar(&f.markets, "markets", false, "record all markets, their rules and volumes, once a day")
	c.Flags().StringVar(&f.from, "from", "", "first candle: 2021-01-01, RFC 3339 or Unix ms (needed)")
	c.Flags().StringVar(&f.to, "to", "", "end, exclusive; without it, now")
	c.Flags().StringVar(&f.baseURL, "base-url", "",
		"`URL` of the exchange; without it that of -c, or that of bot exchange on this machine")
	c.Flags().StringVar(&f.prefix, "prefix", "",
		"brand in the `NAME`s of the exchange's headers, without the dash; without it that of -c, or Service")
	return c
}

func (a *commands) fetchCandles(ctx context.Context, f *fetchFlags) error {
	name, interval, err := f.series()
	if err != nil {
		return err
	}
	if f.from == "" {
		return config.Usagef("--from is needed, like --from 2024-01-01")
	}
	from, to, err := config.ParseRange(f.from, f.to)
	if err != nil {
		return err
	}
	w, remote, err := a.fetcher(f)
	if err != nil {
		return err
	}
	defer w.client.Close()
	w.interval, w.bar = interval, &console.Bar{}
	if err := w.prepare(ctx, name, from, to); err != nil {
		return absent(err, remote.BaseURL)
	}
	w.bar = console.NewBar(ctx, a.Stderr, "fetch", w.span.From, w.span.To, 1)
	defer w.bar.End()
	report, err := w.run(ctx)
	if err != nil {
		return ResumableError{err}
	}
	w.bar.End()
	if f.json {
		return console.PrintJSON(a.Stdout, report)
	}
	_, err = io.WriteString(a.Stdout, report.text())
	return err
}

// absent adds to an error that nothing listens at the address.
func absent(err error, baseURL string) error {
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return fmt.Errorf("%w; nothing listens at %s: is `bot exchange` running? --base-url names another exchange", err,
		baseURL)
}

// ResumableError is the end of a download of which a part is stored.
type ResumableError struct{ error }

// Error says how to go on.
func (e ResumableError) Error() string {
	return e.error.Error() + "; what came before is stored: the same command goes on from there"
}

// Unwrap returns the error itself.
func (e ResumableError) Unwrap() error { return e.error }

// remote is the exchange that is meant: flags stand over the config, the config over defaults.
func (f *fetchFlags) remote() (*config.ExchangeSection, error) {
	remote := &config.ExchangeSection{BaseURL: defaultExchange, Prefix: "Service"}
	c, err := f.runConfig()
	if err != nil {
		return nil, err
	}
	if c != nil {
		remote = &c.Exchange
	}
	remote.BaseURL, remote.Prefix = cmp.Or(f.baseURL, remote.BaseURL), cmp.Or(f.prefix, remote.Prefix)
	return remote, nil
}

// runConfig reads the config, if it is one of `bot run`; nil: it is not.
func (f *fetchFlags) runConfig() (*config.Run, error) {
	source, ofRun, err := f.source()
	if err != nil || !ofRun {
		return nil, err
	}
	return config.LoadRun(source)
}

// fetcher is a fetcher for the store and the exchange that are meant. The caller closes its client.
func (a *commands) fetcher(f *fetchFlags) (*fetcher, *config.ExchangeSection, error) {
	path, err := f.path()
	if err != nil {
		return nil, nil, err
	}
	remote, err := f.remote()
	if err != nil {
		return nil, nil, err
	}
	client, err := a.publicClient(remote)
	if err != nil {
		return nil, nil, config.Usagef("base URL or prefix of the exchange: %w", err)
	}
	return &fetcher{client: client, path: path, tell: func(text string) { console.Tell(a.Stderr, text) }}, remote, nil
}

// publicClient returns a client without a key that keeps to the budget of this machine's IP
// address. What the ledger has to say goes to the standard error.
func (a *commands) publicClient(remote *config.ExchangeSection) (*rest.Client, error) {
	var client *rest.Client
	ledger := plan.NewWeightBudget(remote, func() market.Time { return client.Now() },
		func(w rest.Warning) { console.Tell(a.Stderr, w.String()) })
	client, err := rest.New(rest.Config{BaseURL: remote.BaseURL, Prefix: remote.Prefix, Budget: ledger})
	return client, err
}

// fetchReport is the result of a fetch, as a program reads it.
type fetchReport struct {
	Market   string `json:"market"`
	Interval string `json:"interval"`
	FromMS   int64  `json:"from_ms"`
	ToMS     int64  `json:"to_ms"` // exclusive
	Requests int64  `json:"requests"`

	Added     int64 `json:"added"`
	Unchanged int64 `json:"unchanged"`
	Kept      int64 `json:"kept"`

	Candles     int64 `json:"candles"` // stored in the range, afterwards
	NoTrade     int64 `json:"no_trade"`
	Missing     int64 `json:"missing"`
	BeginningMS int64 `json:"beginning_ms"` // nothing is on the exchange before; 0: its beginning was not met
}

func (r *fetchReport) add(w candles.WriteReport) {
	r.Added += w.Added
	r.Unchanged += w.Unchanged
	r.Kept += w.Kept + w.Replaced
}

// timeOfMillis is market.Time.Millis backwards.
func timeOfMillis(ms int64) market.Time {
	t, _ := market.TimeOfMillis(ms) // it was made of a Time
	return t
}

// text is a line for the range and one for everything that occurred.
func (r *fetchReport) text() string {
	from, to, beginning := timeOfMillis(r.FromMS), timeOfMillis(r.ToMS), timeOfMillis(r.BeginningMS)
	text := fmt.Sprintf("%s %s from %s to %s: %d candles, %d requests\n", r.Market, r.Interval, from, to, r.Candles,
		r.Requests)
	for _, line := range [...]struct {
		count int64
		what  string
	}{
		{r.Added, "added"}, {r.Unchanged, "stored already with the same values"}, {r.Kept,
			"stored already with other values, which stay"},
		{r.NoTrade, "intervals without a trade"}, {r.Missing, "intervals missing"},
	} {
		if line.count > 0 {
			text += fmt.Sprintf("%9d %s\n", line.count, line.what)
		}
	}
	if beginning > 0 {
		text += fmt.Sprintf("          the exchange has nothing before %s\n", beginning)
	}
	return text
}

package bot

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/tax"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

const exportHelp = `Write what happened on the account as a table of lots, for an adviser: each purchase, sale, deposit
and withdrawal with the cost, and for each sale the lots that it used up by FIFO, by LIFO and by average
cost, a column each. At the end stands what is held, with its value at that time.

The command reads the account's own history and its trades from the exchange, so trades of other programs
and by hand are in it. A row of the history and a trade that are the same count once; each difference
stands in the column note, and the differences are counted at the end. Trades are asked for by market, 1,000
at a time from the latest back, 5 weight points each. --no-trades leaves them out.
Asked are the markets of the history, of the config and of --market.

Lots are pooled over the account. A deposit has no cost: it is "basis unknown", never 0. --opening FILE
names lots that were held before the history begins, as CSV: asset,amount,cost,acquired. --at gives what
is held and its values at another date than the end of the rows.

It is evidence for an adviser, no tax return.`

// exportFlags are the flags of the command.
type exportFlags struct {
	runFlags
	tax, opening, year, since, until, at, zone string
	markets                                    []string
	noTrades                                   bool
}

func exportCommand(a *app) *cobra.Command {
	f := &exportFlags{}
	c := &cobra.Command{
		Use: "export --tax FILE", Short: "Write the account's history with its lots, for an adviser", Args: onlyFlags,
		Long: exportHelp,
		Example: "  bot export --tax 2026.csv -c configs/sandbox.toml --year 2026\n  bot export --tax all.csv -c " +
			"my.toml --opening lots.csv --zone Europe/Berlin",
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.export(ctx, f) }),
	}
	flags := c.Flags()
	flags.StringVarP(&f.config, "config", "c", "", "config `FILE` of bot run, with the key of the account")
	flags.StringArrayVar(&f.sets, "set", nil, "change one setting: `a.b.c=value`; may be repeated")
	flags.StringVar(&f.tax, "tax", "", "write the table to this `FILE`")
	flags.StringVar(&f.opening, "opening", "", "CSV `FILE` of lots from before the history: asset,amount,cost,acquired")
	flags.StringVar(&f.year, "year", "", "rows of this `YEAR` alone; holdings at its end")
	flags.StringVar(&f.since, "since", "", "rows from this `TIME` on: 2026-11-01")
	flags.StringVar(&f.until, "until", "", "rows before this `TIME`; holdings and their values at it")
	flags.StringVar(&f.at, "at", "", "holdings and their values at this `TIME`: 2026-12-31, or 2026-12-31T18:00")
	flags.StringArrayVar(&f.markets, "market", nil, "read the trades of this `MARKET`, too, which neither the history "+
		"nor the config names; may be repeated")
	flags.BoolVar(&f.noTrades, "no-trades", false, "read the account's history alone, which no trade confirms then")
	flags.StringVar(&f.zone, "zone", "", "`ZONE` of the dates, like Europe/Berlin; without it bot.zone of the config")
	return c
}

// export runs the command.
func (a *app) export(ctx context.Context, f *exportFlags) error {
	if f.tax == "" {
		return config.Usagef("want a file: --tax FILE")
	}
	c, err := a.runConfigOf(&f.runFlags)
	if err != nil {
		return err
	}
	if c.Bot.Paper() {
		return config.Usagef("a bot in mode paper has no account at an exchange: there is nothing to declare")
	}
	c.Bot.NeedLimits = false
	p, err := plan.NewLive(c, a.Definitions, a.Getenv)
	if err != nil {
		return err
	}
	o, err := f.options(p)
	if err != nil {
		return err
	}
	var client *rest.Client
	ledger := plan.NewWeightBudget(&p.Config.Exchange, func() market.Time { return client.Now() },
		func(w rest.Warning) { console.Tell(a.Stderr, w.String()) })
	if client, err = p.Client(ledger); err != nil {
		return err
	}
	defer client.Close()
	return a.writeTax(ctx, f, p, client, o)
}

// options are the range and the zone of a report.
func (f *exportFlags) options(p *plan.Live) (*tax.Options, error) {
	zone, err := profit.Zone(cmp.Or(f.zone, p.Config.Bot.Zone))
	if err != nil {
		return nil, config.Usagef("%w", err)
	}
	o := &tax.Options{Currency: p.Config.Account.Currency, Zone: zone}
	if f.year != "" {
		year, err := strconv.Atoi(f.year)
		if err != nil || year < 2009 || year > 2200 || f.since+f.until != "" {
			return nil, config.Usagef("--year %q: want a year like 2026, without --since and --until", f.year)
		}
		o.From, o.To = market.Midnight(year, 1, 1, zone), market.Midnight(year+1, 1, 1, zone)
	}
	for _, bound := range [...]struct {
		name, text string
		into       *time.Time
	}{{"since", f.since, &o.From}, {"until", f.until, &o.To}} {
		if bound.text == "" {
			continue
		}
		if *bound.into, err = tax.Date(bound.text, zone); err != nil {
			return nil, config.Usagef("--%s %q: want a date like 2026-11-01", bound.name, bound.text)
		}
	}
	if !o.To.IsZero() && !o.From.Before(o.To) {
		return nil, config.Usagef("--since %s --until %s: want the earlier date first", f.since, f.until)
	}
	if f.at == "" {
		return o, nil
	}
	if o.At, err = tax.Date(f.at, zone); err != nil {
		if o.At, err = time.ParseInLocation("2006-01-02T15:04", f.at, zone); err != nil {
			return nil, config.Usagef("--at %q: want a date like 2026-12-31, or a time like 2026-12-31T18:00", f.at)
		}
	}
	return o, nil
}

// writeTax reads the account and writes the file.
func (a *app) writeTax(ctx context.Context, f *exportFlags, p *plan.Live, client *rest.Client, o *tax.Options) error {
	var lots []tax.Transaction
	if f.opening != "" {
		var err error
		if lots, err = openingLots(f.opening, o.Zone); err != nil {
			return err
		}
	}
	if err := client.Sync(ctx); err != nil {
		return err
	}
	catalog, _, err := client.Catalog(ctx) // a market that cannot be read has no value
	if err != nil {
		return err
	}
	client.Use(catalog)
	if o.At.After(client.Now().Std()) {
		return config.Usagef("--at %s: that time has not come yet", f.at)
	}
	read := taxReading{client: client, catalog: catalog, options: o, noTrades: f.noTrades, screen: a.Stderr,
		markets: f.markets}
	for _, name := range f.markets {
		if catalog.MarketNamed(name) == nil {
			return config.Usagef("--market %s: the exchange has no market of that name; want one like BTC-%s",
				config.Clip(name), o.Currency)
		}
	}
	for _, s := range p.Config.Strategies {
		read.markets = append(read.markets, s.Markets...)
	}
	if err := read.account(ctx); err != nil {
		return err
	}
	read.changes = append(lots, read.changes...)
	var failed error
	o.Value = func(asset string) (decimal.Decimal, bool) {
		price, known, err := priceAt(ctx, client, catalog.MarketNamed(asset+"-"+o.Currency), cmp.Or(o.At, o.To))
		failed = cmp.Or(failed, err)
		return price, known
	}
	var summary tax.Summary
	err = console.WriteTo(a.Stdout, f.tax, func(w io.Writer) (err error) {
		summary, err = tax.Report(w, read.changes, o)
		return cmp.Or(failed, err)
	})
	if err != nil {
		return err
	}
	return printTax(a.Stderr, f.tax, &summary, &read)
}

func openingLots(path string, zone *time.Location) ([]tax.Transaction, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lots, err := tax.Opening(file, zone)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lots, nil
}

// valueWithin is how old the last price before the asked time may be.
const valueWithin = market.Time(7 * 24 * time.Hour)

// priceAt is the close of the last candle of 15 minutes that ended at a time or before: days begin
// at a quarter of an hour in every time zone.
func priceAt(ctx context.Context, client *rest.Client, m *market.Market, at time.Time) (price decimal.Decimal,
	known bool, err error) {
	if m == nil {
		return price, false, nil
	}
	quarter := market.Time(15 * time.Minute)
	end := market.FloorTo(market.Time(at.UnixNano()), quarter)
	candles, err := client.Candles(ctx, m, market.Interval15m, end-valueWithin, end, int(valueWithin/quarter), nil)
	if _, err = exchange.CheckLeftOut(err); err != nil || len(candles) == 0 {
		return price, false, err
	}
	return decimal.New(int64(candles[len(candles)-1].Close), -int32(m.PriceDigits)), true, nil
}

// printTax says what was written.
func printTax(w io.Writer, path string, s *tax.Summary, read *taxReading) error {
	o := read.options
	fmt.Fprintf(w, "%s: %d rows, %d sales\n", path, s.Rows, s.Sales)
	read.printComparison(w)
	if s.Unknown > 0 {
		fmt.Fprintf(w, "%d sales have a cost that at least one method does not know: that gain is empty; --opening "+
			"names earlier lots\n", s.Unknown)
	}
	fmt.Fprintf(w, "gains where the cost is known: FIFO %s, LIFO %s, average %s %s\n",
		s.Gains[tax.FIFO].Round(4), s.Gains[tax.LIFO].Round(4), s.Gains[tax.Average].Round(4), o.Currency)
	if len(s.Holdings) == 0 {
		fmt.Fprintf(w, "held at %s: nothing but money\n", cmp.Or(o.At, o.To).In(o.Zone).Format(time.DateTime))
	}
	for _, asset := range slices.Sorted(maps.Keys(s.Holdings)) {
		fmt.Fprintf(w, "held at %s: %s %s\n", cmp.Or(o.At, o.To).In(o.Zone).Format(time.DateTime), s.Holdings[asset],
			asset)
	}
	if len(s.Astray) > 0 {
		fmt.Fprintf(w, "the rows do not add up to the account's balance of %s: see the column note; --opening names "+
			"earlier lots and money, --market further markets\n", strings.Join(s.Astray, ", "))
	}
	_, err := fmt.Fprintln(w, tax.Disclaimer)
	return err
}

package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/trials"
)

const trialsHelp = `List the backtests that were made over the same candles, in families.

Each backtest and each set of a sweep counts as a try in a file beside the candle store. Tries over candles that overlap
are one family: the more of them, the better the best one looks by luck alone. The bar is the Sharpe ratio that the best
of as many worthless series shows in 5 of 100 cases, on as many days as the best try has. The Sharpe ratio is in excess
of a hold at the try's own exposure.`

const unsealHelp = `Open what bot sweep --lock-last has sealed, for one honest look.

A seal is opened once and for good. The ledger notes when, and after how many tries. The first run over the range is the
honest look; later ones are said not to be.`

// trialsFlags are the flags of the command.
type trialsFlags struct {
	backtestFlags
	market, strategy string
	json             bool
}

func trialsCommand(a *app) *cobra.Command {
	f := &trialsFlags{}
	c := &cobra.Command{
		Use: "trials", Short: "List the tries of all searches over the same candles", Long: trialsHelp,
		Example: "  bot trials\n  bot trials -c configs/backtest.toml --market BTC-EUR\n  bot trials --json",
		Args:    onlyFlags,
		RunE:    a.enter(func(context.Context, []string) error { return a.listTrials(f) }),
	}
	flags := c.PersistentFlags()
	flags.StringVarP(&f.config, "config", "c", "", "config `FILE` that names the candle store")
	flags.StringVar(&f.data, "db", "", "candle store `FILE`; without it that of the config, or "+config.DefaultStore)
	flags.StringVar(&f.market, "market", "", "only what has this `MARKET`, like BTC-EUR")
	c.Flags().StringVar(&f.strategy, "strategy", "", "only families in which this `STRATEGY` was tried")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.AddCommand(&cobra.Command{
		Use: "unseal", Short: "Open sealed candles, once", Long: unsealHelp,
		Example: "  bot trials unseal\n  bot trials unseal --market BTC-EUR", Args: onlyFlags,
		RunE: a.enter(func(context.Context, []string) error { return a.unseal(f) }),
	})
	return c
}

// ledger is the file that the flags name.
func (f *trialsFlags) ledger(a *app) (*trials.Ledger, error) {
	if f.config == "" {
		if f.data == "" {
			f.data = config.DefaultStore
		}
		return trials.Beside(f.data), nil
	}
	c, err := a.load(&f.backtestFlags)
	if err != nil {
		return nil, err
	}
	return trials.Beside(c.Data.Candles), nil
}

// trialList is the ledger as a program reads it.
type trialList struct {
	File     string        `json:"file"`
	Damaged  int64         `json:"damaged_bytes"`
	Families []trialFamily `json:"families"`
	Seals    []trialSeal   `json:"seals"`
}

type trialFamily struct {
	Strategies []string        `json:"strategies"`
	Markets    []string        `json:"markets"`
	From       backtest.Moment `json:"from"`
	To         backtest.Moment `json:"to"`
	Tries      int64           `json:"tries"`
	Series     int64           `json:"series"`
	First      backtest.Moment `json:"first"`
	Last       backtest.Moment `json:"last"`
	Best       trialBest       `json:"best"`
}

type trialBest struct {
	Strategy string          `json:"strategy"`
	Sharpe   backtest.Figure `json:"excess_sharpe"`
	Days     int             `json:"daily_returns"`
	Trips    int             `json:"trips"`
	Few      bool            `json:"few_trips"` // fewer than ten
	Bar      backtest.Figure `json:"bar"`
}

type trialSeal struct {
	Markets []string        `json:"markets"`
	From    backtest.Moment `json:"from"`
	To      backtest.Moment `json:"to"`
	Used    int64           `json:"tries_before"` // that had used a part of it when it was sealed
	Opened  backtest.Moment `json:"opened"`
	Tries   int64           `json:"tries_when_opened"`
	Looks   int             `json:"looks"` // different tries over it since then, at most 1000
	text    string
}

// momentOf is a time of the ledger.
func momentOf(ms int64) backtest.Moment {
	return backtest.Moment(market.Time(ms) * market.Time(time.Millisecond))
}

// listTrials runs the command.
func (a *app) listTrials(f *trialsFlags) error {
	l, err := f.ledger(a)
	if err != nil {
		return err
	}
	view, err := l.View()
	if err != nil {
		return err
	}
	families, err := view.Families()
	if err != nil {
		return err
	}
	list := trialList{File: l.Path(), Damaged: view.Damage.Bytes, Families: []trialFamily{}, Seals: []trialSeal{}}
	for i := range families {
		if o := &families[i]; f.wants(o.Markets, o.Strategies) {
			list.Families = append(list.Families, trialFamily{o.Strategies, o.Markets, momentOf(o.From), momentOf(o.To),
				o.Tries, o.Series, momentOf(o.First), momentOf(o.Last), trialBest{o.Best.Strategy,
					backtest.Figure(o.Best.Sharpe), o.Best.Days, o.Best.Trips, o.Best.Trips < backtest.FewestTrips,
					backtest.Figure(o.Best.Bar)}})
		}
	}
	for i := range view.Seals {
		s := &view.Seals[i]
		one := trialSeal{Markets: s.Markets, From: momentOf(s.From), To: momentOf(s.To), Used: s.Tries, text: s.Text()}
		if s.Opened != nil {
			one.Opened, one.Tries, one.Looks = momentOf(s.Opened.At), s.Opened.Tries, len(s.Opened.Looks)
		}
		if f.wants(s.Markets, nil) {
			list.Seals = append(list.Seals, one)
		}
	}
	if f.json {
		return console.PrintJSON(a.Stdout, &list)
	}
	if text := view.Damage.String(); text != "" {
		console.Tell(a.Stderr, fmt.Sprintf("%s: %s", l.Path(), text))
	}
	fmt.Fprint(a.Stdout, list.text())
	return nil
}

// wants reports whether the filters let something through.
func (f *trialsFlags) wants(markets, strategies []string) bool {
	return (f.market == "" || slices.Contains(markets, f.market)) &&
		(f.strategy == "" || slices.ContainsFunc(strategies, func(s string) bool {
			return slices.Contains(strings.Split(s, ","), f.strategy)
		}))
}

// text writes the list for a person.
func (l *trialList) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if len(l.Families)+len(l.Seals) == 0 {
		line("There are no tries in %s.", l.File)
		return b.String()
	}
	for i := range l.Families {
		f := &l.Families[i]
		line("%s, %s to %s", marketsText(f.Markets), f.From.Date(), f.To.Date())
		line("  strategies  %s", strings.Join(f.Strategies, "; "))
		line("  tries       %s of %s different series, %s to %s", thousands(f.Tries), thousands(f.Series),
			f.First.Date(), f.Last.Date())
		if f.Best.Days > 1 {
			line("  best        Sharpe %s on %d days (%s); luck's bar at this count: %s", f.Best.Sharpe.Text(2),
				f.Best.Days, f.Best.Strategy, f.Best.Bar.Text(2))
			if f.Best.Few {
				line("              it made %d round trips: fewer than ten are too few to tell it from luck",
					f.Best.Trips)
			}
		}
	}
	for i := range l.Seals {
		s := &l.Seals[i]
		switch {
		case s.Opened == 0:
			line("sealed: %s", s.text)
		case s.Looks == 0:
			line("opened on %s after %s tries: %s; nothing has looked at it yet", s.Opened.Date(), thousands(s.Tries),
				s.text)
		default:
			line("opened on %s after %s tries: %s; runs over it since: %d", s.Opened.Date(), thousands(s.Tries), s.text,
				s.Looks)
		}
	}
	line("file: %s", l.File)
	return b.String()
}

// marketsText names a few markets.
func marketsText(markets []string) string {
	if len(markets) > 4 {
		return fmt.Sprintf("%s and %d other markets", strings.Join(markets[:3], ", "), len(markets)-3)
	}
	return strings.Join(markets, ", ")
}

// unseal runs the command `bot trials unseal`.
func (a *app) unseal(f *trialsFlags) error {
	l, err := f.ledger(a)
	if err != nil {
		return err
	}
	view, err := l.View()
	if err != nil {
		return err
	}
	var closed []*trials.Seal
	for i := range view.Seals {
		if s := &view.Seals[i]; s.Opened == nil && f.wants(s.Markets, nil) {
			closed = append(closed, s)
		}
	}
	switch {
	case len(closed) == 0:
		return fmt.Errorf("nothing is sealed in %s", l.Path())
	case len(closed) > 1:
		return config.Usagef("%d ranges are sealed: %s; %s; choose one with --market", len(closed), closed[0].Text(),
			closed[1].Text())
	}
	s := closed[0]
	if err := view.Open(s, nowMS()); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s is open, after %s tries of %s different series. The next run over it is the one honest "+
		"look.\n", s.Text(), thousands(s.Opened.Tries), thousands(s.Opened.Series))
	return nil
}

package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/trials"
	"github.com/tidemark-trading/tidemark/strategy"
)

// builtinKind is the strategy of the built-in config.
const builtinKind = "smacross"

// builtinFor is the built-in config for a program's strategies. If builtinKind is missing, it names
// the first strategy, with defaults.
func builtinFor(kinds []strategy.Definition) string {
	for _, k := range kinds {
		if k.Name == builtinKind {
			return builtin
		}
	}
	if len(kinds) == 0 {
		return builtin
	}
	head, _, _ := strings.Cut(builtin, "[strategies.trend.params]")
	head = strings.Replace(head, `"`+builtinKind+`"`, fmt.Sprintf("%q", kinds[0].Name), 1)
	return head + fmt.Sprintf("\n[report]\nout = %q\n", "out/"+kinds[0].Name+"-synthetic")
}

// Backtest runs a strategy, for tests of an own one. Without options it runs on the built-in
// synthetic market, three years of BTC-EUR at 1h from 10,000 EUR, with fees of 0.15 % (maker) and
// 0.25 % (taker). Options give other candles (Closes, Bars, CSV, Candles, Store), other money and
// other settings. values are the strategy's parameters as in a config; a missing one has its
// default. The result depends on nothing else; it has all trades and fills in memory, and no files
// without Out.
//
// An error names the option to mend. If the strategy was halted, by a panic for example, the error
// has the stack, and the result is there too.
func Backtest(ctx context.Context, kind strategy.Definition, values map[string]any,
	with ...Option) (*backtest.Result, error) {
	q := &quick{log: zerolog.Nop()}
	for i := range with {
		if with[i].apply == nil {
			return nil, fmt.Errorf("bot.Backtest: option %d is zero; make it with Closes, Cash and their like", i+1)
		}
		if err := with[i].apply(q); err != nil {
			return nil, err
		}
	}
	c, err := q.config(kind, values)
	if err != nil {
		return nil, err
	}
	p, err := plan.NewBacktest(c, []strategy.Definition{kind})
	if err != nil {
		return nil, ofCall(err)
	}
	candles, err := q.library(c)
	if err != nil {
		return nil, err
	}
	defer candles.Close()
	if err := p.Finish(candles); err != nil {
		return nil, err
	}
	return q.run(ctx, p)
}

// ofCall names a parameter as the call of Backtest has it: the config around it is not the
// caller's.
func ofCall(err error) error {
	var key *config.KeyError
	if !errors.As(err, &key) {
		return err
	}
	if name := config.ValueAt(key.Path()); name != "" {
		return key.Named("bot.Backtest: parameter " + name)
	}
	return err
}

// run runs the plan. A halted strategy is an error.
func (q *quick) run(ctx context.Context, p *plan.Backtest) (*backtest.Result, error) {
	var halts error
	p.Run.Log = q.log
	p.Options.Keep, p.Options.Out = true, q.out
	p.Options.Halted = func(h backtest.Halted) {
		halts = errors.Join(halts, fmt.Errorf("strategy %s was halted at %s: %s\n%s", h.Name, h.At, h.Reason, h.Stack))
	}
	tries, err := q.count(p)
	if err != nil {
		return nil, err
	}
	result, err := backtest.Run(ctx, p.Run, p.Options)
	if errors.Is(err, backtest.ErrNoCandles) && len(q.overrides) > 0 {
		return nil, fmt.Errorf("%w: %s", err, q.spans(p))
	}
	if err != nil {
		return nil, p.Explain(err)
	}
	return result, errors.Join(halts, tries.err)
}

// count lets the run count as a try if that was asked for.
func (q *quick) count(p *plan.Backtest) (*tryLog, error) {
	t := &tryLog{Ledger: trials.Beside(q.store), stderr: io.Discard}
	if !q.counted {
		return t, nil
	}
	if q.store == "" {
		return nil, errors.New("bot.Counted: the ledger of tries is beside a store; add bot.Store")
	}
	p.Options.Tried = func(days *backtest.Track) []string { return t.backtest(p, days) }
	return t, t.refuse(p)
}

// spans says from when to when there are candles.
func (q *quick) spans(p *plan.Backtest) string {
	var text []string
	for _, f := range p.Run.Feeds {
		if span, err := p.Candles.Span(f.Market.Name, f.Interval); err == nil {
			text = append(text, fmt.Sprintf("%s %s has candles from %s to %s", f.Market.Name, f.Interval, span.From,
				span.To))
		}
	}
	return strings.Join(text, ", ") + "; choose bot.Between inside"
}

// config is the config of the run.
func (q *quick) config(kind strategy.Definition, values map[string]any) (*config.Backtest, error) {
	source, currency := &config.Source{}, "EUR"
	switch {
	case q.bare != nil && q.universe == nil && len(q.markets) == 0:
		return nil, q.bare
	case q.universe != nil && q.store == "" && len(q.given) == 0:
		return nil, fmt.Errorf("%s: there are no candles to rank by; add Store, Bars or their like", q.universe.Flag)
	}
	if len(q.markets) == 0 && q.universe == nil {
		source.Text = builtinFor([]strategy.Definition{kind})
		if q.interval != 0 {
			q.set(fmt.Sprintf("bot.Interval(%s)", q.interval), q.interval.String(), "strategies", "trend", "interval")
		}
	} else {
		var err error
		if currency, err = q.setStrategy(kind.Name); err != nil {
			return nil, err
		}
	}
	if q.cash != "" {
		q.set(fmt.Sprintf("bot.Cash(%q)", q.cash), q.cash, "account", "start", currency)
	}
	source.Overrides = q.overrides
	c, err := config.LoadBacktest(source)
	if err != nil {
		return nil, err
	}
	for name, section := range c.Strategies {
		section.Params = values
		c.Strategies[name] = section
	}
	return c, nil
}

// setStrategy puts the settings that a run over the caller's candles needs before the caller's own:
// strategy, interval, markets or universe, currency and store. It returns the currency.
func (q *quick) setStrategy(name string) (currency string, err error) {
	if len(q.given) > 0 && q.store != "" {
		return "", fmt.Errorf("bot.Store(%q, …) beside candles of the test: a run has one source; drop one of them",
			q.store)
	}
	currency = "EUR"
	if len(q.markets) > 0 {
		if _, currency, err = market.SplitName(q.markets[0]); err != nil {
			return "", err
		}
	}
	const option = "bot.Backtest"
	others, path := q.overrides, []string{"strategies", name}
	q.overrides = []config.Override{{Flag: option, Path: path,
		Text: fmt.Sprintf("{kind = %q, interval = %q}", name, q.interval)}}
	if q.universe != nil {
		q.universe.Path = config.Join(path, "universe")
		q.overrides = append(q.overrides, *q.universe)
	} else {
		names := make([]string, len(q.markets))
		for i := range names {
			names[i] = fmt.Sprintf("%q", q.markets[i])
		}
		q.overrides = append(q.overrides, config.Override{Flag: option, Path: config.Join(path, "markets"),
			Text: "[" + strings.Join(names, ", ") + "]"})
	}
	q.set(option, currency, "account", "currency")
	if q.store != "" {
		q.set(fmt.Sprintf("bot.Store(%q, …)", q.store), q.store, "data", "candles")
	}
	q.overrides = append(q.overrides, others...)
	return currency, nil
}

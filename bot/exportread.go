package bot

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/tax"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// taxReading reads what an account has done.
type taxReading struct {
	client   *rest.Client
	catalog  *market.Catalog
	options  *tax.Options
	markets  []string // of the config and of --market: their trades are read whatever the history has
	noTrades bool
	screen   io.Writer

	changes  []tax.Transaction
	compared *tax.Comparison // nil: no trades were read
	moved    bool            // the account moved while its balances were read: they are not compared
}

// account reads the balances where they are those of the holdings, the history and the trades. An
// end of the rows that lies ahead becomes now.
func (r *taxReading) account(ctx context.Context) error {
	o := r.options
	present := o.At.IsZero() && (o.To.IsZero() || o.To.After(r.client.Now().Std()))
	before := r.client.Now().Std().Add(-settleWithin)
	if present {
		var err error
		if o.Balances, err = r.balances(ctx); err != nil {
			return err
		}
	}
	if now := r.client.Now().Std(); o.To.IsZero() || o.To.After(now) {
		o.To = now
	}
	until := o.To
	if o.At.After(until) {
		until = o.At
	}
	var err error
	if r.changes, err = tax.History(ctx, r.client, until); err != nil {
		return err
	}
	if last := len(r.changes) - 1; last >= 0 && r.changes[last].At.After(before) {
		o.Balances, r.moved = nil, present
	}
	if r.noTrades || len(r.changes) == 0 && o.From.IsZero() {
		return nil
	}
	return r.trades(ctx, until)
}

// settleWithin is how long before the balances were read the account must have stood still.
const settleWithin = 5 * time.Second

// balances are those of all assets, staked ones included.
func (r *taxReading) balances(ctx context.Context) (map[string]decimal.Decimal, error) {
	all := map[string]decimal.Decimal{}
	add := func(asset string, numbers ...rest.Number) error {
		for _, text := range numbers {
			number, err := decimal.NewFromString(string(text))
			if err != nil {
				return fmt.Errorf("balance of %.20s: %.40q is no number", asset, text)
			}
			all[asset] = all[asset].Add(number)
		}
		return nil
	}
	list, err := r.client.Balances(ctx, "")
	if err != nil {
		return nil, err
	}
	for i := range list {
		if err := add(list[i].Symbol, list[i].Available, list[i].InOrder); err != nil {
			return nil, err
		}
	}
	staked, err := r.client.StakingBalances(ctx)
	if err != nil {
		return nil, err
	}
	for i := range staked {
		if err := add(staked[i].Symbol, staked[i].Amount); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// trades reads the trades from the beginning of the rows or of the history on, and joins them with
// the history.
func (r *taxReading) trades(ctx context.Context, until time.Time) error {
	from := r.options.From
	if len(r.changes) > 0 && r.changes[0].At.After(from) {
		from = r.changes[0].At
	}
	if !from.Before(until) {
		return nil
	}
	r.compared = &tax.Comparison{From: from, Markets: tax.Markets(r.catalog, r.changes, r.markets)}
	bar := console.NewBar(ctx, r.screen, "trades by market", 0, market.Time(time.Hour), 1)
	defer bar.End()
	list, err := tax.Trades(ctx, r.client, r.catalog, r.compared.Markets, from, until, func(part float64) {
		bar.Reach(market.Time(part * float64(time.Hour)))
	})
	if err != nil {
		return fmt.Errorf("%w; --no-trades writes the account's history alone", err)
	}
	r.changes = r.compared.Join(r.changes, list)
	return nil
}

// printComparison says how the history and the trades agree.
func (r *taxReading) printComparison(w io.Writer) {
	switch c := r.compared; {
	case r.noTrades:
		fmt.Fprintln(w, "the account's history alone: no trades were read, and none confirms it")
	case c != nil:
		fmt.Fprintf(w, "history and trades from %s on: %d rows agree\n",
			c.From.In(r.options.Zone).Format(time.DateTime), c.Agree)
		for _, one := range [...]struct {
			count int
			text  string
		}{{c.Differ, "differ from their trades"}, {c.Unconfirmed, "of the history have no trade"},
			{c.Added, "come from trades that the history lacks"}} {
			if one.count > 0 {
				fmt.Fprintf(w, "%d rows %s: see the column note\n", one.count, one.text)
			}
		}
	}
	if r.moved {
		fmt.Fprintln(w, "the account traded in this moment: its balances were not compared")
	}
}

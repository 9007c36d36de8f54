package runner

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// delistings is an exchange that has delisted markets. It refuses each request that names one of
// them as invalid (205), which says nothing of an order; here that order is unknown to it, and its
// lists have none, so that the books can end it.
type delistings struct {
	exchange.Trading
	gone sync.Map // of market.ID
}

// note takes the status of a market.
func (d *delistings) note(m market.ID, status market.MarketStatus) {
	if status == market.Delisted {
		d.gone.Store(m, true)
	} else {
		d.gone.Delete(m)
	}
}

// ends reports whether an error is the refusal of a market that has gone.
func (d *delistings) ends(m market.ID, err error) bool {
	_, gone := d.gone.Load(m)
	var refused *exchange.Error
	return gone && errors.As(err, &refused) && refused.Code == exchange.CodeInvalid
}

func (d *delistings) notFound(m market.ID, err error) error {
	if d.ends(m, err) {
		return exchange.ErrCode(exchange.CodeNotFound)
	}
	return err
}

// Send sends an intent once: a cancel in a market that has gone finds no order.
func (d *delistings) Send(ctx context.Context, i *exchange.Intent) (exchange.WireOrder, error) {
	record, err := d.Trading.Send(ctx, i)
	if i.Command == market.CommandPlace {
		return record, err
	}
	return record, d.notFound(i.Market, err)
}

// Order queries one order.
func (d *delistings) Order(ctx context.Context, m market.ID, client, name uuid.UUID) (exchange.WireOrder, error) {
	record, err := d.Trading.Order(ctx, m, client, name)
	return record, d.notFound(m, err)
}

// OrderUrgent queries one order.
func (d *delistings) OrderUrgent(ctx context.Context, m market.ID, client, name uuid.UUID) (exchange.WireOrder, error) {
	record, err := d.Trading.OrderUrgent(ctx, m, client, name)
	return record, d.notFound(m, err)
}

// OpenOrdersIn lists the open orders of a market.
func (d *delistings) OpenOrdersIn(ctx context.Context, m market.ID) ([]exchange.WireOrder, error) {
	records, err := d.Trading.OpenOrdersIn(ctx, m)
	if d.ends(m, err) {
		return nil, nil
	}
	return records, err
}

// Trades lists the account's executions in a market.
func (d *delistings) Trades(ctx context.Context, m market.ID, from market.Time) ([]exchange.Trade, bool, error) {
	trades, more, err := d.Trading.Trades(ctx, m, from)
	if d.ends(m, err) {
		return nil, false, nil
	}
	return trades, more, err
}

// writeOff takes out of the books what strategies hold in a market that the exchange lists no more,
// as a withdrawal: at cost, without a profit or a loss. What the account still has of it is
// unallocated.
func (c *control) writeOff(ctx context.Context, ask *operator.Request) (*operator.ActResult, error) {
	m := c.r.plan.Catalog.MarketNamed(ask.Gone)
	if m == nil {
		return nil, config.Usagef("the bot knows no market %q", config.Clip(ask.Gone))
	}
	report := operator.NewReport([]string{})
	var failed error
	err := c.do(ctx, func(at market.Time) (commands []market.Command) {
		commands, failed = c.writeOffNow(at, m, report)
		return commands
	})
	report.Done = err == nil && failed == nil
	return report, errors.Join(err, failed)
}

// writeOffNow is writeOff in the loop's goroutine.
func (c *control) writeOffNow(at market.Time, m *market.Market, report *operator.ActResult) (commands []market.Command,
	err error) {
	r := c.r
	if m.Status != market.Delisted {
		return nil, config.Usagef("the exchange lists %s (%s): bot flatten sells what is held there", m.Name, m.Status)
	}
	if open := r.account.Open(nil, 0, m.ID); len(open) > 0 {
		return nil, config.Usagef("%s still has %s: repeat this when the exchange has ended them", m.Name,
			operator.OrdersText(len(open)))
	}
	for i, name := range r.plan.Names() {
		held := r.account.Position(strategyID(i+1), m.ID).Amount
		if held <= 0 {
			continue
		}
		commands = append(commands, r.carry(max(at, r.engine.Now()), &market.Event{Asset: m.Base, Market: m.ID,
			Money: -market.Money(held), Owner: strategyID(i + 1)})...)
		r.loop.Unallocate(m.Base, market.Money(held))
		report.Strategies = append(report.Strategies, name)
		report.WrittenOff = append(report.WrittenOff, operator.WrittenOff{Strategy: name, Market: m.Name,
			Amount: m.FormatQty(held)})
		r.log.Warn().Str("strategy", name).Str("market", m.Name).Str("amount", m.FormatQty(held)).
			Msg("written off by the operator: the market has gone")
	}
	report.Spent = r.loop.WriteOff(m)
	return commands, r.engine.Err()
}

// resolve books an order as the operator says: as the exchange has it, or as absent.
func (c *control) resolve(ctx context.Context, ask *operator.Request) (*operator.ActResult, error) {
	if ask.Gone != "" {
		return c.writeOff(ctx, ask)
	}
	row, err := c.r.store.FindOrder(ask.Order)
	if err != nil {
		return nil, err
	}
	report := operator.NewReport(nil)
	if ask.As != operator.AsExchange && ask.As != operator.AsAbsent {
		return nil, config.Usagef("%q is neither %s nor %s", config.Clip(ask.As), operator.AsExchange,
			operator.AsAbsent)
	}
	var failed error
	began := false
	report.Done, err = c.until(ctx, func(market.Time) (commands []market.Command, done bool) {
		switch {
		case began:
		case ask.As == operator.AsAbsent:
			failed = c.r.loop.ResolveAsAbsent(row.ID)
		default:
			failed = c.r.loop.ResolveAsExchange(row.ID)
		}
		began = true
		return nil, failed != nil || c.r.loop.Resolved(row.ID)
	})
	return report, errors.Join(failed, err)
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// markets reports the status and the rules of each market.
func (d *doctor) markets() {
	for _, m := range d.plan.Catalog.Markets() {
		if m.Status == market.Delisted {
			d.warn("market", m.Name+": the exchange lists it no more; the bot shows what is held there",
				"bot resolve --gone "+m.Name+" writes that off; then take the market out of the config")
			continue
		}
		rules := fmt.Sprintf("%s: %s, tick %s, amounts of %d decimals, smallest order %s %s or %s %s", m.Name, m.Status,
			m.FormatPrice(m.TickSize), m.QuantityDecimals,
			m.FormatQty(m.MinOrderInBase), d.plan.Catalog.Asset(m.Base).Symbol, m.FormatMoney(m.MinOrderInQuote),
			d.plan.Catalog.Asset(m.Quote).Symbol)
		if m.Status != market.Trading {
			d.warn("market", rules, "orders are refused until it trades again; the bot waits")
			continue
		}
		d.ok("market", "%s", rules)
	}
}

// smallestOrders passes orders through a gate with the limits and the money of the strategies. The
// gate checks tick, step, minimum, balance and own limits. The orders of a rehearsal have passed it
// already. In a market without such an order, smallestOrders tries the smallest one that the market
// takes.
func (d *doctor) smallestOrders(ctx context.Context) {
	prices, err := d.client.TickerPrices(ctx, nil)
	if err != nil && !errors.Is(err, exchange.ErrUnits) {
		d.fail("orders", err.Error(), "without prices nothing can be traded")
		return
	}
	last := map[market.ID]market.Price{}
	for i := range prices {
		last[prices[i].Market] = prices[i].Last
	}
	deposits := d.deposits()
	account, gate, err := d.books(deposits)
	if err != nil {
		d.fail("orders", err.Error(), "correct the allocations")
		return
	}
	placed := d.rehearse(ctx, deposits)
	now := d.client.Now()
	for i := range d.plan.Strategies {
		s := &d.plan.Strategies[i]
		for _, m := range s.Markets {
			const check = "orders"
			if m.Status == market.Delisted {
				continue
			}
			if one := smallestBuy(placed, market.StrategyID(i+1), m); one != nil {
				d.ok(check, "%s in %s: the smallest order of its rehearsal, %s, passes", s.Name, m.Name,
					d.describe(m, one))
				continue
			}
			price := last[m.ID]
			if price == 0 {
				d.warn(check, fmt.Sprintf("%s in %s: the market has no price yet", s.Name, m.Name),
					"the check needs a price; the bot waits for one")
				continue
			}
			if _, err := account.Apply(&market.Event{At: now, Kind: market.KindTicker, Market: m.ID,
				Ticker: &market.Ticker{Market: m.ID, Last: price}}); err != nil {
				d.fail(check, err.Error(), "the price does not fit the market's units")
				continue
			}
			d.smallestOrder(gate, account, market.StrategyID(i+1), m, price, now)
		}
	}
}

// smallestOrder passes the smallest order that a market takes through the gate.
func (d *doctor) smallestOrder(gate *risk.Gate, account *state.Account, id market.StrategyID, m *market.Market,
	price market.Price, now market.Time) {
	name := d.plan.Strategies[id-1].Name
	price = max(market.FloorTo(price, m.TickSize), m.TickSize)
	amount := smallestAmount(m, price)
	c := market.Command{Kind: market.CommandPlace, At: now,
		Order: market.Order{ID: 1, Strategy: id, Market: m.ID, Side: market.Buy, Type: market.TypeLimit,
			OrderState: market.OrderState{Amount: amount, Price: price, TimeInForce: market.GTC,
				SelfTradePrevention: market.CancelNewest}}}
	text := fmt.Sprintf("%s in %s: its rehearsal placed no order; the smallest order that the market takes, %s at %s",
		name, m.Name, m.FormatQty(amount), m.FormatPrice(price))
	_, err := gate.Check(account, &c)
	var refusal *risk.Refusal
	switch {
	case err == nil:
		d.ok("orders", "%s, passes", text)
	case errors.As(err, &refusal) && refusal.Code == exchange.CodeInsufficientBalance:
		d.fail("orders", text+", is more than the strategy has",
			"deposit "+d.plan.Config.Account.Currency+", or raise the allocation")
	case errors.As(err, &refusal) && refusal.Reason != risk.ReasonExchange:
		d.fail("orders", text+", is refused by "+refusal.Reason.String(),
			"no order of this strategy can pass; change the limit")
	case m.Status != market.Trading:
		d.warn("orders", fmt.Sprintf("%s: %v", text, err), "the bot waits until the market trades")
	default:
		d.fail("orders", fmt.Sprintf("%s: %v", text, err), "the market takes no order of this kind")
	}
}

// smallestAmount is the least amount of the market's steps that reaches both of its minimums at a
// price.
func smallestAmount(m *market.Market, price market.Price) market.Qty {
	step := int64(1)
	if m.AmountDigits > m.QuantityDecimals {
		step = market.Pow10(m.AmountDigits - m.QuantityDecimals)
	}
	least := max(1, (int64(m.MinOrderInBase)+step-1)/step)
	const maxSteps = 1 << 40
	more := sort.Search(maxSteps, func(n int) bool {
		value, err := m.Value(price, market.Qty((least+int64(n))*step))
		return err != nil || value.Cmp(m.MoneyValue(m.MinOrderInQuote)) >= 0
	})
	return market.Qty((least + int64(more)) * step)
}

// deposits are the money of the strategies at a first start: an allocation where the config has
// one; the other strategies share the rest. A bot that has traded holds coins too; they do not
// count here.
func (d *doctor) deposits() (deposits []backtest.Deposit) {
	p, free := d.plan, d.held[d.plan.Currency.ID]
	for i := range p.Strategies {
		allocation := p.Allocations[i+1]
		if allocation > free && !d.known.resumed {
			d.fail("allocation", fmt.Sprintf("%s: %s of %s %s that are left", p.Strategies[i].Name,
				market.FormatFixed(int64(allocation), p.Currency.Digits), market.FormatFixed(int64(free),
					p.Currency.Digits),
				p.Currency.Symbol), "deposit, or lower strategies."+p.Strategies[i].Name+".allocation")
			allocation = free
		}
		free -= min(free, allocation)
		if allocation > 0 {
			deposits = append(deposits,
				backtest.Deposit{Asset: p.Currency.ID, Money: allocation, Owner: market.StrategyID(i + 1)})
		}
	}
	if free > 0 {
		deposits = append(deposits, backtest.Deposit{Asset: p.Currency.ID, Money: free})
	}
	return deposits
}

// books returns an account and a gate as the bot would have them.
func (d *doctor) books(deposits []backtest.Deposit) (*state.Account, *risk.Gate, error) {
	p := d.plan
	own, limits := make([]bool, len(p.Strategies)+1), make([]risk.Limits, 0, len(p.Strategies))
	for i := range p.Strategies {
		own[i+1] = p.Strategies[i].Own
		limits = append(limits, p.Strategies[i].Limits)
	}
	account := state.NewAccount(p.Catalog, len(p.Strategies), own)
	for _, given := range deposits {
		if _, err := account.Apply(&market.Event{At: d.client.Now(), Kind: market.KindTransfer, Asset: given.Asset,
			Money: given.Money, Owner: given.Owner}); err != nil {
			return nil, nil, err
		}
	}
	still := p.Limits
	still.VolatilityTarget = 0 // these books see no closes; the rehearsal does
	return account, risk.New(p.Catalog, risk.Config{Account: still, Strategies: limits, Fees: p.FeesOf}), nil
}

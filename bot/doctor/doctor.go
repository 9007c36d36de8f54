package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// The levels of a finding.
const (
	OK   = "ok"
	Warn = "warn"
	Fail = "fail"
)

// Finding is the result of one check.
type Finding struct {
	statedir.Finding
	Lines []string `json:"lines,omitempty"` // a table that goes with it
}

// doctor is one examination.
type doctor struct {
	plan     *plan.Live
	client   *rest.Client
	known    *knownState
	held     map[market.AssetID]market.Money // available at the exchange
	heard    map[poll.Series]bool            // whose candles were told of
	onWait   func(text string)               // gets the reason of each wait
	findings []Finding
}

// maxDuration bounds the whole examination.
const maxDuration = 2 * time.Minute

// Options set an examination.
type Options struct {
	Getenv     func(string) string
	OnWait     func(text string) // gets the reason of each wait
	NeedLimits bool              // a limit without a value is a failure
	TryAlerts  bool              // send one message to each receiver of alerts
}

// Examine makes every check that it can. It sends no order. It returns an error where it cannot
// even ask the exchange; every other fault is a finding.
func Examine(ctx context.Context, p *plan.Live, o Options) ([]Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, maxDuration)
	defer cancel()
	d := &doctor{plan: p, held: map[market.AssetID]market.Money{}, heard: map[poll.Series]bool{}, onWait: o.OnWait}
	d.secrets()
	d.limits(o.NeedLimits)
	d.target()
	d.disk()
	d.stateFile(ctx)
	d.units(foldersOfUnits(o.Getenv))
	d.alerts(ctx, o.TryAlerts)
	d.telegram(ctx)
	d.dashboard(time.Now())
	d.signals(ctx, time.Now())
	err := d.atExchange(ctx)
	return d.findings, err
}

// atExchange makes the checks that need the exchange.
func (d *doctor) atExchange(ctx context.Context) (err error) {
	// the budget leaves weight for a bot that trades with the same key
	budget := plan.NewWeightBudget(&d.plan.Config.Exchange, func() market.Time { return d.client.Now() },
		func(w rest.Warning) { d.onWait(w.String()) })
	if d.client, err = d.plan.Client(budget); err != nil {
		return err
	}
	defer d.client.Close()
	if !d.reach(ctx) {
		return nil
	}
	d.clock()
	paper := d.plan.Config.Bot.Paper()
	readable := !paper && d.rights(ctx)
	offered, err := d.plan.Listing(ctx, d.client)
	if err == nil {
		err = d.plan.Finish(offered)
	}
	if err != nil {
		d.fail("markets", err.Error(), "correct the markets and account.currency of the config")
		return nil
	}
	d.client.Use(d.plan.Catalog)
	d.heirless()
	if readable && d.plan.Config.Stream.Orders == config.OrdersStream {
		d.orders(ctx, budget)
	}
	for _, note := range d.plan.Notes {
		d.ok("universe", "%s", note)
	}
	d.markets()
	d.polling()
	if readable {
		d.groups()
		d.balances(ctx)
		d.others(ctx)
	}
	if paper {
		d.paperAccount()
	}
	if readable || paper { // else the balances of the strategies are unknown
		d.smallestOrders(ctx)
	}
	return nil
}

func (d *doctor) ok(check, format string, args ...any) {
	d.add(check, OK, fmt.Sprintf(format, args...), "")
}

func (d *doctor) warn(check, text, hint string) { d.add(check, Warn, text, hint) }

func (d *doctor) fail(check, text, hint string) { d.add(check, Fail, text, hint) }

func (d *doctor) add(check, level, text, hint string, lines ...string) {
	found := statedir.Finding{Check: check, Level: level, Text: text, Hint: hint}
	d.findings = append(d.findings, Finding{found, lines})
}

package bot

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/runner"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// directFlags are those of the kill switch.
type directFlags struct {
	direct, flatten bool
	log             string
	by              string // the author in the log; empty: the command
	sets            []string
}

// directHelp describes --direct.
const directHelp = `

--direct is for a bot that hangs or cannot start: it needs no bot, no socket and no bot.db. It asks the exchange of -c
for the bot's open orders and cancels them itself. --flatten sells at market the positions in holdings.json of the
state folder, less later sales; if that file is missing, it reads markets and amounts from standard input. Each
request is in direct.log before it is sent. The next start of the bot books that log; a running bot books it too, and
halts its strategies. See docs/operate.md.`

// killSwitch is `bot cancel-all --direct` at work.
type killSwitch struct {
	*app
	access   *plan.Access
	flags    *actFlags
	client   *rest.Client
	catalog  *market.Catalog
	holdings *killswitch.Holdings // nil: there are none
	typed    []typedSale
	names    *killswitch.Names
}

// typedSale is a sale that the user has typed.
type typedSale struct{ market, amount string }

// direct cancels, and sells, without a bot.
func (a *app) direct(ctx context.Context, f *actFlags) error {
	c, err := a.runConfigOf(&runFlags{config: f.config, sets: f.sets})
	if err != nil {
		return err
	}
	k := &killSwitch{app: a, flags: f}
	if f.state != "" {
		c.Bot.State = f.state
	}
	if c.Bot.Paper() {
		fmt.Fprintln(a.Stdout, "nothing to cancel: in paper mode no order leaves the bot's process; its orders are in "+
			"paper.db, and end with the bot's next stop in good order")
		return nil
	}
	if k.access, err = plan.NewAccess(c, a.Getenv); err != nil {
		return err
	}
	if err := k.read(); err != nil {
		return err
	}
	path := cmp.Or(f.log, filepath.Join(c.Bot.State, killswitch.LogFile))
	log, err := runner.OpenSwitchLog(path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	report, err := k.run(ctx, log)
	return errors.Join(k.show(report, err), log.Close())
}

// read reads the holdings in the state folder; without holdings, flatten reads them from the user.
func (k *killSwitch) read() (err error) {
	dir := k.access.Config.Bot.State
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return config.Usagef("there is no state folder %s: bot.state of the config, or --state, names the bot's", dir)
	}
	if k.holdings, err = killswitch.ReadHoldings(dir); err != nil {
		fmt.Fprintf(k.Stderr, "%v\n", err)
	}
	if h := k.holdings; h != nil &&
		!statedir.SameExchange(h.Exchange, config.OriginOf(k.access.Config.Exchange.BaseURL)) {
		return config.Usagef("%s in %s is of %s, and exchange.base_url of the config is at %s", killswitch.HoldingsFile,
			dir, h.Exchange, config.OriginOf(k.access.Config.Exchange.BaseURL))
	}
	if k.holdings == nil && k.flags.flatten {
		return k.readTyped()
	}
	return nil
}

// readTyped reads markets and amounts from standard input, up to its end or an empty line.
func (k *killSwitch) readTyped() error {
	fmt.Fprintf(k.Stderr, "there is no %s: type what to sell, MARKET AMOUNT in each line, such as BTC-EUR 0.25; an "+
		"empty line ends\n", killswitch.HoldingsFile)
	lines := bufio.NewScanner(k.Stdin)
	for lines.Scan() && strings.TrimSpace(lines.Text()) != "" {
		words := strings.Fields(lines.Text())
		if len(words) != 2 {
			return config.Usagef("%q is no market and amount, such as BTC-EUR 0.25", config.Clip(lines.Text()))
		}
		k.typed = append(k.typed, typedSale{words[0], words[1]})
	}
	return lines.Err()
}

// run cancels, and then sells.
func (k *killSwitch) run(ctx context.Context, log *killswitch.Log) (*killswitch.SwitchResult, error) {
	if err := k.connect(ctx, log); err != nil {
		return nil, fmt.Errorf("nothing was sent: %w", err)
	}
	defer k.client.Close()
	k.names = killswitch.NewNames(k.holdings, log.Lines())
	s := &killswitch.Switch{Exchange: k.client, Catalog: k.catalog, Log: log, Own: k.own, Foreign: k.flags.foreign,
		Confirmed: k.names.Confirmed(k.catalog), Operator: k.access.Config.OperatorID(""), Say: k.say, Fault: k.faults}
	by := cmp.Or(k.flags.by, "bot cancel-all --direct")
	if k.flags.flatten {
		by += " --flatten"
	}
	err := s.Begin(by, k.flags.flatten)
	var held []killswitch.Want
	if err == nil {
		held, err = k.held(s)
	}
	if err == nil && k.flags.flatten {
		s.KeepExits(ctx, held)
	}
	asked := k.client.Now()
	if err == nil {
		err = s.Cancel(ctx)
	}
	if err == nil {
		err = k.awaitWindow(ctx, s, asked)
	}
	if err == nil && k.flags.flatten {
		err = k.flatten(ctx, s)
	}
	s.Leave(held)
	report, ended := s.End()
	return report, errors.Join(err, ended)
}

// held are the bot's holdings, or the amounts that were typed.
func (k *killSwitch) held(s *killswitch.Switch) ([]killswitch.Want, error) {
	if k.holdings == nil {
		return k.typedWants()
	}
	return s.Held(k.names, k.access.Config.OperatorID)
}

// awaitWindow waits until the window of the bot's last request has passed, then cancels the orders
// that arrived meanwhile: a sale of the bot that is still in flight would sell twice. A list that
// was asked for inside the window proves nothing, however late its answer came. The bot writes its
// state file before it sends, so the file's time is that of its last request.
func (k *killSwitch) awaitWindow(ctx context.Context, s *killswitch.Switch, asked market.Time) error {
	info, err := os.Stat(filepath.Join(k.access.Config.Bot.State, statedir.StateFile))
	if err != nil { // bot watch keeps holdings alone, with the time of the bot's last answer
		info, err = os.Stat(filepath.Join(k.access.Config.Bot.State, killswitch.HoldingsFile))
	}
	if err != nil {
		return nil // no bot has sent anything
	}
	window := time.Duration(k.access.Config.Exchange.Window) + time.Duration(killswitch.Margin)
	left := min(window, time.Until(info.ModTime().Add(window)))
	if left+time.Duration(k.client.Now().Sub(asked)) <= 0 {
		return nil
	}
	k.say("the bot may have sent something in the last %s: waiting until the exchange cannot take it any more",
		time.Duration(k.access.Config.Exchange.Window))
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return s.Fail(fmt.Errorf("nothing is sold: %w", ctx.Err()))
	}
	return s.Cancel(ctx)
}

// flatten sells the holdings, except in markets where an earlier sale is unresolved.
func (k *killSwitch) flatten(ctx context.Context, s *killswitch.Switch) error {
	unknown, err := s.Settle(ctx)
	if err != nil {
		return err
	}
	k.names = killswitch.NewNames(k.holdings, s.Log.Lines())
	wants, err := k.wants(ctx, s)
	if err != nil {
		return s.Fail(err)
	}
	wants = slices.DeleteFunc(wants, func(w killswitch.Want) bool {
		return unknown[k.catalog.Market(w.Market).Name] || w.Amount <= 0
	})
	return s.Sell(ctx, wants)
}

// wants lists the sales to make.
func (k *killSwitch) wants(ctx context.Context, s *killswitch.Switch) (wants []killswitch.Want, err error) {
	if k.holdings != nil {
		return s.Wants(ctx, k.names, k.access.Config.OperatorID)
	}
	if len(k.typed) == 0 {
		return nil, errors.New("nothing is sold: what is held is not known, and nothing was typed")
	}
	return k.typedWants()
}

// typedWants are the sales that the user has typed.
func (k *killSwitch) typedWants() (wants []killswitch.Want, err error) {
	for _, t := range k.typed {
		m := k.catalog.MarketNamed(t.market)
		if m == nil {
			return nil, fmt.Errorf("nothing is sold: the exchange has no market %q", config.Clip(t.market))
		}
		amount, err := m.ParseQty(t.amount)
		if err != nil || amount <= 0 {
			return nil, fmt.Errorf("nothing is sold: %q is no amount of %s", config.Clip(t.amount), m.Name)
		}
		wants = append(wants, killswitch.Want{Market: m.ID, Amount: amount, Operator: k.access.Config.OperatorID("")})
	}
	return wants, nil
}

// own reports whether an order is the bot's: by its client order id or, without holdings, by its
// operatorId.
func (k *killSwitch) own(o *market.Order) bool {
	if k.names.Own(o.ClientOrderID) {
		return true
	}
	if k.holdings != nil {
		return false
	}
	for _, s := range k.access.Config.Strategies {
		if s.OperatorID == o.OperatorID && o.OperatorID != 0 {
			return true
		}
	}
	return false
}

// connect makes the client, with the exchange's time and the markets that matter.
func (k *killSwitch) connect(ctx context.Context, log *killswitch.Log) (err error) {
	ledger := plan.NewWeightBudget(&k.access.Config.Exchange, func() market.Time { return k.client.Now() },
		func(w rest.Warning) { k.say("%s", w) })
	if k.client, err = k.access.Client(ledger); err != nil {
		return err
	}
	var offered plan.Listing
	quiet := zerolog.New(k.Stderr).Level(zerolog.ErrorLevel)
	if offered, err = k.access.AwaitListing(ctx, k.client, quiet); err != nil {
		return err
	}
	wanted := k.markets(log)
	markets := slices.DeleteFunc(offered.Markets, func(m rest.Market) bool { return !wanted[m.Name] })
	symbols := map[string]bool{}
	for i := range markets {
		symbols[markets[i].Base], symbols[markets[i].Quote] = true, true
	}
	catalog, leftOut := rest.BuildCatalog(slices.DeleteFunc(offered.Assets,
		func(a rest.Asset) bool { return !symbols[a.Symbol] }), markets)
	for _, why := range leftOut {
		k.say("left out: %v", why)
	}
	k.catalog = catalog
	k.client.Use(catalog)
	return nil
}

// markets are those of the config's strategies, of the holdings, of what was typed and of the log.
func (k *killSwitch) markets(log *killswitch.Log) map[string]bool {
	names := map[string]bool{}
	for _, s := range k.access.Config.Strategies {
		for _, name := range s.Markets {
			names[name] = true
		}
	}
	for _, t := range k.typed {
		names[t.market] = true
	}
	for _, l := range log.Lines() {
		names[l.Market] = true
	}
	if k.holdings != nil {
		for _, p := range k.holdings.Positions {
			names[p.Market] = true
		}
		for _, o := range k.holdings.Orders {
			names[o.Market] = true
		}
	}
	return names
}

func (k *killSwitch) say(format string, args ...any) {
	to := k.Stdout
	if k.flags.json {
		to = k.Stderr
	}
	fmt.Fprintf(to, format+"\n", args...)
}

// show prints what was done. It is an error where not all was confirmed.
func (k *killSwitch) show(report *killswitch.SwitchResult, failed error) error {
	if report == nil {
		return failed
	}
	if k.flags.json {
		if err := console.PrintJSON(k.Stdout, report); err != nil {
			return errors.Join(failed, err)
		}
	} else {
		k.print(report)
	}
	if failed == nil && !report.Done {
		return errors.New("not everything was confirmed: the same command goes on; cancels are repeated, sales are not")
	}
	return failed
}

// print writes a report for a person.
func (k *killSwitch) print(report *killswitch.SwitchResult) {
	fmt.Fprintf(k.Stdout, "%s cancelled\n", operator.OrdersText(report.Cancelled))
	for _, o := range report.Open {
		fmt.Fprintf(k.Stdout, "still open: %s %s: %s\n", o.Market, o.Client, o.Reason)
	}
	for _, why := range report.Unsold {
		fmt.Fprintf(k.Stdout, "not sold: %s\n", why)
	}
	for _, o := range report.Kept {
		fmt.Fprintf(k.Stdout, "left to protect: %s %s: %s\n", o.Market, o.Client, o.Reason)
	}
	for _, b := range report.Bare {
		then := "bot resume brings its exit back"
		if k.flags.flatten && k.holdings != nil {
			then = "the bot, once it runs, sells it or places its exit again"
		}
		fmt.Fprintf(k.Stdout, "position without exit: %s %s %s; %s\n", b.Strategy, b.Amount, b.Market, then)
	}
	if report.Cancelled+len(report.Open)+len(report.Sold) > 0 {
		fmt.Fprintf(k.Stdout, "what was sent stands in %s: the bot books it\n", report.Log)
	}
}

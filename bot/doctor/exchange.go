package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/stream"
	"github.com/tidemark-trading/tidemark/market"
)

// A larger offset of the clock, or a longer round trip, is a warning.
const (
	maxOffset    = market.Duration(time.Second)
	maxRoundTrip = market.Duration(time.Second)
)

// reach reports whether the exchange answers.
func (d *doctor) reach(ctx context.Context) bool {
	url := d.plan.Config.Exchange.BaseURL
	if err := d.client.Sync(ctx); err != nil {
		d.fail("exchange", fmt.Sprintf("%s does not answer: %v", url, err),
			"check exchange.base_url and the network; no check that needs the exchange was made")
		return false
	}
	way := "over TLS"
	if strings.HasPrefix(url, "http:") {
		way = "on this machine"
	}
	d.ok("exchange", "%s answers, %s", url, way)
	return true
}

// clock compares the machine's clock with the exchange's. A bot signs with the exchange's, so a
// difference alone stops nothing.
func (d *doctor) clock() {
	offset, trip := d.client.Offset(), d.client.RoundTrip()
	side := "ahead of"
	if offset < 0 {
		side = "behind"
	}
	text := fmt.Sprintf("the exchange is %s %s this machine, measured with a round trip of %s",
		offset.Abs().Round(time.Millisecond), side, trip.Round(10*time.Microsecond))
	switch {
	case offset.Abs() > maxOffset:
		d.warn("clock", text, "let NTP set this machine's clock; the bot signs with the exchange's time, but logs and "+
			"files tell the machine's")
	case trip > maxRoundTrip:
		d.warn("clock", text, "the way to the exchange is slow; widen exchange.window, or move closer")
	default:
		d.ok("clock", "%s", text)
	}
}

// rights checks the permissions of the key. It reports whether the key may read.
func (d *doctor) rights(ctx context.Context) (readable bool) {
	_, err := d.client.Account(ctx)
	if err == nil {
		_, err = d.client.Balances(ctx, d.plan.Config.Account.Currency)
	}
	if err != nil {
		d.refusedKey("key", err)
		return false
	}
	d.ok("key", "works, and may read")
	d.withdrawRight(ctx)
	return true
}

// refusedKey is the finding of a key that the exchange refused.
func (d *doctor) refusedKey(check string, err error) {
	d.fail(check, err.Error(), cmp.Or(plan.KeyHint(err), "the exchange's answer says why"))
}

// withdrawRight warns of a key that may withdraw: a bot never needs that.
func (d *doctor) withdrawRight(ctx context.Context) {
	const hint = "make a key without the right to withdraw: the bot never needs it, and a thief of such a key can " +
		"empty the account"
	may, err := d.client.MayWithdraw(ctx)
	switch {
	case err != nil:
		d.warn("withdrawals", fmt.Sprintf("the check of the right to withdraw got no answer: %v", err),
			"look at the key's rights at the exchange")
	case may:
		d.warn("withdrawals", "the key may withdraw, or the exchange hides that it may not", hint)
	default:
		d.ok("withdrawals", "the key may not withdraw")
	}
}

// balances reports the account's balances of the traded assets.
func (d *doctor) balances(ctx context.Context) {
	held, err := d.client.Holdings(ctx)
	if err != nil {
		d.fail("balances", err.Error(), "the exchange's answer says why")
		return
	}
	var parts []string
	for _, h := range held {
		asset := d.plan.Catalog.Asset(h.Asset)
		d.held[h.Asset] = h.Available
		part := market.FormatFixed(int64(h.Available), asset.Digits) + " " + asset.Symbol
		if h.Orders != 0 {
			part += " (and " + market.FormatFixed(int64(h.Orders), asset.Digits) + " in orders)"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		d.warn("balances", "the account holds none of the traded assets",
			"deposit some "+d.plan.Config.Account.Currency)
		return
	}
	slices.Sort(parts)
	d.ok("balances", "%s", strings.Join(parts, ", "))
}

// others looks for open orders of other bots and people.
func (d *doctor) others(ctx context.Context) {
	list, err := d.client.OrdersOpen(ctx, nil)
	if err != nil {
		d.refusedKey("trade right", err)
		return
	}
	d.ok("trade right", "the key may trade")
	var theirs, unknown int
	for i := range list.Records {
		switch o := &list.Records[i].Order; {
		case !d.operates(o.OperatorID):
			theirs++
			d.sharedGroup(o)
		case d.known.missed(o.ClientOrderID):
			unknown++
		}
	}
	for i := range list.Unread {
		if errors.Is(list.Unread[i].Reason, exchange.ErrUnknownMarket) {
			theirs++
		} else {
			unknown++
		}
	}
	if theirs == 0 && unknown == 0 {
		d.ok("others", "%d open orders, none of another bot or person", len(list.Records))
		return
	}
	if theirs > 0 {
		d.warn("others", fmt.Sprintf(
			"%d open orders have another operatorId or market: another bot or person trades on this account", theirs),
			"that is allowed; the bot leaves them alone, but the money that they hold is missing from its balances")
	}
	if unknown > 0 {
		d.warn("others", fmt.Sprintf("%d open orders have this bot's operator_id and are not in its state file",
			unknown), "another bot runs with the same config, or the state file is a backup or was lost: stop it, or "+
			"cancel them, or choose another operator_id")
	}
}

// operates reports whether a strategy of this bot has an operatorId.
func (d *doctor) operates(operator int64) bool {
	for i := range d.plan.Strategies {
		if d.plan.Strategies[i].Limits.OperatorID == operator {
			return true
		}
	}
	return false
}

// orders opens a connection to the exchange's WebSocket, as for orders, and authenticates it.
func (d *doctor) orders(ctx context.Context, budget rest.Budget) {
	on, err := stream.New(d.plan.Stream(d.client, budget, true, zerolog.Nop()))
	if err == nil {
		err = on.Check(ctx)
	}
	if err != nil {
		d.fail("stream", fmt.Sprintf("the stream of orders does not open: %v", err),
			"orders would go over HTTP; set orders = \"rest\" in [stream], or correct the way to the exchange")
		return
	}
	d.ok("stream", "orders go over the stream, which opens and takes the key; over HTTP while it is not open")
}

// polling adds up the weight of the bot's requests.
func (d *doctor) polling() {
	plan := d.plan.Polling(d.client)
	perKey, perIP := int(d.plan.Config.Exchange.PerKey), int(d.plan.Config.Exchange.PerIP)
	text := fmt.Sprintf("%d of %d weight points a minute of the key, %d of %d of the IP address",
		plan.PerMinute(rest.PaidByKey), perKey, plan.PerMinute(rest.PaidByIP), perIP)
	level, hint := OK, ""
	if plan.Check(perKey, perIP) != nil {
		level, hint = Fail, "more than 80 % of a budget; ask less often in [poll]"
	}
	if other, words := config.FeedStream, "with [stream] feed = \"stream\""; level == OK {
		if d.plan.Config.Stream.Any(!d.plan.Config.Bot.Paper()) {
			other, words = config.FeedPoll, "without the stream"
		}
		as := d.plan.PollingAs(d.client, other)
		text += fmt.Sprintf("; %s %d and %d", words, as.PerMinute(rest.PaidByKey), as.PerMinute(rest.PaidByIP))
	}
	d.add("polling", level, text, hint, strings.Split(plan.String(), "\n")...)
}

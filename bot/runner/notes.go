package runner

import (
	"encoding/json"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// byOperator is the author of halts and resumes over the socket, in the journal.
const byOperator = "operator"

// notes are the journal's memory for the log and the socket. They belong to the loop's goroutine.
type notes struct {
	by       string // author of the halts of this turn; empty: the engine
	passed   map[market.OrderID]approval
	received map[feedKey]market.Time
	rules    map[market.ID]market.Market                   // the latest
	ruled    bool                                          // rules have changed since they were written down
	delisted func(m market.ID, status market.MarketStatus) // hears each status; nil: nothing does
}

// approval is a command that the gate let pass, with its figures. Of cancels only those of a Close
// have any.
type approval struct {
	command market.Command
	asked   state.Terms
	figures []state.Figure
}

// feedKey is a feed of market events.
type feedKey struct {
	kind     market.EventKind
	market   market.ID
	interval market.Interval // of candles
}

// onEvent notes when a feed last sent an event.
func (j *botJournal) onEvent(ev *market.Event) {
	switch ev.Kind {
	case market.KindCandles:
		for i := range ev.Candles {
			j.received[feedKey{ev.Kind, ev.Candles[i].Market, ev.Candles[i].Interval}] = ev.At
		}
	case market.KindTicker:
		j.received[feedKey{kind: ev.Kind, market: ev.Ticker.Market}] = ev.At
	case market.KindMarketStatus:
		j.logRules(ev)
		fallthrough
	case market.KindBook, market.KindTrade:
		j.received[feedKey{kind: ev.Kind, market: ev.Market}] = ev.At
	}
}

// logRules logs changes of a market's status and tick. A market that trades at the start is not
// logged.
func (j *botJournal) logRules(ev *market.Event) {
	if ev.Rules == nil {
		return
	}
	now := *ev.Rules
	before, known := j.rules[now.ID]
	j.rules[now.ID] = now
	if j.delisted != nil {
		j.delisted(now.ID, now.Status)
	}
	j.ruled = j.ruled || !known || now != before
	switch {
	case now.Status == market.Delisted && (!known || now.Status != before.Status):
		j.log.Warn().Str("market", now.Name).
			Msg("the exchange lists the market no more: nothing is traded there, its orders are booked as ended, and " +
				"bot resolve --gone " + now.Name + " writes off what is held")
	case now.Status != market.Trading && (!known || now.Status != before.Status):
		j.log.Warn().Str("market", now.Name).Stringer("status", now.Status).
			Msg("the market does not trade: what it would refuse is not sent")
	case known && now.Status != before.Status:
		j.log.Info().Str("market", now.Name).Stringer("status", now.Status).Msg("the market trades again")
	}
	if known && now.TickSize != before.TickSize {
		j.log.Info().Str("market", now.Name).Str("tick_size", now.FormatPrice(now.TickSize)).
			Str("before", before.FormatPrice(before.TickSize)).
			Msg("the market's prices have other steps: new ones are rounded to them")
	}
}

// approved keeps the gate's figures until the intent is journalled.
func (n *notes) approved(asked state.Terms, c *market.Command, figures []state.Figure) {
	if c.Kind != market.CommandCancel || len(figures) > 0 {
		n.passed[c.Order.ID] = approval{*c, asked, slices.Clone(figures)}
	}
}

// approvalOf returns the approval of an intent.
func (n *notes) approvalOf(i *exchange.Intent) (a approval) {
	if a = n.passed[i.Order]; a.command.Kind != i.Command {
		return approval{}
	}
	return a
}

// operate makes the operator the author of the rest of this turn.
func (j *botJournal) operate() {
	j.by, j.cause, j.grouped = byOperator, journal.Cause{}, nil
}

func (j *botJournal) forgetTurn() {
	j.by = ""
	clear(j.passed)
}

// logSent logs a command that leaves.
func (j *botJournal) logSent(i *exchange.Intent) {
	o := j.account.Known(i.Order)
	if o == nil {
		return
	}
	level, body := zerolog.DebugLevel, []byte(nil)
	switch i.Command {
	case market.CommandPlace:
		level = zerolog.InfoLevel
	case market.CommandUpdate:
		body = i.Body
	}
	j.withCommand(j.log.WithLevel(level), o, body).Msg(commandWord(i.Command) + " sent")
}

// logAccepted logs a command that the exchange accepted.
func (j *botJournal) logAccepted(i *exchange.Intent) {
	if o := j.account.Known(i.Order); o != nil {
		body := i.Body
		if i.Command != market.CommandUpdate {
			body = nil
		}
		j.withCommand(j.log.Info(), o, body).Msg(commandWord(i.Command) + " accepted")
	}
}

// withCommand adds an order with its terms to a log line; for an update, the terms in its body.
func (j *botJournal) withCommand(line *zerolog.Event, o *state.Order, change []byte) *zerolog.Event {
	line = j.withOrder(line, o)
	if change == nil {
		return j.withTerms(line, o)
	}
	var to struct{ Amount, AmountQuote, Price, TriggerAmount string }
	if err := json.Unmarshal(change, &to); err != nil {
		return line.Err(err)
	}
	for _, term := range [...]struct{ key, value string }{{"amount", to.Amount}, {"amount_quote", to.AmountQuote},
		{"price", to.Price}, {"trigger", to.TriggerAmount}} {
		if term.value != "" {
			line.Str(term.key, term.value)
		}
	}
	return line
}

// commandWord is the log's word for a command.
func commandWord(kind market.CommandKind) string {
	switch kind {
	case market.CommandCancel:
		return "cancel"
	case market.CommandUpdate:
		return "change"
	}
	return "order"
}

// withOrder adds the identity of an order to a log line.
func (j *botJournal) withOrder(line *zerolog.Event, o *state.Order) *zerolog.Event {
	if o.Strategy > 0 && int(o.Strategy) <= len(j.names) {
		line.Str("strategy", j.names[o.Strategy-1])
	}
	line.Int64("order", int64(o.ID)).Str("market", j.account.Catalog().Market(o.Market).Name)
	return line.Stringer("side", o.Side).Stringer("type", o.Type).Stringer("client_order_id", o.ClientOrderID)
}

// withTerms adds amount, price and trigger of an order to a log line.
func (j *botJournal) withTerms(line *zerolog.Event, o *state.Order) *zerolog.Event {
	m := j.account.Catalog().Market(o.Market)
	if o.ByQuote() {
		line.Str("amount_quote", m.FormatMoney(o.AmountQuote))
	} else {
		line.Str("amount", m.FormatQty(o.Amount))
	}
	if o.Price != 0 {
		line.Str("price", m.FormatPrice(o.Price))
	}
	if o.TriggerAmount != 0 {
		line.Str("trigger", m.FormatPrice(o.TriggerAmount))
	}
	return line
}

package runner

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// byOperator is who halts and resumes over the socket, for the journal.
const byOperator = "operator"

// notes are what the journal keeps in memory beside what it writes: for the log, and for who asks
// over the socket. They belong to the loop's goroutine.
type notes struct {
	log    zerolog.Logger
	by     string // who asked for the halts of this turn; empty: the engine itself
	passed map[market.OrderID]approval
	heard  map[feedKey]market.Time
	rules  map[market.ID]market.Market // as they were told last
}

// approval is what is known of an order or a change that the gate let pass.
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

func newNotes(log zerolog.Logger) notes {
	return notes{log: log, passed: map[market.OrderID]approval{}, heard: map[feedKey]market.Time{},
		rules: map[market.ID]market.Market{}}
}

// hear notes when a feed was heard last.
func (n *notes) hear(ev *market.Event) {
	switch ev.Kind {
	case market.KindCandles:
		for i := range ev.Candles {
			n.heard[feedKey{ev.Kind, ev.Candles[i].Market, ev.Candles[i].Interval}] = ev.At
		}
	case market.KindTicker:
		n.heard[feedKey{kind: ev.Kind, market: ev.Ticker.Market}] = ev.At
	case market.KindMarketStatus:
		n.rule(ev)
		fallthrough
	case market.KindBook, market.KindTrade:
		n.heard[feedKey{kind: ev.Kind, market: ev.Market}] = ev.At
	}
}

// rule says what has changed in a market's status and tick since they were told last. A market that
// trades at the start is no news.
func (n *notes) rule(ev *market.Event) {
	if ev.Rules == nil {
		return
	}
	now := *ev.Rules
	before, known := n.rules[now.ID]
	n.rules[now.ID] = now
	switch {
	case now.Status != market.Trading && (!known || now.Status != before.Status):
		n.log.Warn().Str("market", now.Name).Stringer("status", now.Status).
			Msg("the market does not trade: what it would refuse is not sent")
	case known && now.Status != before.Status:
		n.log.Info().Str("market", now.Name).Stringer("status", now.Status).Msg("the market trades again")
	}
	if known && now.TickSize != before.TickSize {
		n.log.Info().Str("market", now.Name).Str("tick_size", now.FormatPrice(now.TickSize)).
			Str("before", before.FormatPrice(before.TickSize)).
			Msg("the market's prices have other steps: new ones are rounded to them")
	}
}

// approved keeps what the gate looked at until the intent is noted.
func (n *notes) approved(asked state.Terms, c *market.Command, figures []state.Figure) {
	if c.Kind != market.CommandCancel {
		n.passed[c.Order.ID] = approval{*c, asked, slices.Clone(figures)}
	}
}

// lookedAt is what the gate looked at for an intent.
func (n *notes) lookedAt(i *exchange.Intent) (a approval) {
	if i.Command != market.CommandCancel {
		a = n.passed[i.Order]
	}
	return a
}

// took says whose halts a commit notes.
func (n *notes) took() string { return cmp.Or(n.by, "engine") }

// operate makes what follows in this turn the operator's doing.
func (j *botJournal) operate() {
	j.by, j.cause = byOperator, journal.Cause{}
}

// forgetTurn forgets what concerned the turn alone.
func (j *botJournal) forgetTurn() {
	j.by = ""
	clear(j.passed)
}

// saySent logs a command that leaves now.
func (j *botJournal) saySent(i *exchange.Intent) {
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
	j.sayCommand(j.log.WithLevel(level), o, body).Msg(wordOf(i.Command) + " sent")
}

// accepted logs what the exchange took.
func (j *botJournal) accepted(i *exchange.Intent) {
	if o := j.account.Known(i.Order); o != nil {
		body := i.Body
		if i.Command != market.CommandUpdate {
			body = nil
		}
		j.sayCommand(j.log.Info(), o, body).Msg(wordOf(i.Command) + " accepted")
	}
}

// sayCommand names an order with its terms; of a change, with those that its body asks for.
func (j *botJournal) sayCommand(line *zerolog.Event, o *state.Order, change []byte) *zerolog.Event {
	line = j.sayOrder(line, o)
	if change == nil {
		return j.sayTerms(line, o)
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

// wordOf is what the log calls a command.
func wordOf(kind market.CommandKind) string {
	switch kind {
	case market.CommandCancel:
		return "cancel"
	case market.CommandUpdate:
		return "change"
	}
	return "order"
}

// sayOrder names an order.
func (j *botJournal) sayOrder(line *zerolog.Event, o *state.Order) *zerolog.Event {
	if o.Strategy > 0 && int(o.Strategy) <= len(j.seats) {
		line.Str("strategy", j.seats[o.Strategy-1])
	}
	line.Int64("order", int64(o.ID)).Str("market", j.account.Catalog().Market(o.Market).Name)
	return line.Stringer("side", o.Side).Stringer("type", o.Type).Stringer("client_order_id", o.ClientOrderID)
}

// sayTerms says what an order is to trade, and when.
func (j *botJournal) sayTerms(line *zerolog.Event, o *state.Order) *zerolog.Event {
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

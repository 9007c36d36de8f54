package operator

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// storyWriter tells the entries of an order's story to a person, one after the other: what it said
// before it does not say again.
type storyWriter struct {
	store   *journal.Store
	catalog *market.Catalog
	status  string             // the order's status in the last report
	fees    map[uuid.UUID]bool // by fill: whether its fee has been written
}

func newStoryWriter(store *journal.Store) *storyWriter {
	return &storyWriter{store: store, catalog: store.Catalog(), fees: map[uuid.UUID]bool{}}
}

// lines writes an entry.
func (t *storyWriter) lines(e *journal.Entry) []string {
	switch r := e.Record.(type) {
	case *journal.Intent:
		return append(t.cause(e.At, &r.Cause), t.intent(r)...)
	case *journal.Signal:
		return t.signalLines(r)
	case *journal.SentCommand:
		return []string{"sent      " + r.Command.String()}
	case *journal.AnswerEntry:
		return []string{outcomeLine(r)}
	case *journal.ReportEntry:
		return append(t.report(r), t.fills(r.Fills)...)
	case *journal.Fills:
		return t.fills(r.Fills)
	case *journal.Refusal:
		return append(t.cause(e.At, &r.Cause), t.refusal(r)...)
	case *journal.Act:
		return []string{actText(r)}
	case *journal.Adoption:
		return []string{fmt.Sprintf("adopted   %s has handed the order over to %s, by %s", r.From, r.To, r.By)}
	case *journal.Difference:
		return []string{fmt.Sprintf("differs   %s: here %q, there %q; %s", r.What, r.Ours, r.Theirs, r.Conclusion)}
	}
	return []string{t.botLine(e)}
}

// botLine writes an entry that is about no order.
func (t *storyWriter) botLine(e *journal.Entry) string {
	switch r := e.Record.(type) {
	case *journal.Start:
		return fmt.Sprintf("started   %s, version %s, config %.12s, strategies %s", r.Run, r.Version, r.ConfigHash,
			strings.Join(r.Strategies, ", "))
	case *journal.Stop:
		return fmt.Sprintf("stopped   %s, orders left open: %d", cmp.Or(r.Reason, "in good order"), r.Open)
	case *journal.Transfer:
		return "transfer  " + t.transferText(r)
	case *journal.Timer:
		return "timer     of " + cmp.Or(r.Strategy, "no strategy that is known")
	case *journal.Cursor:
		return "read      " + r.Name
	case *journal.Halt:
		return fmt.Sprintf("halted    %s by %s: %s", r.Scope, r.By, r.Reason)
	case *journal.Resume:
		return fmt.Sprintf("resumed   %s by %s", r.Scope, r.By)
	}
	return t.keptLine(e)
}

// keptLine writes an entry that stays for good.
func (t *storyWriter) keptLine(e *journal.Entry) string {
	switch r := e.Record.(type) {
	case *journal.Seal:
		return fmt.Sprintf("sealed    %s by %s", r.Scope, r.By)
	case *journal.Verdict:
		verdict := "kept"
		if r.Broken {
			verdict = "broken"
		}
		return fmt.Sprintf("verdict   on %s, %s: the promise of entry %d is %s", ClockOf(r.Day.Millis())[:10], r.Scope,
			r.Seal, verdict)
	case *journal.Promotion:
		verdict := "refused"
		if r.Accepted {
			verdict = "accepted"
		}
		return fmt.Sprintf("canary    %s by %s: %d of %d commands equal", verdict, r.By, r.Equal, r.Compared)
	case *journal.Reload:
		return fmt.Sprintf("reloaded  by %s: %s", r.By, strings.Join(r.Changes, "; "))
	}
	return e.Kind.String()
}

// transferText is the amount of a transfer and its reason.
func (t *storyWriter) transferText(r *journal.Transfer) string {
	asset := t.catalog.Asset(r.Asset)
	text := market.FormatFixed(int64(r.Money), asset.Digits) + " " + asset.Symbol
	if r.Strategy != "" {
		text += " of " + r.Strategy
	}
	if r.Market != 0 && r.Price != 0 {
		text += " @ " + t.catalog.Market(r.Market).FormatPrice(r.Price)
	}
	return text
}

// actText is an action of the operator on an order.
func actText(r *journal.Act) string {
	text := "operator  " + r.Verb
	if r.By != "" {
		text += " by " + r.By
	}
	if r.From != "" {
		text += ", " + r.From
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// cause writes the event of a decision, and the signals that the strategy could read.
func (t *storyWriter) cause(at market.Time, c *journal.Cause) []string {
	event, lines := causeText(t.catalog, c), []string{}
	for _, one := range t.used(at, c) {
		if c.Kind == 0 && one.at == at {
			event = "signal " + one.text()
		} else {
			lines = append(lines, "signal    "+one.text())
		}
	}
	return append([]string{"event     " + event}, lines...)
}

// used are the signals that a strategy could read at a time.
func (t *storyWriter) used(at market.Time, c *journal.Cause) (list []UsedSignal) {
	for _, number := range c.Signals {
		one := UsedSignal{Number: number}
		e, err := t.store.Entry(uint64(number))
		if r, is := e.Record.(*journal.Signal); err == nil && is {
			one.Source, one.at = r.Source, e.At
			one.SentMS, one.CameMS, one.AgeMS = r.Sent.Millis(), r.Came.Millis(), max(0, at.Sub(r.Came).Milliseconds())
		}
		list = append(list, one)
	}
	return list
}

// text names a signal by its source and its times, and says how old it was.
func (u *UsedSignal) text() string {
	if u.Source == "" {
		return fmt.Sprintf("%d, which is no more in this file", u.Number)
	}
	text := fmt.Sprintf("%d of %s", u.Number, u.Source)
	if u.SentMS != 0 {
		text += ", sent " + ClockOf(u.SentMS)
	}
	return fmt.Sprintf("%s, came %s, used %s later", text, ClockOf(u.CameMS), time.Duration(u.AgeMS)*time.Millisecond)
}

// intent writes the decision, the gate's figures and the request.
func (t *storyWriter) intent(r *journal.Intent) []string {
	decided := fmt.Sprintf("decided   %s %s", r.Command.Kind, commandText(t.catalog, &r.Command))
	if asked := termsText(t.catalog, r.Command.Order.Market, r.Asked.Beside(&r.Command.Order)); asked != "" {
		decided += "; asked for " + asked
	}
	lines := []string{decided}
	for _, f := range r.Risk {
		line := fmt.Sprintf("risk      %s %s to %s", f.Name, f.Before, f.After)
		if f.Limit != "" {
			line += ", limit " + f.Limit
		}
		lines = append(lines, line)
	}
	return append(lines, strings.TrimRight(fmt.Sprintf("request   %s %s %s", r.Method, r.Path, r.Body), " "),
		fmt.Sprintf("          signed for %s, to be taken within %d ms", ClockOf(r.Timestamp), r.WindowMS))
}

// signalLines writes a signal from outside.
func (t *storyWriter) signalLines(r *journal.Signal) []string {
	line := "signal    of " + r.Source
	if r.Market != "" {
		line += " on " + r.Market
	}
	line += fmt.Sprintf(" by %s", r.Proof)
	if r.Address != "" {
		line += ", " + r.Address
	}
	switch late := r.Came.Sub(r.Sent).Round(time.Millisecond); {
	case r.Sent == 0:
	case late < 0:
		line += fmt.Sprintf(", %s before its own time", -late)
	default:
		line += fmt.Sprintf(", %s after it was sent", late)
	}
	lines := []string{line + ": " + strings.ToValidUTF8(string(r.Body), "?")}
	add := func(is bool, text string) {
		if is {
			lines = append(lines, "          "+text)
		}
	}
	add(r.Verdict != "", "refused: "+r.Reason)
	add(r.Count > 1, fmt.Sprintf("the last of %d of its kind since %s", r.Count, ClockOf(r.First.Millis())))
	add(r.Verdict == "" && len(r.Heard) == 0, "no strategy got it")
	add(len(r.Heard) > 0, "heard by "+strings.Join(r.Heard, ", "))
	add(len(r.Deaf) > 0, "not heard by "+strings.Join(r.Deaf, ", ")+": halted")
	add(r.Short, "it asked for a short, which a spot market takes as flat")
	add(r.Past, journal.PastText)
	add(r.Lost, "the one before it is lost: the sender names another position before it")
	return lines
}

// report writes the order's status and the status before.
func (t *storyWriter) report(r *journal.ReportEntry) []string {
	if r.Exec == market.ExecRejected || r.Exec == market.ExecUnknown {
		line := "state     " + execText(&r.Report)
		if r.Code != 0 {
			line += fmt.Sprintf(", errorCode %d", r.Code)
		}
		return []string{line}
	}
	m := t.catalog.Market(r.Market)
	line := "state     "
	if now := r.Status.String(); now != t.status {
		if t.status != "" {
			line += t.status + " to "
		}
		line += now
		t.status = now
	} else {
		line += "still " + now
	}
	line += ", filled " + m.FormatQty(r.FilledAmount)
	if r.Exec == market.ExecUpdated && r.Price != 0 {
		line += ", now @ " + m.FormatPrice(r.Price)
	}
	if r.RestatementReason != 0 {
		line += ", " + r.RestatementReason.String()
	}
	return []string{line + "; at the exchange " + ClockOf(r.Updated.Millis())}
}

// fills writes each fill once, and its fee once it is settled.
func (t *storyWriter) fills(fills []market.Fill) (lines []string) {
	for i := range fills {
		f := &fills[i]
		m, side := t.catalog.Market(f.Market), "maker"
		if f.Taker {
			side = "taker"
		}
		feeKnown, written := t.fees[f.ID]
		switch {
		case !written && f.Settled:
			lines = append(lines, fmt.Sprintf("fill      %s @ %s, fee %s, %s, %s; at the exchange %s",
				m.FormatQty(f.Amount), m.FormatPrice(f.Price), m.FormatValue(f.Fee), side, f.ID,
				ClockOf(f.Time.Millis())))
		case !written:
			lines = append(lines, fmt.Sprintf("fill      %s @ %s, fee not settled yet, %s, %s; at the exchange %s",
				m.FormatQty(f.Amount), m.FormatPrice(f.Price), side, f.ID, ClockOf(f.Time.Millis())))
		case f.Settled && !feeKnown:
			lines = append(lines, fmt.Sprintf("fee       %s for fill %s, settled now", m.FormatValue(f.Fee), f.ID))
		}
		t.fees[f.ID] = f.Settled || feeKnown
	}
	return lines
}

// refusal writes a refusal of the gate.
func (t *storyWriter) refusal(r *journal.Refusal) []string {
	line := fmt.Sprintf("refused   %s %s: %s: %s", r.Command.Kind, commandText(t.catalog, &r.Command), r.Reason,
		r.Detail)
	if r.Count > 1 {
		line += fmt.Sprintf("; the last of %d since %s", r.Count, ClockOf(r.First.Millis()))
	}
	lines := []string{line}
	if rounded := termsText(t.catalog, r.Command.Order.Market, r.Rounded.Beside(&r.Command.Order)); rounded != "" {
		lines = append(lines, "          rounded to "+rounded)
	}
	return lines
}

// causeText names the event in whose callback a strategy decided.
func causeText(c *market.Catalog, cause *journal.Cause) string {
	if cause.Kind == 0 {
		return "none: the operator, a signal, or a start or stop"
	}
	text := FeedName(c, cause.Kind, cause.Market) + " of " + ClockOf(cause.At.Millis())
	if cause.Recorded != 0 {
		text += fmt.Sprintf(", number %d of the recording", cause.Recorded)
	}
	return text
}

// commandText describes a command.
func commandText(c *market.Catalog, command *market.Command) string {
	o := &command.Order
	if command.Kind == market.CommandCancel || o.Market == 0 {
		return fmt.Sprintf("order %d", o.ID)
	}
	text := o.Side.String() + " " + o.Type.String()
	if terms := termsText(c, o.Market, state.TermsOf(o)); terms != "" {
		text += " " + terms
	}
	if command.Kind == market.CommandUpdate {
		text = fmt.Sprintf("order %d to ", o.ID) + text
	}
	return text
}

// termsText lists the terms that are set.
func termsText(c *market.Catalog, id market.ID, t state.Terms) string {
	if id == 0 {
		return ""
	}
	m := c.Market(id)
	var parts []string
	add := func(set bool, text string) {
		if set {
			parts = append(parts, text)
		}
	}
	add(t.Amount != 0, m.FormatQty(t.Amount))
	add(t.AmountQuote != 0, "for "+m.FormatMoney(t.AmountQuote))
	add(t.Price != 0, "@ "+m.FormatPrice(t.Price))
	add(t.TriggerAmount != 0, "when "+m.FormatPrice(t.TriggerAmount))
	add(t.Stop != 0, "stop "+m.FormatPrice(t.Stop))
	add(t.Target != 0, "target "+m.FormatPrice(t.Target))
	return strings.Join(parts, " ")
}

func outcomeLine(r *journal.AnswerEntry) string {
	line := fmt.Sprintf("answer    %s %s", r.Command, r.Answer)
	if r.Status != 0 {
		line += fmt.Sprintf(", HTTP %d", r.Status)
	}
	if r.Code != 0 {
		line += fmt.Sprintf(", errorCode %d", r.Code)
	}
	if r.Message != "" {
		line += ": " + r.Message
	}
	return line
}

func execText(r *market.Report) string {
	if r.Command != 0 {
		return r.Command.String() + " " + r.Exec.String()
	}
	return r.Exec.String()
}

// FeedName is the name of a feed, without an interval.
func FeedName(c *market.Catalog, kind market.EventKind, id market.ID) string {
	if id == 0 {
		return kind.String()
	}
	return kind.String() + " " + c.Market(id).Name
}

// ClockOf is a time of Unix milliseconds for a person.
func ClockOf(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000")
}

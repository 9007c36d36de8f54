package runner

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/folder"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// wholeEvery is the time between two savings of everything, prices included.
const wholeEvery = market.Time(60e9)

// botJournal is the live loop's Journal and Findings on the state file: what a turn notes goes into
// one batch, with the parts of the engine that it has changed, and is committed as one transaction.
type botJournal struct {
	store   *journal.Store
	batch   *journal.Batch
	engine  *engine.Engine
	account *state.Account

	recording *recording.Writer // of market events; nil: none is kept
	reserve   string            // a file to be given up where the disk is full; empty: none
	unwritten error             // why the recording lost something; told once
	currency  market.AssetID

	timed func(took time.Duration) // hears how long commits take; nil: nobody measures

	at     market.Time
	cause  journal.Cause
	halts  int // of the engine's list, that have been noted
	whole  market.Time
	seats  []string                            // strategies by StrategyID − 1
	ledger func() []byte                       // what the weight ledger knows; nil: nothing
	banned *atomic.Bool                        // a ban has begun that is not noted yet; nil: nobody tells
	open   func(int)                           // told how many orders are open; nil: nobody
	rules  func()                              // told that a command broke a market's rules; nil: nobody
	agreed map[string]folder.BalanceCheckpoint // by symbol
	riding int                                 // entries of the batch that can wait for the next commit that is needed anyway
	moved  bool                                // a position has changed since the last commit
	left   func(at market.Time)                // leaves the holdings for the kill switch; nil: none are left
	refusals
	notes
}

// Event notes what the engine has folded, and how far candles have been delivered.
func (j *botJournal) Event(ev *market.Event) {
	j.at = ev.At
	j.hear(ev)
	j.cause = journal.Cause{Kind: ev.Kind, Market: ev.Market, At: ev.At, Recorded: j.record(ev)}
	j.event(ev)
	j.caused(j.cause, j.journalRefusal)
}

func (j *botJournal) event(ev *market.Event) {
	if ev.Kind == market.KindCandles {
		for i := range ev.Candles {
			c := &ev.Candles[i]
			j.cause.Market = c.Market
			j.batch.Cursor(ev.At, cursorOf(j.account.Catalog().Market(c.Market).Name, c.Interval),
				binary.BigEndian.AppendUint64(nil, uint64(c.Start)))
		}
		return
	}
	j.batch.Event(ev)
	j.moved = j.moved || len(ev.Fills) > 0 || ev.Kind == market.KindTransfer
	if ev.Report != nil {
		j.order(ev.Report.Order)
	} else if len(ev.Fills) > 0 {
		j.order(ev.Fills[0].Order)
	}
	for i := range ev.Fills {
		f := &ev.Fills[i]
		if f.Strategy != 0 {
			position := j.account.Position(f.Strategy, f.Market)
			j.batch.Position(f.Strategy, f.Market, &position)
		}
	}
}

// record adds a market event to the recording and returns its number there, 0 for what it does not
// keep.
func (j *botJournal) record(ev *market.Event) uint64 {
	if j.recording == nil || !recording.Recordable(ev.Kind) {
		return 0
	}
	number, err := j.recording.Append(ev)
	if err != nil {
		j.unwritten = err
		return 0
	}
	return number
}

// order keeps an own order as it is now, or as it has just ended.
func (j *botJournal) order(id market.OrderID) {
	o := j.account.Known(id)
	if o == nil {
		o = j.account.Ended(id)
	}
	if o != nil {
		j.batch.Order(o)
	}
}

// cursorOf is the name under which the last delivered candle of a series is kept.
func cursorOf(name string, interval market.Interval) string {
	return "candles " + name + " " + interval.String()
}

// Intent notes a command that is about to be sent.
func (j *botJournal) Intent(i *exchange.Intent) {
	passed := j.lookedAt(i)
	intent := journal.Intent{Method: i.Method, Path: i.Path, Body: i.Body, Timestamp: i.Timestamp, WindowMS: i.Window,
		Cause: j.cause, Risk: passed.figures, Asked: passed.asked}
	intent.Command = market.Command{Kind: i.Command, At: j.at,
		Order: market.Order{ID: i.Order, Market: i.Market, ClientOrderID: i.ClientOrderID}}
	if o := j.account.Known(i.Order); o != nil {
		intent.Command.Order = o.Order
	}
	if i.Command == market.CommandUpdate {
		intent.Command.Changed, intent.Command.Attached = passed.command.Changed, passed.command.Attached
		intent.Command.Order = passed.command.Order // the whole order as it shall be
	}
	j.batch.Journal(j.at, &intent)
	j.order(i.Order)
}

// Sent notes and logs that an intent leaves. Alone it is not worth a commit: the next one takes it
// along.
func (j *botJournal) Sent(at market.Time, i *exchange.Intent) {
	j.saySent(i)
	j.batch.Journal(at, &journal.SentCommand{Order: i.Order, Command: i.Command})
	j.riding++
}

// Outcome notes what became of an intent.
func (j *botJournal) Outcome(at market.Time, i *exchange.Intent, err error) {
	j.at = at
	answer := journal.Outcome{Order: i.Order, Command: i.Command, Answer: journal.AnswerAccepted}
	if err != nil {
		answer.Message = err.Error()
		answer.Answer = journal.AnswerUnknown
		if exchange.OutcomeOf(err) == exchange.Rejected {
			answer.Answer = journal.AnswerRejected
		}
		answer.Status, answer.Code = codeOf(err)
		j.outdated(err)
	} else {
		j.accepted(i)
	}
	j.batch.Journal(j.at, &answer)
}

// outdated lets the rules of the markets be asked for where a refusal shows that they have changed.
func (j *botJournal) outdated(err error) {
	var no *exchange.Error
	if j.rules != nil && errors.As(err, &no) && no.OfMarket() {
		j.rules()
	}
}

// Note notes something that a person will want to know.
func (j *botJournal) Note(kind, text string) {
	j.batch.Journal(j.at, &journal.Difference{Discrepancy: state.Discrepancy{What: kind, Theirs: text}})
}

// Commit makes the turn durable.
func (j *botJournal) Commit(at market.Time) error {
	j.at = at
	j.caused(j.cause, j.journalRefusal)
	if j.open != nil {
		j.open(len(j.account.Pending(nil)))
	}
	for _, h := range j.engine.Halts()[j.halts:] {
		j.log.Warn().Str("strategy", h.Name).Str("reason", h.Reason).Msg("halted until bot resume")
		j.batch.Halt(h.At, &journal.Halt{Scope: "strategy " + h.Name, Reason: h.Reason, By: j.took()})
	}
	if j.banned != nil && j.ledger != nil && j.banned.Swap(false) {
		j.batch.Blob(folder.LedgerBlob, j.ledger()) // the next process must not ask into it
	}
	all := at >= j.whole+wholeEvery
	save := j.engine.Save
	if all {
		save = j.engine.SaveAll
	}
	err := save(func(part string, data []byte) error {
		j.batch.Blob(folder.PartPrefix+part, data)
		return nil
	})
	if err != nil {
		return err
	}
	if all {
		if err := j.minute(at); err != nil {
			return err
		}
	}
	var last error
	if j.batch.Len() > j.riding {
		if last = j.write(); last != nil && !errors.Is(last, live.ErrLastRoom) {
			return last
		}
		j.riding = 0
	}
	j.forgetTurn()
	if (j.moved || all) && j.left != nil {
		j.left(at)
	}
	j.moved = false
	j.halts = len(j.engine.Halts())
	if all {
		j.whole = at
	}
	return last
}

// minute notes what is noted now and then: the weight ledger, the equity, and how far the recording
// reaches.
func (j *botJournal) minute(at market.Time) error {
	j.due(at, false, j.journalRefusal)
	if len(j.agreed) > 0 {
		j.saveAgreed()
	}
	if j.ledger != nil {
		j.batch.Blob(folder.LedgerBlob, j.ledger())
	}
	equity, err := j.account.Equity(j.currency)
	if err != nil {
		return err
	}
	exposure, err := j.account.Exposure(j.currency)
	if err != nil {
		return err
	}
	j.batch.Equity(journal.EquitySample{At: at, Equity: equity, Exposure: exposure})
	if j.recording == nil {
		return nil
	}
	if err := j.recording.Flush(); err != nil {
		j.unwritten = err
	}
	j.batch.Blob(folder.RecordingBlob, binary.BigEndian.AppendUint64(nil, j.recording.Next()))
	return nil
}

// codeOf is the HTTP status and the exchange's code in an error, 0 where it has none.
func codeOf(err error) (status, code int) {
	var refusal *exchange.Error
	if errors.As(err, &refusal) {
		return refusal.Status, refusal.Code
	}
	return 0, 0
}

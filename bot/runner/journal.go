package runner

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// saveAllEvery is the time between two saves of all parts, prices included.
const saveAllEvery = market.Time(60e9)

// botJournal is the live loop's Journal and Findings in the state file. The entries of a turn go
// into one batch, with the changed parts of the engine, and are committed as one transaction.
type botJournal struct {
	*books
	batch *journal.Batch
	inputRecorder
	entries  uint64  // of the journal, as of the last commit
	commands bool    // the batch has intents
	shadow   *shadow // nil: there is no canary
	reserve  string  // file to remove when the disk is full; empty: none

	at             market.Time
	cause          journal.Cause
	grouped        []market.ID // the markets of the candles of cause
	halts          int         // how many of the engine's halts are journalled
	savedAll       market.Time
	names          []string // strategies by StrategyID − 1
	weights        *weights
	askRules       func() // called where a command broke a market's rules; nil: not called
	agreed         checkpoints
	earned         map[string]market.Money // by the strategies, as last saved
	deferred       int                     // entries of the batch that are no reason for a commit
	positionsMoved bool                    // a position has changed since the last commit
	onHoldings     func(at market.Time)    // writes the holdings for the kill switch; nil: not called
	seal           *seal.Keeper
	newer          savedNewer
	refusals
	notes
	trimming
}

// Event journals an event of the engine, and the last delivered candle of each series.
func (j *botJournal) Event(ev *market.Event) {
	j.at = ev.At
	if j.onEvent(ev); j.ruled {
		j.ruled = false
		j.batch.Blob(statedir.RulesBlob, statedir.AppendRules(j.rules))
	}
	j.cause = journal.Cause{Kind: ev.Kind, Market: ev.Market, At: ev.At, Recorded: j.dataNumber}
	j.grouped = j.grouped[:0]
	j.writeEvent(ev)
	j.setCause(j.causeOf, j.journalRefusal)
}

// causeOf is the event as the cause of what a strategy does in a market, with the signals that the
// strategy could read. Of a group of candles it names the market's own; a strategy that acts in a
// market without one has the whole group as its cause.
func (j *botJournal) causeOf(of market.StrategyID, in market.ID) journal.Cause {
	cause := j.cause
	if of != 0 {
		for _, number := range j.engine.SignalsOf(of, in) {
			if !slices.Contains(cause.Signals, number) {
				cause.Signals = append(slices.Clip(cause.Signals), number)
			}
		}
	}
	if slices.Contains(j.grouped, in) {
		cause.Market = in
	}
	return cause
}

func (j *botJournal) writeEvent(ev *market.Event) {
	if ev.Kind == market.KindCandles {
		for i := range ev.Candles {
			c := &ev.Candles[i]
			if j.grouped = append(j.grouped, c.Market); c.Market != ev.Candles[0].Market {
				j.cause.Market = 0
			} else if i == 0 {
				j.cause.Market = c.Market
			}
			j.batch.Cursor(ev.At, cursorOf(j.account.Catalog().Market(c.Market).Name, c.Interval),
				binary.BigEndian.AppendUint64(nil, uint64(c.Start)))
		}
		return
	}
	if ev.Kind == market.KindTransfer {
		j.transfer(ev)
		j.seal.Transferred(ev)
		if ev.Market != 0 {
			j.position(ev.Owner, ev.Market)
		}
	} else {
		j.batch.Event(ev)
	}
	j.positionsMoved = j.positionsMoved || len(ev.Fills) > 0 || ev.Kind == market.KindTransfer
	if ev.Report != nil {
		j.order(ev.Report.Order)
	} else if len(ev.Fills) > 0 {
		j.order(ev.Fills[0].Order)
	}
	for i := range ev.Fills {
		f := &ev.Fills[i]
		if f.Strategy != 0 {
			j.position(f.Strategy, f.Market)
		}
	}
}

// position saves the position of a strategy.
func (j *botJournal) position(of market.StrategyID, in market.ID) {
	position := j.account.Position(of, in)
	j.batch.Position(of, in, &position)
}

// positions saves the positions that the account has otherwise. An earlier program did not save
// those of which a withdrawal had taken a part.
func (j *botJournal) positions(saved []journal.PositionRow) {
	for i := range saved {
		p := &saved[i]
		if p.Strategy != 0 && j.account.Position(p.Strategy, p.Market) != p.Position {
			j.position(p.Strategy, p.Market)
		}
	}
}

// order saves an own order, open or just ended.
func (j *botJournal) order(id market.OrderID) {
	o := j.account.Known(id)
	if o == nil {
		o = j.account.Ended(id)
	}
	if o != nil {
		j.batch.Order(o)
	}
}

// cursorOf is the key of the last delivered candle of a series.
func cursorOf(name string, interval market.Interval) string {
	return "candles " + name + " " + interval.String()
}

// Intent journals a command that is about to be sent.
func (j *botJournal) Intent(i *exchange.Intent) {
	passed := j.approvalOf(i)
	intent := journal.Intent{Method: i.Method, Path: i.Path, Body: i.Body, Timestamp: i.Timestamp, WindowMS: i.Window,
		Risk: passed.figures, Asked: passed.asked}
	intent.Command = market.Command{Kind: i.Command, At: j.at,
		Order: market.Order{ID: i.Order, Market: i.Market, ClientOrderID: i.ClientOrderID}}
	if o := j.account.Known(i.Order); o != nil {
		intent.Command.Order = o.Order
	}
	if i.Command == market.CommandUpdate {
		intent.Command.Changed, intent.Command.Attached = passed.command.Changed, passed.command.Attached
		intent.Command.Order = passed.command.Order // the whole order after the update
	}
	intent.Cause = j.causeOf(intent.Command.Order.Strategy, i.Market)
	j.intend(j.at, &intent)
	if i.Command == market.CommandPlace {
		j.seal.Decided(i.Order)
	}
	j.order(i.Order)
}

// Sent logs and journals that an intent leaves. It is no reason for a commit: the next one includes
// it.
func (j *botJournal) Sent(at market.Time, i *exchange.Intent) {
	j.logSent(i)
	j.batch.Journal(at, &journal.SentCommand{Order: i.Order, Command: i.Command})
	j.deferred++
}

// Outcome journals the outcome of an intent.
func (j *botJournal) Outcome(at market.Time, i *exchange.Intent, err error) {
	j.at = at
	answer := journal.AnswerEntry{Order: i.Order, Command: i.Command, Answer: journal.AnswerAccepted}
	if err != nil {
		answer.Message = err.Error()
		answer.Answer = journal.AnswerUnknown
		if exchange.OutcomeOf(err) == exchange.Rejected {
			answer.Answer = journal.AnswerRejected
		}
		answer.Status, answer.Code = codeOf(err)
		j.refreshRules(err)
	} else {
		j.logAccepted(i)
		if i.Command == market.CommandPlace {
			j.seal.Arrived(i.Order)
		}
	}
	j.batch.Journal(j.at, &answer)
}

// refreshRules asks for the markets' rules after a refusal that shows that they have changed.
func (j *botJournal) refreshRules(err error) {
	var no *exchange.Error
	if j.askRules != nil && errors.As(err, &no) && no.OfMarket() {
		j.askRules()
	}
}

// Note journals a difference for a person.
func (j *botJournal) Note(at market.Time, kind, text string) {
	j.batch.Journal(at, &journal.Difference{Discrepancy: state.Discrepancy{What: kind, Theirs: text}})
}

// Commit makes the turn durable.
func (j *botJournal) Commit(at market.Time) error {
	j.at = at
	j.setCause(j.causeOf, j.journalRefusal)
	if !j.plan.Config.Bot.Paper() {
		j.weights.SetOpenOrders(j.account.CountPending())
	}
	for _, h := range j.engine.Halts()[j.halts:] {
		j.log.Warn().Str("strategy", h.Name).Str("reason", h.Reason).Msg("halted until bot resume")
		j.batch.Halt(h.At, &journal.Halt{Scope: "strategy " + h.Name, Reason: h.Reason,
			By: cmp.Or(j.notes.by, "engine")})
	}
	if j.weights.banned.Swap(false) {
		j.saveWeights() // the next process must not send during the ban
	}
	all := at >= j.savedAll+saveAllEvery
	snapshot, copied := j.newSnapshot(at, all), j.newCopy()
	if err := j.saveEngine(all, snapshot, copied); err != nil {
		return err
	}
	if all {
		if err := j.writeMinute(at); err != nil {
			return err
		}
	}
	j.saveSeal()
	j.saveNewer()
	var last error
	if j.batch.Len() > j.deferred {
		j.trim(at)
		if last = j.write(); last != nil && !errors.Is(last, live.ErrLastRoom) {
			return last
		}
		j.deferred = 0
		j.trimmed(at)
	}
	j.forgetTurn()
	if (j.positionsMoved || all) && j.onHoldings != nil {
		j.onHoldings(at)
	}
	j.positionsMoved = false
	j.halts = len(j.engine.Halts())
	if all {
		j.savedAll = at
		j.recordSnapshot(at, snapshot)
	}
	j.keepCopy(at, copied)
	return last
}

// saveEngine puts the parts of the engine that have changed into the batch, with all or for a copy
// every part.
func (j *botJournal) saveEngine(all bool, snapshot, copied snapshot) error {
	save := j.engine.Save
	if all || copied != nil {
		save = j.engine.SaveAll
	}
	return save(func(part string, data []byte) error {
		snapshot.add(part, data)
		copied.add(part, data)
		if data == nil {
			j.batch.RemoveBlob(statedir.PartPrefix + part)
		} else {
			j.batch.Blob(statedir.PartPrefix+part, data)
		}
		return nil
	})
}

// writeMinute saves, once a minute, the weight budget, the equity, the use of the limits, and how
// far the recording reaches.
func (j *botJournal) writeMinute(at market.Time) error {
	j.judgeCanary(at)
	j.writeDue(at, false, j.journalRefusal)
	j.listening.minute(at, false)
	if len(j.agreed.balances) > 0 {
		j.saveAgreed()
	}
	j.saveWeights()
	if err := j.saveCurves(at); err != nil {
		return err
	}
	if err := j.saveLimits(at); err != nil {
		return err
	}
	j.flushRecording()
	return j.judge(at)
}

func (j *botJournal) saveWeights() {
	text, _ := json.Marshal(j.weights.Snapshot()) // plain numbers and names
	j.batch.Blob(statedir.WeightBudgetBlob, text)
}

// codeOf is the HTTP status and the exchange's code in an error, 0 where it has none.
func codeOf(err error) (status, code int) {
	var refusal *exchange.Error
	if errors.As(err, &refusal) {
		return refusal.Status, refusal.Code
	}
	return 0, 0
}

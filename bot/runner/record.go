package runner

import (
	"bytes"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// historyPart is how many candles of a warm-up are one record.
const historyPart = 4096

// record adds a record to the recording, where there is one, and returns its number; 0: it is not
// recorded.
func (j *botJournal) record(r *recording.Record) uint64 {
	if j.recording == nil {
		return 0
	}
	number, err := j.recording.Write(r)
	if err != nil {
		j.notRecorded(err)
	}
	return number
}

// Input records what enters the engine: a live.Recorder.
func (j *botJournal) Input(in *market.Input) {
	j.input.Kind, j.input.Input = recording.KindInput, *in
	number := j.record(&j.input)
	if in.Event != nil && j.shown != nil {
		j.shown.input(in.Event)
	}
	if in.Event != nil && in.Event.Kind == market.KindCandles {
		j.latest.add(in.Event.Candles)
		if j.copying.catching {
			j.copying.caught = append(j.copying.caught, in.Event.Candles...)
		}
	}
	if j.dataNumber = 0; in.Event != nil && recording.MarketData(in.Event.Kind) {
		j.dataNumber = number
	}
}

// Withheld records a command that never becomes an intent: a live.Recorder.
func (j *botJournal) Withheld(c *market.Command) {
	j.record(&recording.Record{Kind: recording.KindWithheld, At: j.engine.Now(), Order: c.Order.ID, Command: c.Kind})
}

// Begun records that the commands of the start are asked for now: a live.Recorder.
func (j *botJournal) Begun() {
	j.begun = true
	j.record(&recording.Record{Kind: recording.KindBegun, At: j.engine.Now()})
}

// begin records the start of a process: what its engine is made of, what it begins with, and that
// it begins. What is journalled before the first event has this time.
func (j *botJournal) begin(at market.Time, m *core.Manifest, parts map[string][]byte, history []market.Candle) error {
	j.at = at
	j.shown.addCandles(history)
	if j.recording == nil {
		return nil
	}
	text, err := m.Encode()
	if err != nil {
		return err
	}
	j.record(&recording.Record{Kind: recording.KindStart, At: at, Manifest: text, Parts: parts})
	j.recordHistory(at, history)
	j.latest.add(history)
	j.record(&recording.Record{Kind: recording.KindOpen, At: at})
	j.day = at.Day()
	return nil
}

// recordHistory records the candles of a warm-up.
func (j *botJournal) recordHistory(at market.Time, history []market.Candle) {
	for len(history) > 0 {
		n := min(historyPart, len(history))
		j.record(&recording.Record{Kind: recording.KindHistory, At: at, Candles: history[:n]})
		history = history[n:]
	}
}

// recordTurn records that a commit follows, and with which journal entries. If there are commands
// among them, what led to them is with the operating system before the commit: a kill loses no
// cause.
func (j *botJournal) recordTurn() {
	if j.recording == nil || j.batch.Len() == 0 {
		return
	}
	to := j.entries + uint64(j.batch.Entries())
	j.shadow.turn(to)
	j.record(&recording.Record{Kind: recording.KindTurn, At: j.at, From: j.entries, To: to})
	if j.commands {
		j.flushRecording()
	}
	j.batch.Blob(statedir.RecordingBlob, statedir.AppendNextRecord(nil, j.recording.Next()))
}

func (j *botJournal) flushRecording() {
	if err := j.recording.Flush(); err != nil {
		j.notRecorded(err)
	}
}

// snapshot is the saved parts of the engine by name; nil: none is taken.
type snapshot map[string][]byte

func (s snapshot) add(part string, data []byte) {
	if s != nil && data != nil {
		s[part] = bytes.Clone(data)
	}
}

// newSnapshot begins a snapshot with the first save of all parts on a UTC day.
func (j *botJournal) newSnapshot(at market.Time, all bool) snapshot {
	if j.recording == nil || !all || at.Day() == j.day || j.engine.Brackets().Held() {
		return nil
	}
	return snapshot{}
}

// recordSnapshot records the snapshot of a commit, at the beginning of a block. Once trading has
// begun it has what the engine is made of, and the candles of the warm-up follow: a replay may go
// on there after a loss.
func (j *botJournal) recordSnapshot(at market.Time, s snapshot) {
	if s == nil {
		return
	}
	j.day = at.Day()
	r := recording.Record{Kind: recording.KindSnapshot, At: at, Parts: s}
	if !j.begun {
		j.record(&r)
		return
	}
	var err error
	if r.Manifest, err = j.describe(); err != nil {
		j.notRecorded(err)
	}
	j.flushRecording()
	j.record(&r)
	j.recordHistory(at, j.latest.all())
}

// notRecorded logs, once, why the recording has lost something.
func (j *botJournal) notRecorded(err error) {
	if !j.unrecorded {
		j.unrecorded = true
		j.log.Error().Err(err).Msg("the recording has lost events: bot replay cannot check what followed from them")
	}
}

// nameHistory journals the candles of the warm-up: by series the first, how many, and their hash.
// The recording has the candles themselves.
func (r *runner) nameHistory(at market.Time, history []market.Candle) {
	sums := replay.WarmupSums(r.plan.Catalog, history)
	for _, s := range r.series() {
		name := replay.WarmupName(r.plan.Catalog.Market(s.Market), s.Interval)
		if sum := sums[name]; sum != nil {
			r.journal.batch.Cursor(at, name, sum)
		}
	}
}

package runner

import (
	"bytes"
	"sync"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// historyPart is how many candles of a warm-up are one record.
const historyPart = 4096

// inputRecorder records what enters the engine of a bot, and keeps what a snapshot or a reload
// needs of it. It belongs to the loop's goroutine.
type inputRecorder struct {
	*books
	recording  *recording.Writer // nil: none is kept
	packing    sync.WaitGroup    // of its blocks, which leave the loop's goroutine to be compressed
	input      recording.Record  // reused
	dataNumber uint64            // of the latest input in the recording; 0: it was no market data
	day        int64             // UTC day of the latest snapshot in the recording
	begun      bool              // trading has begun
	unrecorded bool              // the recording has lost something, which is logged once
	manifest   *core.Manifest    // what engine, account and gate are made of
	latest     latestCandles     // for the snapshots
	shown      *plots            // gets candles and books, for pictures
	copying    copying
}

// record adds a record to the recording, where there is one, and returns its number; 0: it is not
// recorded.
func (r *inputRecorder) record(one *recording.Record) uint64 {
	if r.recording == nil {
		return 0
	}
	number, err := r.recording.Write(one)
	if err != nil {
		r.notRecorded(err)
	}
	return number
}

// Input records what enters the engine: a live.Recorder.
func (r *inputRecorder) Input(in *market.Input) {
	r.input.Kind, r.input.Input = recording.KindInput, *in
	number := r.record(&r.input)
	if in.Event != nil {
		r.shown.input(in.Event)
	}
	if in.Event != nil && in.Event.Kind == market.KindCandles {
		r.latest.add(in.Event.Candles)
		if r.copying.catching {
			r.copying.caught = append(r.copying.caught, in.Event.Candles...)
		}
	}
	if r.dataNumber = 0; in.Event != nil && recording.MarketData(in.Event.Kind) {
		r.dataNumber = number
	}
}

// Withheld records a command that never becomes an intent: a live.Recorder.
func (r *inputRecorder) Withheld(c *market.Command) {
	r.record(&recording.Record{Kind: recording.KindWithheld, At: r.engine.Now(), Order: c.Order.ID, Command: c.Kind})
}

// Begun records that the commands of the start are asked for now: a live.Recorder.
func (r *inputRecorder) Begun() {
	r.begun = true
	r.record(&recording.Record{Kind: recording.KindBegun, At: r.engine.Now()})
}

// begin records the start of a process: what its engine is made of, what it begins with, and that
// it begins. What is journalled before the first event has this time.
func (j *botJournal) begin(at market.Time, parts map[string][]byte, history []market.Candle) error {
	j.at = at
	j.shown.addCandles(history)
	if j.recording == nil {
		return nil
	}
	text, err := j.manifest.Encode()
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
func (r *inputRecorder) recordHistory(at market.Time, history []market.Candle) {
	for len(history) > 0 {
		n := min(historyPart, len(history))
		r.record(&recording.Record{Kind: recording.KindHistory, At: at, Candles: history[:n]})
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

func (r *inputRecorder) flushRecording() {
	if r.recording == nil {
		return
	}
	if err := r.recording.Flush(); err != nil {
		r.notRecorded(err)
	}
}

// describe returns the manifest of the engine as it is now.
func (r *inputRecorder) describe() ([]byte, error) { return r.manifest.At(r.engine).Encode() }

// snapshot is the saved parts of the engine by name; nil: none is taken.
type snapshot map[string][]byte

func (s snapshot) add(part string, data []byte) {
	if s != nil && data != nil {
		s[part] = bytes.Clone(data)
	}
}

// newSnapshot begins a snapshot with the first save of all parts on a UTC day.
func (r *inputRecorder) newSnapshot(at market.Time, all bool) snapshot {
	if r.recording == nil || !all || at.Day() == r.day || r.engine.Brackets().Held() {
		return nil
	}
	return snapshot{}
}

// recordSnapshot records the snapshot of a commit, at the beginning of a block. Once trading has
// begun it has what the engine is made of, and the candles of the warm-up follow: a replay may go
// on there after a loss.
func (r *inputRecorder) recordSnapshot(at market.Time, s snapshot) {
	if s == nil {
		return
	}
	r.day = at.Day()
	record := recording.Record{Kind: recording.KindSnapshot, At: at, Parts: s}
	if !r.begun {
		r.record(&record)
		return
	}
	var err error
	if record.Manifest, err = r.describe(); err != nil {
		r.notRecorded(err)
	}
	r.flushRecording()
	r.record(&record)
	r.recordHistory(at, r.latest.all())
}

// notRecorded logs, once, why the recording has lost something.
func (r *inputRecorder) notRecorded(err error) {
	if !r.unrecorded {
		r.unrecorded = true
		r.log.Error().Err(err).Msg("the recording has lost events: bot replay cannot check what followed from them")
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

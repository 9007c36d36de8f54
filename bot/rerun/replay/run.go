package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/internal/goroutine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Verdict is the result of a replay.
type Verdict struct {
	Equal     int         `json:"equal"`     // commands
	First     *Difference `json:"different"` // the first command that differs; nil: all are equal
	Unchecked int         `json:"unchecked"` // commands of the journal whose events are lost
	Unwritten int         `json:"unwritten"` // commands that a kill or a power cut kept from the journal
	Refused   int64       `json:"refused"`   // asks that the gate refused: they are counted, not compared
	Lost      []Lost      `json:"lost"`      // parts of the recording that are missing
	Notes     []string    `json:"notes"`     // what else was not compared, and why
	Records   uint64      `json:"records"`   // that were played
	Starts    int         `json:"starts"`
	Reloads   int         `json:"reloads"`   // that were carried out
	Resumed   int         `json:"resumed"`   // snapshots from which the play went on after a loss
	Snapshots int         `json:"snapshots"` // saved states that are equal
	Programs  []string    `json:"programs"`  // versions that wrote the recording
	From      market.Time `json:"from_ns"`   // of what was played
	To        market.Time `json:"to_ns"`
}

func newReport() *Verdict { return &Verdict{Lost: []Lost{}, Notes: []string{}, Programs: []string{}} }

// Lost is a part of the recording that is missing, with the commands that are unchecked for it.
type Lost struct {
	From      uint64 `json:"from"` // numbers of records
	To        uint64 `json:"to"`
	Unchecked int    `json:"unchecked"`
}

// String is the line for a person.
func (l *Lost) String() string {
	return fmt.Sprintf("events %d to %d are lost, %d commands unchecked", l.From, l.To, l.Unchecked)
}

// Run replays the recording in a state folder and compares it with the journal. It writes nothing.
// A state file that a running bot holds, a recording that is missing, of another bot, or damaged
// beyond what a reader steps over, and a strategy that the program lacks are errors. watch gets the
// callback of each engine that is played, so that a strategy that does not return can be named;
// nil: it is not called.
func Run(ctx context.Context, dir string, kinds []strategy.Definition, watch func(backtest.Watched)) (r *Verdict,
	err error) {
	store, err := journal.ReadUntil(ctx, filepath.Join(dir, statedir.StateFile))
	if err != nil {
		return nil, statedir.Error{Err: err}
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := sound(store); err != nil {
		return nil, err
	}
	p := player{kinds: kinds, watch: watch}
	r, err = p.play(ctx, dir, store)
	if err != nil || r.First == nil {
		return r, err
	}
	// The same program decides the same again, unless a strategy asks for more than the engine
	// tells it.
	again, err := p.play(ctx, dir, store)
	if err != nil {
		return nil, err
	}
	r.First.explain(again.First)
	return r, nil
}

// sound refuses a state file with damage, and names the first.
func sound(store *journal.Store) error {
	checked, err := store.Check()
	if err != nil {
		return statedir.Error{Err: err}
	}
	for _, flaw := range checked.Flaws {
		return statedir.Error{Err: fmt.Errorf("%s: %w: %s; bot state check lists all", store.Path(), bolt.ErrCorrupt,
			flaw.String())}
	}
	return nil
}

// play plays a recording once. A strategy that ends its goroutine is called on goroutines of its
// own the second time.
func (p player) play(ctx context.Context, dir string, store *journal.Store) (r *Verdict, err error) {
	for _, apart := range []engine.Apart{nil, goroutine.Call} {
		p.apart = apart
		if goroutine.Call(func() { r, err = p.playWith(ctx, dir, store) }) {
			break
		}
	}
	return r, err
}

func (p player) playWith(ctx context.Context, dir string, store *journal.Store) (*Verdict, error) {
	if err := p.open(store); err != nil {
		return nil, err
	}
	defer p.written.close()
	known, err := store.Blob(statedir.RecordingBlob)
	if err != nil {
		return nil, err
	}
	err = p.walk(ctx, reader.Source{Dir: dir, Next: statedir.NextRecord(known)})
	if err == nil && p.report.First == nil {
		err = p.end()
	}
	return p.done(), err
}

// walk plays records until their end, or until the first command that differs.
func (p *player) walk(ctx context.Context, of reader.Source) error {
	for item, err := range reader.Items(ctx, of) {
		switch {
		case err != nil:
		case item.Gap != nil:
			err = p.lack(item.Gap)
		default:
			err = p.record(item)
		}
		if err != nil || p.report.First != nil {
			return err
		}
	}
	return nil
}

// done is the report of a play that has ended.
func (p *player) done() *Verdict {
	p.report.Refused = p.refused.count
	return p.report
}

// player plays the records of a recording. It lives through the starts of many processes; between
// a loss and the next start or snapshot it only reads.
type player struct {
	report  *Verdict
	kinds   []strategy.Definition
	watch   func(backtest.Watched)
	apart   engine.Apart
	written written
	refused refusals
	runs    map[uuid.UUID]uint64 // the number of each run's first entry; nil: all runs are played
	change  func(*core.Manifest) (*core.Manifest, error)

	core     *core.Core // nil: nothing is played until the next start or snapshot
	manifest *core.Manifest
	parts    map[string][]byte
	opened   uint64            // number of the KindOpen
	warmups  map[string][]byte // hashes of the warm-up, until the first commit; nil: checked
	holding  bool              // the commands wait for KindBegun
	held     []Command         // those
	asked    []Command         // since the last commit
	last     uint64            // number of the latest record
	losing   bool              // a part is missing since the last start or snapshot
	gap      string            // why commands are unchecked, where no part is missing
	left     int               // of them, those of the turn that differed

	thinned   int    // commands whose entries were taken out of the journal
	thinnedTo uint64 // the last of these entries

	resumption
}

// open reads which runs the journal has.
func (p *player) open(store *journal.Store) error {
	p.report = newReport()
	p.forgetful = map[uuid.UUID]bool{}
	runs, err := store.Runs()
	if err != nil {
		return err
	}
	p.runs = map[uuid.UUID]uint64{}
	for i := range runs {
		p.runs[runs[i].Run] = runs[i].First
	}
	p.written = readEntries(store)
	return nil
}

// record plays one record.
func (p *player) record(item *reader.Item) (err error) {
	number, rec := item.Number, item.Record
	defer func() {
		if reason := recover(); reason != nil { // a broken invariant of the engine: records that cannot be
			err = fmt.Errorf("record %d cannot be played: %w: %v", number, bolt.ErrCorrupt, reason)
		}
	}()
	p.last = number
	if p.offered != nil && rec.Kind != recording.KindHistory {
		if err := p.resume(item.History); err != nil {
			return err
		}
	}
	switch {
	case rec.Kind == recording.KindStart:
		return p.start(item)
	case p.manifest == nil && rec.Kind == recording.KindSnapshot:
		return p.offer(item)
	case p.manifest == nil:
		return nil
	}
	p.report.Records++
	switch rec.Kind {
	case recording.KindOpen:
		return p.begin(item)
	case recording.KindWaiting:
		p.holding = false
	case recording.KindBegun:
		p.asked, p.held = append(p.asked, p.held...), nil
	case recording.KindWithheld:
		p.withhold(rec.Order, rec.Command)
	case recording.KindTurn:
		return p.turn(number, rec)
	case recording.KindSnapshot:
		return p.compareState(number, rec)
	case recording.KindInput:
		return p.input(number, &rec.Input)
	case recording.KindReload:
		return p.reload(item)
	}
	return nil
}

// start begins the play of a process.
func (p *player) start(item *reader.Item) error {
	m, err := p.made(item)
	if err != nil {
		return err
	}
	p.report.Unwritten += len(p.asked)
	p.stop()
	first, known := p.runs[m.Run]
	if !known && p.runs != nil {
		p.note("a start of %s (record %d) is not in the journal: it ended before its first commit, or the journal's "+
			"beginning was taken out", item.At, item.Number)
		return nil
	}
	if err := p.skipTo(first); err != nil {
		return err
	}
	if p.core, err = p.coreOf(item.Number, m); err != nil {
		return err
	}
	p.manifest, p.parts, p.resumed, p.behind = m, item.Parts, 0, false
	p.report.Starts++
	p.began(item.At, m)
	return nil
}

// made is the manifest of the engine from a record on.
func (p *player) made(item *reader.Item) (*core.Manifest, error) {
	if p.change != nil {
		return p.change(item.Manifest)
	}
	return item.Manifest, nil
}

// coreOf makes the engine of a manifest.
func (p *player) coreOf(number uint64, m *core.Manifest) (*core.Core, error) {
	config, err := m.Core(p.kinds)
	if err != nil {
		return nil, err
	}
	config.Observer, config.Apart = &p.refused, p.apart
	made, err := core.New(config)
	if err != nil {
		return nil, fmt.Errorf("record %d: make the strategies of a start: %w", number, err)
	}
	if p.watch != nil {
		p.watch(backtest.Watched{Callback: made.Engine.Callback(), Name: m.NameOf})
	}
	return made, nil
}

// began notes in the report what is played from now on.
func (p *player) began(at market.Time, m *core.Manifest) {
	if !slices.Contains(p.report.Programs, m.Program) {
		p.report.Programs = append(p.report.Programs, m.Program)
	}
	if p.report.From == 0 {
		p.report.From = at
	}
}

// begin lets the engine of a start begin.
func (p *player) begin(item *reader.Item) error {
	commands, err := p.core.Open(item.At, p.parts, item.History)
	if err != nil {
		return fmt.Errorf("record %d: begin as the bot did: %w", item.Number, err)
	}
	p.holding, p.opened, p.parts = true, item.Number, nil
	if p.runs != nil {
		p.warmups = WarmupSums(p.core.Account.Catalog(), item.History)
	}
	p.ask(item.Number, "the start of "+item.At.String(), commands)
	return nil
}

// input lets an input enter the engine.
func (p *player) input(number uint64, in *market.Input) error {
	if p.report.To = in.At; in.Event != nil {
		p.report.To = in.Event.At
	}
	answer := p.core.Engine.Enter(in)
	if answer.Err != nil {
		return fmt.Errorf("record %d: %w", number, answer.Err)
	}
	if len(answer.Commands) > 0 && in.Kind != market.InputBooking {
		p.askOf(number, in, answer.Commands)
	}
	return nil
}

// reload carries out a reload of the bot. A canary with a config of its own keeps the settings of
// that: nothing changes in it.
func (p *player) reload(item *reader.Item) error {
	m, err := p.made(item)
	if err != nil {
		return err
	}
	r, later := core.ReloadOf(item.Record, m)
	r.Kinds, r.Apart = p.kinds, p.apart
	if err := r.Prepare(p.manifest); err != nil {
		return fmt.Errorf("record %d: prepare the reload of %s: %w", item.Number, item.At, err)
	}
	commands, err := p.core.Reload(item.At, r, later)
	if err != nil { // the bot refused it too, and went on
		p.note("the reload of %s was refused: %v", item.At, err)
		return nil
	}
	p.manifest = m
	p.report.Reloads++
	p.ask(item.Number, "the reload of "+item.At.String(), commands)
	return nil
}

// stop ends the play of a process: nothing is played until the next start or snapshot.
func (p *player) stop() {
	p.core, p.manifest, p.parts, p.warmups = nil, nil, nil, nil
	p.asked, p.held, p.holding, p.offered = nil, nil, false, nil
}

// lack notes what is missing. Records that cannot be read are an error where the start that they
// belong to is known.
func (p *player) lack(gap *reader.Gap) error {
	if gap.To == 0 { // the end is torn off
		p.report.Unwritten += len(p.asked)
	}
	for _, l := range gap.Lost {
		switch {
		case l.Err == nil:
			p.lose(l.From, l.To)
		case p.manifest != nil:
			return l.Err
		}
		p.offered = nil
	}
	return nil
}

// lose notes a missing part. What follows cannot be played until the next start or snapshot. Before
// the first of them nothing could be played anyway.
func (p *player) lose(from, to uint64) {
	if p.report.Starts+p.report.Resumed == 0 {
		return
	}
	p.losing = true
	p.report.Lost = append(p.report.Lost, Lost{From: from, To: to})
	p.stop()
}

// end counts what the recording no longer has.
func (p *player) end() error {
	if p.thinned > 0 {
		p.note("the journal no longer has all entries up to %d: %d commands are unchecked", p.thinnedTo, p.thinned)
	}
	p.report.Unwritten += len(p.asked)
	if err := p.skipTo(0); err != nil {
		return err
	}
	if p.report.Starts+p.report.Resumed == 0 && len(p.runs) > 0 {
		return fmt.Errorf("no start in the recording is one of the %d runs of the journal: it is of another bot, or "+
			"of a program that did not record starts; one of each folder belong together", len(p.runs))
	}
	return nil
}

// skipTo reads the journal up to an entry, 0: to its end, and counts the commands as unchecked.
func (p *player) skipTo(first uint64) error {
	count, err := p.written.skipTo(first)
	p.report.Unchecked += count
	switch {
	case count == 0 && p.gap == "":
	case p.gap != "":
		p.note("%s: %d commands", p.gap, count+p.left)
	case p.losing:
		p.report.Lost[len(p.report.Lost)-1].Unchecked += count
	case p.report.Starts+p.report.Resumed == 0:
		p.note("%d commands are older than the first start in the recording: they are unchecked", count)
	case p.report.Starts == 0 && p.report.Resumed == 1 && p.resumed != 0:
		p.note("%d commands are older than the first snapshot in the recording, and it has no start before: they are "+
			"unchecked", count)
	default:
		p.note("%d commands came while nothing was recorded: they are unchecked", count)
	}
	p.losing, p.gap, p.left = false, "", 0
	return err
}

func (p *player) note(format string, args ...any) {
	p.report.Notes = append(p.report.Notes, fmt.Sprintf(format, args...))
}

// refusals counts the gate's refusals.
type refusals struct{ count int64 }

// Filled is of engine.Observer.
func (*refusals) Filled(*state.Order, *market.Fill) {}

// Closed is of engine.Observer.
func (*refusals) Closed(*state.Order) {}

// Refused counts a refusal of the gate: an engine.Refuser.
func (r *refusals) Refused(_, _ *market.Command, why *risk.Refusal) {
	if why.Reason != risk.ReasonWarmUp {
		r.count++
	}
}

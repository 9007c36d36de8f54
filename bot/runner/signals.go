package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/signals"
)

// The bounds of a signal that counts.
const (
	actionAge   = time.Minute     // of an action whose source has no max_age
	aheadOfUs   = 5 * time.Second // a sender's clock may be
	priceApart  = 0.05            // of the latest price
	sameBody    = 30 * time.Second
	keepIDs     = 24 * time.Hour
	lateResends = 20 * time.Second // beyond max_age a sender may send again
	maxSeen     = 10_000
	hearTimeout = 5 * time.Second
)

// ErrNotHearing is returned by listening.Hear before trading begins.
var ErrNotHearing = errors.New("the bot does not trade yet: it reconciles with the exchange")

// listening is what a bot hears from outside. All but Hear belongs to the loop's goroutine. It is a
// signals.Ear.
type listening struct {
	*runner
	trades  atomic.Bool // trading has begun
	sources map[string]*source
	seen    map[statedir.SignalKey]statedir.SeenSignal
	queues  [2][]statedir.SignalKey // of seen, by Until: bodies, ids
	known   market.Time             // when the latest one counted
	dirty   bool                    // figures have changed since they were saved
}

// source is a source of signals.
type source struct {
	name    string
	options signals.Options
	heard   statedir.HeardSource
	refused map[string]*refusedSignal // by verdict
	silent  bool                      // an alert has told of it
	came    atomic.Int64              // when the latest one came, or the bot began
}

// refusedSignal is what was refused of a source for one reason since its last journal entry.
type refusedSignal struct {
	repeats
	entry journal.Signal // of the last one
}

// openListening makes what hears the sources of a config, as earlier runs have left it.
func (r *runner) openListening(context.Context) (err error) {
	h := &listening{runner: r, sources: map[string]*source{}}
	r.listening = h
	heard, err := statedir.ReadHeard(r.store)
	if err != nil {
		return err
	}
	for name := range r.plan.Config.Signals.Sources {
		s := &source{name: name, heard: heard[name], refused: map[string]*refusedSignal{}}
		if s.options, err = r.plan.SignalOptions(name); err != nil {
			return fmt.Errorf("signals %s: %w", name, err)
		}
		s.came.Store(int64(max(s.heard.Last, r.began)))
		h.sources[name] = s
	}
	if h.seen, err = statedir.ReadSeen(r.store); err != nil {
		return err
	}
	for key, s := range h.seen {
		queue := &h.queues[0]
		if s.Until > r.began.Add(sameBody) {
			queue = &h.queues[1]
		}
		*queue = append(*queue, key)
	}
	for _, queue := range h.queues {
		slices.SortFunc(queue, func(a, b statedir.SignalKey) int {
			return cmp.Compare(h.seen[a].Until, h.seen[b].Until)
		})
	}
	if r.Ear != nil {
		r.Ear(h)
	}
	return nil
}

// Hear takes a signal over, between two events of the loop, and waits for its commit.
func (h *listening) Hear(ctx context.Context, a signals.Arrival) (heard signals.Heard, err error) {
	if !h.trades.Load() {
		return heard, ErrNotHearing
	}
	s := h.sources[a.Source]
	if s == nil {
		return heard, fmt.Errorf("there is no [signals.%s]", a.Source)
	}
	if a.Came == 0 {
		a.Came = h.trading.Now()
	}
	ctx, cancel := context.WithTimeout(ctx, hearTimeout)
	defer cancel()
	defer h.dog.cancelOnBlock(cancel)()
	err = h.loop.Do(ctx, func(at market.Time) (commands []market.Command) {
		heard, commands = h.take(s, &a, at)
		h.fault("signal taken")
		return commands
	})
	if err == nil {
		err = h.loop.Inspect(ctx, func(market.Time) {}) // its turn is committed
		h.fault("signal kept")
	}
	if err != nil {
		return signals.Heard{}, loopError(err)
	}
	return heard, nil
}

// take judges a signal, and lets one that counts enter the engine.
func (h *listening) take(s *source, a *signals.Arrival, at market.Time) (signals.Heard, []market.Command) {
	s.heard.Last, s.silent, h.dirty = max(s.heard.Last, a.Came), false, true
	s.came.Store(int64(s.heard.Last))
	h.forget(at)
	key := keyOf(a)
	if seen, again := h.seen[key]; again {
		s.heard.Repeated++
		h.watch.count("signals_total", 1, s.name, "repeated")
		return signals.Heard{Number: seen.Number, Again: true}, nil
	}
	m, verdict, reason := h.judge(s, a)
	if verdict != "" {
		return signals.Heard{Number: h.refuse(s, a, at, verdict, reason), Refused: reason}, nil
	}
	return h.accept(s, a, m, at, key)
}

// judge says why a signal does not count, in a word and in words.
func (h *listening) judge(s *source, a *signals.Arrival) (m *market.Market, verdict, reason string) {
	if a.Wrong != "" {
		return nil, "malformed", a.Wrong
	}
	age, longest := a.Came.Sub(a.Sent), s.options.MaxAge
	if longest == 0 && a.Signal.Action != 0 && a.Signal.Stance == 0 && !a.Signal.HasTarget {
		longest = actionAge
	}
	switch {
	case a.Sent == 0:
	case age < -aheadOfUs:
		return nil, "future", fmt.Sprintf("its time %s is %s ahead of the exchange's clock", a.Sent,
			-age.Round(time.Millisecond))
	case longest != 0 && age > longest:
		return nil, "old", fmt.Sprintf("its time %s is %s ago, max_age is %s; where the times are starts of candles, "+
			"set stamped = %q", a.Sent, age.Round(time.Millisecond), longest, signals.StampedOpen)
	}
	m, err := s.options.On(a.Market, h.plan.Catalog)
	if err != nil {
		return nil, "market", err.Error()
	}
	if m != nil && a.Price != 0 {
		last := float64(h.account.Last(m.ID)) / float64(market.Pow10(m.PriceDigits))
		if last > 0 && math.Abs(a.Price/last-1) > priceApart {
			return nil, "price", fmt.Sprintf("its price %v is more than %g %% off the last one, %v: another exchange, "+
				"or another unit", a.Price, 100*priceApart, last)
		}
	}
	return m, "", ""
}

// entryOf is the journal entry of a signal.
func entryOf(a *signals.Arrival) journal.Signal {
	return journal.Signal{Source: a.Source, ID: a.ID, Hash: a.Hash, Body: a.Body, Sent: a.Sent, Came: a.Came,
		Address: a.Address, Proof: a.Proof, Market: a.Market, Short: a.Short}
}

// refuse counts a signal that does not count, and journals it unless it is one of many. It
// returns the number of the entry.
func (h *listening) refuse(s *source, a *signals.Arrival, at market.Time, verdict, reason string) (number int64) {
	s.heard.Refused++
	h.watch.count("signals_total", 1, s.name, "refused")
	k := s.refused[verdict]
	if k == nil {
		k = &refusedSignal{}
		s.refused[verdict] = k
	}
	k.add(at)
	k.entry = entryOf(a)
	k.entry.Verdict, k.entry.Reason = verdict, reason
	if k.wait == 0 {
		number = h.journal.nextEntry()
		h.write(k, at)
		h.save()
		h.log.Warn().Str("source", s.name).Str("market", a.Market).Str("reason", reason).Int64("signal", number).
			Msg("a signal is refused; further ones of its kind are counted")
	}
	return number
}

// write journals what was refused of a kind.
func (h *listening) write(k *refusedSignal, at market.Time) {
	k.entry.Count, k.entry.First = k.count, k.first
	h.journal.batch.Journal(max(at, h.journal.at), &k.entry)
	k.wrote()
}

// minute journals the refused signals that wait for it, or all, and saves the figures.
func (h *listening) minute(at market.Time, all bool) {
	if h == nil { // the bot did not get so far
		return
	}
	for _, name := range slices.Sorted(maps.Keys(h.sources)) {
		refused := h.sources[name].refused
		for _, verdict := range slices.Sorted(maps.Keys(refused)) {
			switch k := refused[verdict]; {
			case k.due(at) || all && k.count > 0:
				h.write(k, at)
			case k.over(at):
				delete(refused, verdict)
			}
		}
	}
	if h.dirty {
		h.save()
	}
}

// accept lets a signal enter the engine and journals it, before what follows from it.
func (h *listening) accept(s *source, a *signals.Arrival, m *market.Market, at market.Time,
	key statedir.SignalKey) (signals.Heard, []market.Command) {
	entry, signal := entryOf(a), a.Signal
	h.known = max(at, h.known+1) // no two at once: a file of them keeps their order
	signal.Source, signal.Number, signal.Known, signal.Arrived = s.name, h.journal.nextEntry(), h.known, a.Came
	signal.Time = min(cmp.Or(signal.Time, at), h.known) // else a clock that is ahead outdates what comes next
	if entry.Market = ""; m != nil {
		signal.Market, entry.Market = m.ID, m.Name
	}
	if s.options.MaxAge > 0 {
		signal.Until = signal.Known.Add(s.options.MaxAge)
	}
	last, known := h.engine.LatestSignal(s.name, signal.Market)
	latest := last.Time
	if all, is := h.engine.LatestSignal(s.name, 0); is {
		latest = max(latest, all.Time)
	}
	if inOneSecond(signal.Time, latest) {
		signal.Time = latest
	}
	entry.Past = signal.Time < latest
	entry.Lost = known && a.Was != 0 && last.Stance != 0 && last.Stance != a.Was
	answer := h.door.Enter(&market.Input{Kind: market.InputSignal, At: at, Signal: &signal})
	entry.Heard, entry.Deaf = h.namesOf(answer.Heard), h.namesOf(answer.Deaf)
	for i := range answer.Commands {
		if id := answer.Commands[i].Order.ID; !slices.Contains(entry.Orders, id) {
			entry.Orders = append(entry.Orders, id)
		}
	}
	h.journal.signal(at, &entry)
	h.remember(key, a, signal.Number, at, s)
	h.count(s, a, &entry, last.Stance)
	line := h.log.Info().Str("source", s.name).Int64("signal", signal.Number).Str("market", entry.Market).
		Strs("strategies", entry.Heard)
	if a.Sent != 0 { // else the sender does not say
		line = line.Stringer("sent", a.Sent)
	}
	heard := signals.Heard{Number: signal.Number}
	if entry.Past {
		heard.Note = journal.PastText
		line.Str("note", heard.Note)
	}
	line.Msg("signal")
	return heard, answer.Commands
}

// inOneSecond reports whether a time is written in whole seconds, and another one lies later in its
// second: the order in which both came decides then.
func inOneSecond(at, other market.Time) bool {
	return at < other && at == market.FloorTo(other, market.Time(time.Second))
}

// count counts a signal that counts.
func (h *listening) count(s *source, a *signals.Arrival, entry *journal.Signal, before market.Stance) {
	s.heard.Received++
	h.watch.count("signals_total", 1, s.name, "received")
	if a.Short {
		s.heard.Shorts++
		h.watch.count("signals_total", 1, s.name, "short")
	}
	if entry.Past {
		h.watch.count("signals_total", 1, s.name, "past")
	}
	if entry.Lost {
		s.heard.Lost++
		h.watch.count("signals_total", 1, s.name, "lost")
		h.watch.raise(alert.SignalLost, "%s %s: the sender was %s before, the bot has heard %s: a signal is lost",
			s.name, entry.Market, a.Was, before)
	}
	h.save()
}

// all are the sources by name.
func (h *listening) all() map[string]*source {
	if h == nil {
		return nil
	}
	return h.sources
}

// figures are what was heard of each source.
func (h *listening) figures() map[string]statedir.HeardSource {
	by := map[string]statedir.HeardSource{}
	for name, s := range h.sources {
		by[name] = s.heard
	}
	return by
}

// status is what bot status says of the sources.
func (h *listening) status() []operator.SignalSource {
	list := operator.SignalSources(h.figures())
	for i := range list {
		x := &list[i]
		x.Live, x.Silent = h.plan.Config.Signals.Sources[x.Source].Live, h.sources[x.Source].silent
	}
	return list
}

// save keeps the figures for the next run.
func (h *listening) save() {
	text, err := statedir.AppendHeard(nil, h.figures())
	if err != nil {
		panic(err) // whole numbers
	}
	h.journal.batch.Blob(statedir.SignalsBlob, text)
	h.dirty = false
}

// keyOf is the key under which a signal counts once.
func keyOf(a *signals.Arrival) statedir.SignalKey {
	if a.ID == "" {
		return statedir.SignalKey(a.Hash[:16])
	}
	text, _ := json.Marshal([]string{a.Source, a.ID}) // texts
	sum := sha256.Sum256(text)
	return statedir.SignalKey(sum[:16])
}

// remember keeps the key of a signal that counts: an id for a day at least, a body for as long as
// senders send again.
func (h *listening) remember(key statedir.SignalKey, a *signals.Arrival, number int64, at market.Time, s *source) {
	queue, kept := &h.queues[0], sameBody
	if a.ID != "" {
		queue, kept = &h.queues[1], max(keepIDs, s.options.MaxAge+lateResends)
	}
	seen := statedir.SeenSignal{Number: number, Until: at.Add(kept)}
	h.seen[key] = seen
	*queue = append(*queue, key)
	h.journal.batch.Blob(key.Blob(), statedir.AppendSeen(nil, seen))
	for len(h.queues[1]) > maxSeen {
		h.drop(&h.queues[1])
	}
}

// forget drops the keys whose time is over.
func (h *listening) forget(at market.Time) {
	for i := range h.queues {
		for len(h.queues[i]) > 0 && h.seen[h.queues[i][0]].Until <= at {
			h.drop(&h.queues[i])
		}
	}
}

func (h *listening) drop(queue *[]statedir.SignalKey) {
	h.journal.batch.RemoveBlob((*queue)[0].Blob())
	delete(h.seen, (*queue)[0])
	*queue = (*queue)[1:]
}

// checkSilence raises an alert for each source that has said nothing for longer than its every.
func (w *watch) checkSilence() {
	h := w.r.listening
	if h == nil || !h.trades.Load() {
		return
	}
	now := w.r.trading.Now()
	for _, name := range slices.Sorted(maps.Keys(h.sources)) {
		s := h.sources[name]
		came := market.Time(s.came.Load())
		if every := s.options.Every; every > 0 && !s.silent && now.Sub(came) > every+every/10 {
			s.silent = true
			w.raise(alert.SourceSilent, "signals %s: nothing came since %s, every is %s", name, came, every)
		}
	}
}

// namesOf are the names of strategies.
func (b *books) namesOf(ids []market.StrategyID) (names []string) {
	for _, id := range ids {
		names = append(names, b.nameOf(id))
	}
	return names
}

// nextEntry is the number of the journal's next entry.
func (j *botJournal) nextEntry() int64 { return int64(j.entries) + int64(j.batch.Entries()) + 1 }

// signal journals a signal that has entered the engine, then the refusals that followed.
func (j *botJournal) signal(at market.Time, entry *journal.Signal) {
	j.at, j.cause, j.grouped = at, journal.Cause{Signals: []int64{j.nextEntry()}}, nil
	j.batch.Journal(at, entry)
	j.setCause(j.causeOf, j.journalRefusal)
}

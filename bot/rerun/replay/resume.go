package replay

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
)

// snapshot is the state of a running bot from which a play may go on after a loss. The candles of
// its warm-up follow it in the recording.
type snapshot struct {
	number   uint64
	at       market.Time
	manifest *core.Manifest
	parts    map[string][]byte
}

// resumption is how a play goes on after a loss.
type resumption struct {
	offered   *snapshot          // its candles are being read; nil: none
	resumed   market.Time        // of the snapshot from which the play went on; 0: a start
	behind    bool               // the journal is still at the loss
	saves     map[string]bool    // strategies of which the snapshot had a part
	forgetful map[uuid.UUID]bool // runs with a strategy that differed after a snapshot
}

// offer notes a snapshot from which the play may go on.
func (p *player) offer(item *reader.Item) error {
	if len(item.Record.Manifest) == 0 {
		return nil
	}
	m, err := p.made(item)
	if err != nil {
		return err
	}
	if _, known := p.runs[m.Run]; !known && p.runs != nil || p.forgetful[m.Run] {
		return nil
	}
	p.offered = &snapshot{number: item.Number, at: item.At, manifest: m, parts: item.Parts}
	return nil
}

// resume lets the play go on from a snapshot: the engine is restored as after a restart, and must
// save the bytes of the snapshot.
func (p *player) resume(history []market.Candle) error {
	s := p.offered
	p.offered = nil
	made, err := p.coreOf(s.number, s.manifest)
	if err != nil {
		return err
	}
	commands, err := made.Open(0, s.parts, history)
	if err != nil {
		return fmt.Errorf("record %d: go on from the snapshot of %s: %w", s.number, s.at, err)
	}
	now, err := made.Saved()
	if err != nil {
		return fmt.Errorf("record %d: save the state: %w", s.number, err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.parts)) {
		if len(commands) > 0 || !bytes.Equal(s.parts[name], now[name]) {
			p.note("the snapshot of %s has something that no restart restores (part %s): the next one is tried", s.at,
				name)
			return nil
		}
	}
	p.saves = map[string]bool{}
	for part := range now {
		if name, is := strings.CutPrefix(part, engine.PartStrategy); is {
			p.saves[name] = true
		}
	}
	p.core, p.manifest, p.resumed, p.behind = made, s.manifest, s.at, true
	p.report.Resumed++
	p.began(s.at, s.manifest)
	return nil
}

// catchUp skips the commands of the journal between a loss and the snapshot from which the play
// went on.
func (p *player) catchUp(before uint64) error {
	if !p.behind {
		return nil
	}
	p.behind = false
	return p.skipTo(before + 1)
}

// differ ends the play with a difference. After a snapshot a strategy that saves nothing may only
// lack its memory: its run is then unchecked from there on. left is how many commands of the turn
// the journal still has.
func (p *player) differ(d *Difference, left int) {
	if p.resumed == 0 || d.by != "" && p.saves[d.by] || d.by == "" && len(p.saves) == len(p.manifest.Strategies) {
		p.report.First = d
		return
	}
	p.report.Unchecked += left
	p.gap = fmt.Sprintf("event %d: strategy %s decides otherwise than the journal. It saves nothing, and the play "+
		"went on from the snapshot of %s, which lacks its memory: unchecked until the next start", d.Record, d.by,
		p.resumed)
	if d.by == "" {
		p.gap = fmt.Sprintf("%s differs from the journal. The play went on from the snapshot of %s, which lacks the "+
			"memory of strategies that save nothing: unchecked until the next start", d.Event, p.resumed)
	}
	p.left = left
	p.forgetful[p.manifest.Run] = true
	p.stop()
}

package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/folder"
	"github.com/tidemark-trading/tidemark/direct"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// twinVersion is the version of twinState. A program refuses a later one.
const twinVersion = 1

// twinState is a twin at the end of a run: folder.TwinBlob. The next run goes on with it, if no
// other run came in between.
type twinState struct {
	Version    int               `json:"version"`
	Run        uuid.UUID         `json:"run"`
	Began      market.Time       `json:"began"` // of the first run that it goes back to
	Strategies []string          `json:"strategies"`
	Base       []market.Money    `json:"base"`  // of twin, by StrategyID − 1
	Money      []market.Money    `json:"money"` // likewise
	Parts      map[string][]byte `json:"parts"` // of its engine
}

// savedTwin is the twin as the last run left it; nil: it begins with the bot's state. So it does
// after a kill, which left the twin behind the bot, and where the kill switch sold meanwhile.
func (r *runner) savedTwin() (*twinState, error) {
	text, err := r.store.Blob(folder.TwinBlob)
	if err != nil || text == nil {
		return nil, err
	}
	s := &twinState{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("twin of the last run: %w: %w", boltfile.ErrCorrupt, err)
	}
	if s.Version > twinVersion {
		return nil, fmt.Errorf("twin of the last run: %w: version %d, this program reads %d; update the program",
			boltfile.ErrNewer, s.Version, twinVersion)
	}
	runs, err := r.store.Runs()
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(filepath.Join(r.plan.Config.Bot.State, direct.LogFile))
	if sold := !errors.Is(err, os.ErrNotExist); sold || len(runs) == 0 || runs[len(runs)-1].Run != s.Run ||
		!slices.Equal(s.Strategies, r.plan.Names()) {
		return nil, nil
	}
	return s, nil
}

// goOn begins the twin as the last run left it, and reports whether it could.
func (t *twin) goOn(at market.Time, history []market.Candle) bool {
	s := t.saved
	if s == nil {
		return false
	}
	if err := t.session.Restore(at, s.Parts, history); err != nil {
		return false
	}
	t.began, t.base, t.money = s.Began, s.Base, s.Money
	return true
}

// save keeps the state of a twin that has come to the end of its inputs.
func (t *twin) save() {
	defer t.recover()
	if t.ended.Load() != nil || t.base == nil {
		return
	}
	parts := map[string][]byte{}
	err := t.session.Engine().SaveAll(func(part string, data []byte) error {
		if data != nil {
			parts[part] = slices.Clone(data)
		}
		return nil
	})
	if err == nil {
		t.left.Store(&parts)
	}
}

// saveTwin writes the twin down with the end of the run; nothing where it has ended.
func (r *runner) saveTwin() error {
	batch, t := r.journal.batch, r.twin
	if t == nil || t.left.Load() == nil {
		batch.RemoveBlob(folder.TwinBlob)
		return nil
	}
	text, err := json.Marshal(&twinState{Version: twinVersion, Run: r.run, Began: t.began, Strategies: r.plan.Names(),
		Base: t.base, Money: t.money, Parts: *t.left.Load()})
	if err != nil {
		return fmt.Errorf("state of the twin: %w", err)
	}
	batch.Blob(folder.TwinBlob, text)
	return nil
}

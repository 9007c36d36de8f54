// Package adopt lets a strategy take over what another strategy of a stopped bot has: it changes
// the state file in one transaction with a journal entry, then the holdings of the kill switch. It
// never trades and asks no exchange. Start at Run.
package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Ask is the request of a person that the strategy To takes over from From.
type Ask struct {
	Folder     string // the state folder
	From, To   string
	Strategies map[string]config.StrategySection // of the config
	Fresh      bool                              // To begins without the saved state of From
	Check      bool                              // only say what would happen
	By         string                            // such as "user ann"
	Now        market.Time
	Faults     func(point string) // called between two steps; nil: it is not called
}

// Run hands over, or says what a handover would do. Where From was handed over to To before, it
// finishes that, and the report says so.
func Run(ctx context.Context, a *Ask) (r *Changes, err error) {
	if err := a.sound(); err != nil {
		return nil, err
	}
	path := filepath.Join(a.Folder, statedir.StateFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) { // opening it for writing would make one
		err = fmt.Errorf("%s: %w; a bot makes it at its first start", path, bolt.ErrNotFound)
		return nil, statedir.Error{Err: err}
	}
	open := journal.OpenUntil
	if a.Check {
		open = journal.ReadUntil
	}
	store, err := open(ctx, path)
	if errors.Is(err, bolt.ErrLocked) {
		err = fmt.Errorf("%w; a strategy hands over while the bot is stopped", err)
	}
	if err != nil {
		return nil, statedir.Error{Err: err}
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	h := handing{Ask: a, store: store, report: &Changes{From: a.From, To: a.To, Check: a.Check, Positions: []Position{},
		Orders: []HandedOrder{}, Money: []Money{}, Notes: []string{}}}
	err = h.run()
	return h.report, err
}

// sound checks the names.
func (a *Ask) sound() error {
	known := strings.Join(slices.Sorted(maps.Keys(a.Strategies)), ", ")
	_, there := a.Strategies[a.From]
	_, is := a.Strategies[a.To]
	switch {
	case a.From == a.To:
		return config.Usagef("%s cannot hand over to itself", a.From)
	case there:
		return config.Usagef("strategy %s is still in the config; take it out, or rename it, and repeat this: a "+
			"strategy of the config keeps what it has, halted or not", a.From)
	case !is:
		return config.Usagef("the config has no strategy %q; it has: %s", a.To, known)
	}
	return nil
}

// handing is a handover under way.
type handing struct {
	*Ask
	store  *journal.Store
	report *Changes
	parts  map[string][]byte
	kinds  map[string]string
	given  *engine.Adopted
}

func (h *handing) run() error {
	resumed := false
	var err error
	if h.parts, resumed, err = statedir.Parts(h.store); err != nil {
		return err
	}
	if !resumed {
		return fmt.Errorf("%s: no bot has saved anything in it yet", h.store.Path())
	}
	slots, err := engine.SavedSlots(h.parts)
	if err != nil {
		return err
	}
	if _, known := slots[h.From]; !known {
		return h.again(slots)
	}
	if err := cmp.Or(h.checkSwitch(), h.checkMarkets()); err != nil {
		return err
	}
	memory, err := h.memory(slots)
	if err != nil {
		return err
	}
	estate := engine.Adoption{From: h.From, To: h.To, Own: owns(h.Strategies[h.To].Allocation), Memory: memory}
	if h.given, err = estate.HandOver(h.parts); err != nil {
		return err
	}
	if err := h.describe(); err != nil || h.Check {
		return err
	}
	if err := h.store.Bind(h.store.Catalog(), []string{h.From, h.To}); err != nil {
		return statedir.Error{Err: err}
	}
	h.fault("adopt prepared")
	if err := h.commit(); err != nil {
		return err
	}
	h.fault("adopt committed")
	return h.holdings()
}

func (h *handing) fault(point string) {
	if h.Faults != nil {
		h.Faults(point)
	}
}

// again answers a repeated adopt: the strategy was handed over already, or never existed.
func (h *handing) again(slots map[string]engine.SavedSlot) error {
	kept, err := h.store.Kept()
	if err != nil {
		return err
	}
	for i := range slices.Backward(kept) {
		r, is := kept[i].Record.(*journal.Adoption)
		if !is || r.From != h.From {
			continue
		}
		if r.To != h.To {
			return fmt.Errorf("%s was handed over to %s at %s, by %s", h.From, r.To, kept[i].At, r.By)
		}
		h.report.Before, h.report.By, h.report.AtMS, h.report.Entry = true, r.By, kept[i].At.Millis(), kept[i].Number
		if h.Check {
			return nil
		}
		return h.holdings()
	}
	return fmt.Errorf("strategy %q: %w; it has: %s", h.From, state.ErrNotSaved,
		strings.Join(slices.Sorted(maps.Keys(slots)), ", "))
}

// checkSwitch refuses a folder in which the kill switch has left something to be booked: its lines
// name strategies.
func (h *handing) checkSwitch() error {
	path := filepath.Join(h.Folder, killswitch.LogFile)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("%s is not booked yet; put %s into the config again, start the bot once, stop "+
			"it, and repeat this", path, h.From))
	}
	return nil
}

// checkMarkets requires that the new strategy trades the markets in which there is something.
func (h *handing) checkMarkets() error {
	section := h.Strategies[h.To]
	if section.Universe != nil {
		return nil // it trades what it holds, too
	}
	held, err := engine.SavedMarkets(h.parts)
	if err != nil {
		return err
	}
	traded := map[string]bool{}
	for _, name := range section.Markets {
		traded[market.UsualName(name)] = true
	}
	missing := slices.DeleteFunc(held[h.From], func(name string) bool { return traded[name] })
	if missing, err = h.leave(missing); err != nil {
		return err
	}
	if len(missing) > 0 {
		return config.Usagef("%s has a position or orders in %s, and %s does not trade there; add that to "+
			"strategies.%s.markets", h.From, strings.Join(missing, ", "), h.To, h.To)
	}
	return nil
}

// leave notes the markets in which nothing can be done with what there is: what is held there goes
// over, and the new strategy need not trade it. It returns the others.
func (h *handing) leave(missing []string) (others []string, err error) {
	for _, name := range missing {
		why, err := statedir.Left(h.store, h.From, name)
		switch {
		case err != nil:
			return nil, err
		case why == "":
			others = append(others, name)
		default:
			h.note("%s: it goes over, and %s does not trade it", why, h.To)
		}
	}
	return others, nil
}

// memory decides whether the new strategy is the old one under another name.
func (h *handing) memory(slots map[string]engine.SavedSlot) (bool, error) {
	text, err := h.store.Blob(statedir.KindsBlob)
	if err != nil {
		return false, err
	}
	if h.kinds, err = parseNames[string](text); err != nil {
		return false, fmt.Errorf("kinds of the strategies in the state file: %w", err)
	}
	kind, now := h.kinds[h.From], h.Strategies[h.To].Kind
	_, known := slots[h.To]
	switch {
	case known:
		h.note("%s is in the state file already: it keeps its own state, and that of %s stays behind", h.To, h.From)
	case h.Fresh:
		h.note("%s begins as a new strategy", h.To)
	case kind == "":
		return false, config.Usagef("the state file does not say which kind %s was: the last start ran without it; "+
			"with --fresh %s begins as a new strategy, with the positions and orders; to hand over the saved state, "+
			"too, put %s into the config again, start the bot once, and stop it", h.From, h.To, h.From)
	case kind != now:
		h.note("%s was of kind %s, and %s is of kind %s: %s begins as a new strategy", h.From, kind, h.To, now, h.To)
	default:
		return true, nil
	}
	return false, nil
}

// owns reports whether an allocation of the config is money.
func owns(allocation config.Decimal) bool { return strings.Trim(string(allocation), "0.") != "" }

package gap

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
)

// reload carries a reload of the bot out. One that the bot refused at the last moment is refused
// again.
func (v *viewer) reload(item *reader.Item) error {
	r, later := core.ReloadOf(item.Record, item.Manifest)
	r.Kinds = v.stretch.kinds
	if err := r.Prepare(v.manifest); err != nil {
		return fmt.Errorf("prepare the reload of %s: %w", item.At, err)
	}
	commands, err := v.core.Reload(item.At, r, later)
	if err != nil {
		return nil
	}
	v.manifest = r.Manifest
	v.ask(commands)
	return nil
}

// reload lets the new parameters and limits take over in a run with People; the others go on with
// those of the start. A run with other orders than the bot's prepares the strategies from its own
// state.
func (r *run) reload(item *reader.Item) (err error) {
	if r.ledger == nil || !r.facts.Has(People) {
		return nil
	}
	if err := r.until(item.At); err != nil {
		return err
	}
	of, later := core.ReloadOf(item.Record, item.Manifest)
	of.Kinds = r.stretch.kinds
	if r.facts != whole {
		of.History, later = item.Candles, nil
		of.Until = r.session.Engine().Now()
		if of.Parts, err = r.core.Saved(); err != nil {
			return err
		}
	}
	if err := of.Prepare(r.manifest); err != nil {
		return fmt.Errorf("prepare the reload of %s: %w", item.At, err)
	}
	if err := of.CatchUp(later); err != nil {
		return nil // the bot refused it, too
	}
	next, changed := of.Prepared()
	if err := r.session.TakeOver(item.At, next, changed); err != nil {
		return nil
	}
	r.manifest = of.Manifest
	return nil
}

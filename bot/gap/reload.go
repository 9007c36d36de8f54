package gap

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
	"github.com/tidemark-trading/tidemark/strategy"
)

// reloadOf is the reload of a record, and the candles that came while it was prepared.
func reloadOf(rec *recording.Record, kinds []strategy.Definition) (*core.Reload, []market.Candle, error) {
	m, err := core.DecodeManifest(rec.Manifest)
	if err != nil {
		return nil, nil, err
	}
	r, later := core.ReloadOf(rec, m)
	r.Kinds = kinds
	return r, later, nil
}

// reload carries a reload of the bot out. One that the bot refused at the last moment is refused
// again.
func (v *viewer) reload(rec *recording.Record) error {
	r, later, err := reloadOf(rec, v.stretch.kinds)
	if err == nil {
		err = r.Prepare(v.manifest)
	}
	if err != nil {
		return fmt.Errorf("prepare the reload of %s: %w", rec.At, err)
	}
	commands, err := v.core.Reload(rec.At, r, later)
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
func (r *run) reload(rec *recording.Record) error {
	if r.ledger == nil || !r.facts.Has(People) {
		return nil
	}
	if err := r.until(rec.At); err != nil {
		return err
	}
	of, later, err := reloadOf(rec, r.stretch.kinds)
	if err != nil {
		return err
	}
	if r.facts != whole {
		of.History, later = rec.Candles, nil
		of.Until = r.session.Engine().Now()
		if of.Parts, err = r.core.Saved(); err != nil {
			return err
		}
	}
	if err := of.Prepare(r.manifest); err != nil {
		return fmt.Errorf("prepare the reload of %s: %w", rec.At, err)
	}
	if err := of.CatchUp(later); err != nil {
		return nil // the bot refused it, too
	}
	next, changed := of.Prepared()
	if err := r.session.TakeOver(rec.At, next, changed); err != nil {
		return nil
	}
	r.manifest = of.Manifest
	return nil
}

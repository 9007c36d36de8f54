package runner

import (
	"bytes"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/replay"
	"github.com/tidemark-trading/tidemark/market"
)

// reload hands a reload to the twin, in the loop's goroutine: the same parameters and limits take
// over its own positions. It never waits.
func (t *twin) reload(at market.Time, of *replay.Reload, later []market.Candle) {
	if t == nil || t.ended.Load() != nil {
		return
	}
	one := twinInput{in: market.Input{At: at}, reload: &replay.Reload{Manifest: of.Manifest, Kinds: of.Kinds,
		History: slices.Concat(of.History, later)}}
	select {
	case t.queue <- one:
	default:
		t.lost.Add(1)
		t.end("it fell behind, and lost a reload")
	}
}

// takeOver carries a reload out.
func (t *twin) takeOver(at market.Time, of *replay.Reload) error {
	of.Until, of.Parts = t.session.Engine().Now(), map[string][]byte{}
	err := t.session.Engine().SaveAll(func(part string, data []byte) error {
		if data != nil {
			of.Parts[part] = bytes.Clone(data)
		}
		return nil
	})
	if err == nil {
		err = of.Prepare(t.manifest)
	}
	if err != nil {
		return err
	}
	t.manifest = of.Manifest
	next, changed := of.Prepared()
	return t.session.TakeOver(at, next, changed)
}

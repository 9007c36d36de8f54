package reader

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// catalogOf is a catalog of markets against EUR.
func catalogOf(t *testing.T, bases ...string) *market.Catalog {
	c := &market.Catalog{}
	for _, symbol := range append([]string{"EUR"}, bases...) {
		_, err := c.AddAsset(symbol, 8)
		require.NoError(t, err)
	}
	for _, base := range bases {
		require.NoError(t, c.AddMarket(&market.Market{Name: base + "-EUR", PriceDigits: 2, VolumeDigits: 8,
			Status: market.Trading, Rules: market.Rules{TickSize: 1, QuantityDecimals: 8, NotionalDecimals: 2}}))
	}
	return c
}

// record records a start of a process, then six tickers of each market, with a snapshot in their
// middle. Every record but the start and the opening is a block of its own. The time is that of the
// first record; a record follows a second later than the one before.
func record(t *testing.T, dir string, at market.Time, bases ...string) {
	c := catalogOf(t, bases...)
	w, err := recording.Open(dir, recording.Options{Catalog: c})
	require.NoError(t, err)
	m, err := core.NewManifest(&core.Config{Catalog: c}, "test")
	require.NoError(t, err)
	text, err := m.Encode()
	require.NoError(t, err)
	write := func(r recording.Record) {
		_, err := w.Write(&r)
		require.NoError(t, err)
		at += 1e9
	}
	write(recording.Record{Kind: recording.KindStart, At: at, Manifest: text})
	write(recording.Record{Kind: recording.KindOpen, At: at})
	require.NoError(t, w.Flush())
	for i := range 6 {
		if i == 3 {
			write(recording.Record{Kind: recording.KindSnapshot, At: at, Manifest: text})
		}
		for _, of := range c.Markets() {
			write(recording.Record{Kind: recording.KindInput, Input: market.Input{Kind: market.InputEvent,
				Event: &market.Event{Kind: market.KindTicker, At: at, Market: of.ID,
					Ticker: &market.Ticker{Market: of.ID, Last: market.Price(100 + i)}}}})
			require.NoError(t, w.Flush())
		}
	}
	require.NoError(t, w.Close())
}

// spoil changes a byte in the block that has a record.
func spoil(t *testing.T, dir string, number uint64) {
	blocks, err := recording.Index(dir)
	require.NoError(t, err)
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, path := range all {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		at := 0
		for i := range blocks {
			if blocks[i].First <= number && number <= blocks[i].Last {
				data[at+int(blocks[i].Bytes)-1] ^= 1
			}
			at += int(blocks[i].Bytes)
		}
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}
}

// told is a reading as text, a word for each item.
func told(t *testing.T, of Source) (text string, err error) {
	for item, err := range Items(t.Context(), of) {
		switch {
		case err != nil:
			return text, err
		case item.Gap != nil:
			text += fmt.Sprintf("[%d-%d", item.Gap.From/1e9, item.Gap.To/1e9)
			for _, l := range item.Gap.Lost {
				text += fmt.Sprintf(" %d..%d", l.From, l.To)
				if l.Err != nil {
					text += "?"
				}
			}
			if item.Gap.Down {
				text += " down"
			}
			text += "] "
		case item.Data() != nil:
			text += fmt.Sprintf("%d:%s ", item.Number, item.Catalog.Market(item.Data().Market).Name[:3])
		default:
			text += fmt.Sprintf("%d:%s ", item.Number, item.Kind)
		}
	}
	return text, nil
}

// Each record comes in the units of its start, and what is missing before the record behind it.
func TestRecordsComeInTheUnitsOfTheirStartAndGapsBeforeTheNextRecord(t *testing.T) {
	const third = "18:snapshot 19:ETH 20:BTC 21:ETH 22:BTC 23:ETH 24:BTC "
	const first, second = "5:BTC 6:snapshot 7:BTC 8:BTC 9:BTC ", "12:ETH 13:BTC 14:ETH 15:BTC 16:ETH 17:BTC " + third
	const whole = "1:start 2:open 3:BTC 4:BTC " + first + "[9-100 down] 10:start 11:open " + second
	both := catalogOf(t, "BTC", "ETH")
	for name, c := range map[string]struct {
		lost []uint64 // a record of each block that is lost
		of   Source
		want string
	}{
		"whole":            {want: whole},
		"with other units": {of: Source{Catalog: both}, want: whole},
		"a lost block": {lost: []uint64{4}, want: "1:start 2:open 3:BTC [3-5 4..4] " + first +
			"[9-100 down] 10:start 11:open " + second},
		// the markets are known again with the snapshot
		"a lost start": {lost: []uint64{10}, want: "1:start 2:open 3:BTC 4:BTC " + first + "[9-103 10..11 12..12?] " +
			"13:BTC [103-105 14..14?] 15:BTC [105-107 16..16?] 17:BTC " + third},
		"a lost start, in other units": {lost: []uint64{10}, of: Source{Catalog: both},
			want: "1:start 2:open 3:BTC 4:BTC " + first + "[9-102 10..11] " + second},
		"a torn end":       {of: Source{From: 23, Catalog: both, Next: 31}, want: "23:ETH 24:BTC [114-0 25..30] "},
		"a later start":    {of: Source{From: 10, Since: 113e9}, want: "10:start 11:open 23:ETH 24:BTC "},
		"the end is there": {of: Source{From: 24, Catalog: both, Next: 25}, want: "24:BTC "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			record(t, dir, 1e9, "BTC")
			record(t, dir, 100e9, "ETH", "BTC")
			for _, number := range c.lost {
				spoil(t, dir, number)
			}
			c.of.Dir = dir
			got, err := told(t, c.of)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

// A walk names the holes of a range, and a start without a pause is none.
func TestAWalkNamesTheHolesOfItsRange(t *testing.T) {
	dir := t.TempDir()
	record(t, dir, 1e9, "BTC")
	record(t, dir, 11e9, "BTC")
	record(t, dir, 100e9, "BTC")
	spoil(t, dir, 4)
	spoil(t, dir, 22)
	down := Hole{From: 19e9, To: 100e9}
	for _, c := range []struct {
		of   Range
		want []Hole
	}{
		{Range{}, []Hole{{First: 4, Last: 4, From: 3e9, To: 5e9}, down, {First: 22, Last: 22, From: 102e9, To: 104e9}}},
		{Range{From: 12e9}, []Hole{down, {First: 22, Last: 22, From: 102e9, To: 104e9}}},
		{Range{To: 104e9}, []Hole{{First: 4, Last: 4, From: 3e9, To: 5e9}, down}},
		{Range{To: 100e9}, []Hole{{First: 4, Last: 4, From: 3e9, To: 5e9}}},
	} {
		holes, err := Walk(t.Context(), dir, c.of, func(*Item) error { return nil })
		require.NoError(t, err)
		require.Equal(t, c.want, holes, "%+v", c.of)
	}
	spoil(t, dir, 18) // the last one before the pause, which is then no hole of its own
	holes, err := Walk(t.Context(), dir, Range{From: 12e9, To: 101e9}, func(*Item) error { return nil })
	require.NoError(t, err)
	require.Equal(t, []Hole{{First: 18, Last: 18, From: 18e9, To: 100e9}}, holes)
}

// What cannot be read ends the reading with an error that names the folder.
func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := told(t, Source{Dir: dir})
	require.ErrorIs(t, err, bolt.ErrNotFound)
	require.ErrorContains(t, err, dir+": there is no recording; bot.record_mb was 0, or it was moved away")
	_, err = told(t, Source{Dir: filepath.Join(dir, "none")})
	require.ErrorIs(t, err, bolt.ErrNotFound)
	record(t, dir, 1e9, "BTC")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, err := range Items(ctx, Source{Dir: dir}) {
		require.ErrorIs(t, err, context.Canceled)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	data, err := os.ReadFile(all[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(all[0], bytes.Replace(data, data[:4], []byte("TMR9"), 1), 0o600))
	_, err = told(t, Source{Dir: dir})
	require.ErrorIs(t, err, bolt.ErrNewer)
	require.ErrorContains(t, err, dir)
}

// The candles of a warm-up come with the record behind them, without those of a start that ended
// before.
func TestAWarmUpComesWithTheRecordBehindIt(t *testing.T) {
	dir, c := t.TempDir(), catalogOf(t, "BTC")
	w, err := recording.Open(dir, recording.Options{Catalog: c})
	require.NoError(t, err)
	m, err := core.NewManifest(&core.Config{Catalog: c}, "test")
	require.NoError(t, err)
	text, err := m.Encode()
	require.NoError(t, err)
	ticker := market.Input{Kind: market.InputEvent, Event: &market.Event{Kind: market.KindTicker, At: 1e9, Market: 1,
		Ticker: &market.Ticker{Market: 1, Last: 100}}}
	for _, kind := range []recording.Kind{recording.KindStart, recording.KindHistory, recording.KindStart,
		recording.KindHistory, recording.KindHistory, recording.KindOpen, recording.KindInput, recording.KindSnapshot,
		recording.KindHistory, recording.KindInput} {
		r := recording.Record{Kind: kind, At: 1e9}
		switch kind {
		case recording.KindStart, recording.KindSnapshot:
			r.Manifest = text
		case recording.KindHistory:
			r.Candles = []market.Candle{{Market: 1, Interval: market.Interval1m, Open: 1, High: 1, Low: 1, Close: 1}}
		case recording.KindInput:
			r = recording.Record{Kind: kind, Input: ticker}
		}
		_, err := w.Write(&r)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	var counts []int
	for item, err := range Items(t.Context(), Source{Dir: dir}) {
		require.NoError(t, err)
		if item.Gap == nil && item.Kind != recording.KindHistory && item.Kind != recording.KindStart {
			counts = append(counts, len(item.History))
		}
	}
	require.Equal(t, []int{2, 0, 0, 1}, counts)
}

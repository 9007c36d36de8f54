package record

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/stream"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/osfile"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// Options are the parts of the process that a recorder uses.
type Options struct {
	Program   string            // its version
	Transport http.RoundTripper // to the exchange; nil: over the network
	For       time.Duration     // ends the recording by itself; 0: it goes on until ctx ends
}

// Status counts the records of a recorder.
type Status struct {
	Folder  string      `json:"folder"`
	From    market.Time `json:"from_ns"` // of the first event; 0: there was none
	To      market.Time `json:"to_ns"`
	Tickers int64       `json:"tickers"`
	Books   int64       `json:"books"`
	Trades  int64       `json:"trades"`
	Candles int64       `json:"candles"`
	Rules   int64       `json:"rules"` // changes of status or rules
	Starts  int         `json:"starts"`
	Bytes   int64       `json:"bytes"` // of the whole recording on disk
}

// Events is how many events were recorded.
func (r *Status) Events() int64 { return r.Tickers + r.Books + r.Trades + r.Candles + r.Rules }

// ErrNoRoom means that the disk has less room than the config wants to keep free.
var ErrNoRoom = errors.New("the disk is nearly full")

// Run records until ctx ends, which is no error. It goes on with a recording that the folder has.
// What the exchange does not answer is asked again; a disk that takes no more ends it.
func Run(ctx context.Context, c *config.RecordConfig, log zerolog.Logger, o Options) (_ *Status, err error) {
	if o.For > 0 {
		until, cancel := context.WithTimeout(ctx, o.For)
		defer cancel()
		ctx = until
	}
	r := &recorder{config: c, options: o, log: log, report: Status{Folder: c.Record.Folder}}
	lock, err := r.lock()
	if err != nil {
		return nil, fmt.Errorf("record into %s: %w", c.Record.Folder, err)
	}
	defer lock.Close()
	if err := r.open(ctx); err != nil {
		if ctx.Err() != nil && r.writer == nil {
			return &r.report, nil // it was to end before anything was recorded
		}
		return nil, err
	}
	defer r.client.Close()
	err = r.record(ctx)
	return &r.report, errors.Join(err, r.close())
}

// recorder records one exchange.
type recorder struct {
	config  *config.RecordConfig
	options Options
	log     zerolog.Logger
	client  *rest.Client
	catalog *market.Catalog
	feed    *poll.Feed
	stream  *stream.Feed // nil: everything is polled
	on      *stream.Connection
	writer  *recording.Writer
	packing sync.WaitGroup // of its blocks

	manifest *core.Manifest // with the rules as they are now
	series   []candleRow
	last     market.Time // of the latest event
	day      int64       // of the latest start
	size     int64       // of the recording then
	report   Status
}

// candleRow is the latest candles of a series, config.RecordConfig.History of them.
type candleRow struct {
	poll.Series
	candles []market.Candle
}

// lock makes the folder and locks it. A folder with the state of a bot is refused: the bot records
// itself.
func (r *recorder) lock() (*os.File, error) {
	dir := r.config.Record.Folder
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, statedir.StateFile)); err == nil {
		return nil, fmt.Errorf("it has the %s of a bot, which records itself; want another folder", statedir.StateFile)
	}
	lock, err := osfile.LockFolder(dir)
	if errors.Is(err, osfile.ErrHeld) {
		err = errors.New("another bot record writes into it")
	}
	return lock, err
}

// close writes what is left.
func (r *recorder) close() error {
	_, failed := r.flush()
	err := errors.Join(failed, r.writer.Close())
	r.packing.Wait()
	return err
}

// record records what the feed sends, until ctx ends.
func (r *recorder) record(ctx context.Context) error {
	asking, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	beside.Go(func() { r.feed.Run(asking) })
	if r.stream != nil {
		beside.Go(func() { r.on.Run(asking) })
		beside.Go(func() { r.stream.Run(asking) })
	}
	beside.Go(func() { r.keepTime(asking) })
	flush := time.NewTicker(time.Duration(r.config.Record.Flush))
	defer flush.Stop()
	pulse := time.NewTicker(max(time.Duration(r.config.Record.Pulse), time.Second))
	defer pulse.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev := <-r.feed.Events():
			if err := r.event(&ev); err != nil {
				return err
			}
		case <-flush.C:
			if err := r.keep(); err != nil {
				return err
			}
		case <-pulse.C:
			if r.config.Record.Pulse > 0 {
				r.pulse()
			}
		}
	}
}

// keepTime measures the exchange's clock again and again until ctx ends.
func (r *recorder) keepTime(ctx context.Context) {
	again := time.NewTicker(plan.ClockEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			if _, err := r.client.Remeasure(ctx); err != nil {
				r.log.Debug().Err(err).Msg("the exchange's clock could not be measured again")
			}
		}
	}
}

// event records an event of the feed.
func (r *recorder) event(ev *market.Event) error {
	ev.At = max(ev.At, r.last)
	r.last = ev.At
	if ev.At.Day() != r.day {
		if err := r.start(ev.At); err != nil {
			return err
		}
	}
	if r.report.From == 0 {
		r.report.From = ev.At
	}
	r.report.To = ev.At
	switch ev.Kind {
	case market.KindTicker:
		r.report.Tickers++
	case market.KindBook:
		r.report.Books++
	case market.KindTrade:
		r.report.Trades++
	case market.KindCandles:
		r.report.Candles += int64(len(ev.Candles))
		r.keepCandles(ev.Candles)
	case market.KindMarketStatus:
		r.report.Rules++
		r.keepRules(ev)
	}
	_, err := r.writer.Append(ev)
	return err
}

// keepRules notes the rules of a market for the next start.
func (r *recorder) keepRules(ev *market.Event) {
	facts := &r.manifest.Markets[ev.Market-1]
	facts.Status = int(ev.Status)
	if ev.Rules != nil {
		facts.Rules = ev.Rules.Rules
	}
}

// keepCandles notes candles for the next start.
func (r *recorder) keepCandles(candles []market.Candle) {
	for i := range candles {
		c := &candles[i]
		for j := range r.series {
			s := &r.series[j]
			if s.Market == c.Market && s.Interval == c.Interval {
				s.candles = append(s.candles, *c)
				s.candles = s.candles[max(0, len(s.candles)-int(r.config.Record.History)):]
			}
		}
	}
}

// keep writes what is recorded to the operating system, looks after the room on the disk, and
// begins a new start where much was written since the latest one: what a full recording loses is
// its oldest part, and a reader needs a start.
func (r *recorder) keep() error {
	size, err := r.flush()
	if err != nil {
		return err
	}
	if size < r.size || size-r.size > r.config.Record.LimitMB<<20/8 {
		if err := r.start(r.last); err != nil {
			return err
		}
	}
	wanted := uint64(r.config.Record.KeepFreeMB) << 20
	if free, known := statedir.FreeSpace(r.config.Record.Folder); known && free < wanted {
		return fmt.Errorf("%w: %d MB are free, record.keep_free_mb is %d", ErrNoRoom, free>>20,
			r.config.Record.KeepFreeMB)
	}
	return nil
}

// flush writes what is recorded to the operating system.
func (r *recorder) flush() (size int64, err error) {
	err = r.writer.Flush()
	size, failed := r.writer.Size()
	r.report.Bytes = size
	return size, errors.Join(err, failed)
}

// pulse logs how the recording stands.
func (r *recorder) pulse() {
	p := &r.report
	r.log.Info().Int64("tickers", p.Tickers).Int64("books", p.Books).Int64("trades", p.Trades).
		Int64("candles", p.Candles).Str("recording", fmt.Sprintf("%.1f MB", float64(p.Bytes)/1e6)).
		Stringer("latest", r.client.Now().Sub(r.last).Round(time.Millisecond)).Msg("recording")
}

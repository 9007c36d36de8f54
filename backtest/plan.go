package backtest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// Plan is the whole input of a backtest. Two runs of one plan give the same result to the byte.
type Plan struct {
	Catalog    *market.Catalog
	Currency   *market.Asset // every market that is traded is quoted in it
	Deposits   []Deposit
	Strategies []StrategyPlan
	Feeds      []Feed
	// Open opens the candles of a feed that start in [from, to), oldest first.
	Open func(f Feed, from, to market.Time) (Source, error)
	// The run trades on candles that start in [From, To); 0: as far as the data goes.
	From, To market.Time
	Venue    sim.Config
	Account  risk.AccountLimits
	Fees     Fees // of markets without Fees in Changes

	DataLatency   market.Duration // from a candle's close to its arrival
	SyntheticBook bool            // make order books of one level from the path, for strategies that need books
	// OneByOne steps every candle by itself, quiet ones too: slower, the same result.
	OneByOne bool
	// Changes are the changes of markets, by time. A change is in force for candles that close
	// after it. Those at 0 are the beginning; each market in the list has one.
	Changes []MarketChange
	Haircut market.Rate // part of its last price that the base of a delisted market loses
	// Rules says, in the assumptions, which rules of markets and which fees were applied; empty:
	// today's.
	Rules string

	ColdStart bool // do not read candles before From to warm up: the warm-up happens inside the range
	Log       zerolog.Logger
}

// Fees are rates of the account.
type Fees struct {
	Maker, Taker market.Rate
}

// Deposit is a balance of the account at the start.
type Deposit struct {
	Asset market.AssetID
	Money market.Money
	Owner market.StrategyID // whose allocation; 0: shared by all without one
}

// Feed is one series of candles of a plan.
type Feed struct {
	Market   *market.Market
	Interval market.Interval
	Drive    bool // it moves the market at the venue: the finest series of its market
	Deliver  bool // strategies receive it
}

// Source yields candles in batches, oldest first, io.EOF at the end. A batch is valid until the
// next call.
type Source interface {
	Next() ([]market.Candle, error)
	Close() error
}

// driver runs a plan once.
type driver struct {
	plan     *Plan
	engine   *engine.Engine
	account  *state.Account
	venue    *sim.Venue
	recorder *recorder
	record   func(equity market.Money, from market.Time, rates []exchange.Fees) (*recorder, error)
	tracer   func(*market.Command, market.Time)
	progress func(market.Time)
	feeds    []feed
	tickers  []bool // by market: a strategy wants tickers
	books    []bool
	drivenTo []market.Time // by market: until when its path has been walked

	even       bool         // alike, and the feeds have one interval of fixed length
	alike      bool         // each feed drives and delivers: drive and deliver are the same candles
	plain      bool         // one feed, and no tickers or books to make: quiet candles need no Advance
	latency    market.Time  // from close to arrival
	movement   market.Event // reused: what the venue advances by
	arrival    market.Event // reused: what the engine steps
	drive      []market.Candle
	deliver    []market.Candle
	started    bool
	from       market.Time // start of the range, once started
	overwrites bool        // what was handed out is overwritten
	last       market.Time // close of the last group
	knows      market.Time // for the tracer: see decision
	rejected   map[int]int64
	bare       []bareCount   // positions without an exit
	unsold     []failedClose // by Closes
	oneCandle  oneCandle
	changed    int                         // how many of the plan's changes have happened
	rules      map[market.ID]market.Market // of markets that change: units, status and rules now
	rates      []exchange.Fees             // by market, now
	gate       *risk.Gate
	delisted   []Delisting
	tick, show market.Event // reused: of ticker and of book
	ticker     market.Ticker
	ticks      []engine.Tick // reused: of points in a row
	book       market.OrderBook
	levels     [2]market.Level
	sizes      []size // by market: of the latest candle

	outline outline // of the only feed's batch, where many runs step it

	pauseAt market.Time                 // pause is called before the first group that closes later
	pause   func(end market.Time) error // gets the close of that group; it sets pauseAt anew

	// What the venue was given: a fork shares fees, and has a sink and a point of its own.
	fees  func(*market.Market) exchange.Fees
	sink  func(*market.Event)
	point sim.Point
}

// feed is a Feed while it is being read. The fields of the loop come first.
type feed struct {
	batch  []market.Candle
	at     int
	length market.Time // of a candle; 0: it varies
	end    market.Time // close of the candle at hand; never: there is none
	last   market.Time // close of the batch's last candle
	first  market.Time // start of the first candle that was read; never: there is none
	count  int64       // candles inside the range
	Feed
	source Source
}

// ErrNoCandles means that not one candle of a plan lies in its range.
var ErrNoCandles = errors.New("no candles in the range")

// newDriver builds engine and venue for one run of the plan.
func newDriver(p *Plan, o runOptions) (*driver, error) {
	markets := len(p.Catalog.Markets()) + 1
	d := &driver{
		plan: p, record: o.record, tracer: o.tracer, progress: o.progress, overwrites: o.overwrite,
		tickers: make([]bool, markets), books: make([]bool, markets), drivenTo: make([]market.Time, markets),
		rejected: make(map[int]int64), sizes: make([]size, markets), pauseAt: math.MaxInt64,
	}
	d.rates = slices.Repeat([]exchange.Fees{exchange.Fees(p.Fees)}, markets)
	d.fees, d.sink, d.point = d.feesOf, d.onEvent, d.onPath
	d.beginChanges()
	roster, err := NewRoster(p.Strategies, p.Log)
	if err != nil {
		return nil, err
	}
	d.subscribe(roster)
	d.account = state.NewAccount(p.Catalog, len(p.Strategies), roster.Own)
	d.gate = risk.New(p.Catalog, risk.Config{Account: p.Account, Strategies: roster.Limits, Fees: d.fees,
		Spread: exchange.Spread{Half: p.Venue.HalfSpread, Slippage: p.Venue.Slippage}})
	d.engine = engine.New(engine.Config{Catalog: p.Catalog, Account: d.account, Gate: d.gate, Slots: roster.Slots,
		TradeFrom: p.From, WholeGroups: true, LogTimes: true,
		Observer: d.observer(o.observer), Plots: d.plotter(o), Spoil: o.overwrite, Apart: o.apart})
	config := p.Venue
	config.Fees, config.Watches = d.fees, d.engine.Watches()
	config.Followed, config.Point = d.follow(), d.point
	if o.path != nil {
		config.Path = *o.path
	}
	d.venue = sim.New(p.Catalog, config, d.sink)
	d.movement.Kind, d.arrival.Kind = market.KindCandles, market.KindCandles
	d.tick = market.Event{Kind: market.KindTicker, Ticker: &d.ticker}
	d.show = market.Event{Kind: market.KindBook, Book: &d.book}
	d.latency = market.Time(p.DataLatency)
	d.plain = !p.OneByOne && len(p.Changes) == 0 && len(p.Feeds) == 1 && !slices.Contains(d.tickers, true) &&
		!slices.Contains(d.books, true)
	return d, d.open(o)
}

// subscribe notes the markets for which tickers and books are made.
func (d *driver) subscribe(r *Roster) {
	for i := range r.Slots {
		for _, m := range r.Slots[i].Markets {
			d.tickers[m] = d.tickers[m] || r.Needs[i].Ticker
			d.books[m] = d.books[m] || r.Needs[i].Book && d.plan.SyntheticBook
		}
	}
}

// open opens the feeds, early enough for the warm-up.
func (d *driver) open(o runOptions) error {
	p := d.plan
	d.alike = true
	for _, f := range p.Feeds {
		d.alike = d.alike && f.Drive && f.Deliver
		source, err := p.Open(f, p.readFrom(f, 1+o.more), p.To)
		if err != nil {
			d.close()
			return err
		}
		d.feeds = append(d.feeds, feed{Feed: f, source: source, length: market.Time(f.Interval.Fixed())})
		last := &d.feeds[len(d.feeds)-1]
		if err := last.fill(); err != nil {
			d.close()
			return err
		}
		if last.first = never; len(last.batch) > 0 {
			last.first = last.batch[0].Start
		}
	}
	d.even = d.alike && d.feeds[0].length != 0 && !slices.ContainsFunc(d.feeds,
		func(f feed) bool { return f.length != d.feeds[0].length })
	return nil
}

func (d *driver) close() {
	for i := range d.feeds {
		d.feeds[i].source.Close()
	}
}

// step moves on to the next candle of the batch. It reports whether there is one.
func (f *feed) step() bool {
	if f.at++; f.at == len(f.batch) {
		return false
	}
	f.end = f.endOf(f.batch[f.at].Start)
	return true
}

// endOf is the close of a candle.
func (f *feed) endOf(start market.Time) market.Time {
	if f.length != 0 {
		return start + f.length
	}
	return f.Interval.End(start)
}

// fill moves on to the next batch; at the end of the source the feed is empty.
func (f *feed) fill() error {
	f.at, f.end = 0, never
	for {
		batch, err := f.source.Next()
		if errors.Is(err, io.EOF) {
			f.batch = nil
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", f.Market.Name, f.Interval, err)
		}
		if len(batch) > 0 {
			f.give(batch)
			return nil
		}
	}
}

// give moves on to a batch.
func (f *feed) give(batch []market.Candle) {
	f.batch, f.at, f.end = batch, 0, never
	if len(batch) > 0 {
		f.end, f.last = f.endOf(batch[0].Start), f.endOf(batch[len(batch)-1].Start)
	}
}

// runID derives the id of a run from its inputs, so that the same plan gives the same client order
// ids.
func runID(configHash, dataHash string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("tidemark:backtest:"+configHash+":"+dataHash))
}

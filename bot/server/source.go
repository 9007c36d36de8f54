package server

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// source makes the source of a market's prices; nil: only the orders of accounts make prices.
func (p *Setup) source(path []string, name string, m *config.TradedMarket) (prices.Source, error) {
	s := &m.Source
	if err := config.OneOf(config.Join(path, "kind"), s.Kind, config.PriceSynthetic, config.PriceReplay,
		config.PriceFixed, config.PriceNone); err != nil {
		return nil, err
	}
	switch s.Kind {
	case config.PriceNone:
		return nil, nil
	case config.PriceReplay:
		return p.replay(path, name, m)
	}
	if err := checkPrice(path, m); err != nil {
		return nil, err
	}
	if s.Kind == config.PriceFixed {
		if s.Refill > 0 && s.Refill < config.Span(shortestStep) {
			return nil, config.Keyf(config.Join(path, "refill"),
				"%s is less than %s; want 0 for never", market.Duration(s.Refill), shortestStep)
		}
		return prices.Steady{Price: string(s.Price), Refill: market.Duration(s.Refill)}, nil
	}
	volatility, err := strconv.ParseFloat(string(s.Volatility), 64)
	if err != nil || volatility <= 0 || volatility > 0.5 {
		return nil, config.Keyf(config.Join(path, "volatility"),
			"%q: want a part of the price above 0, like \"0.03\", at most 0.5", s.Volatility)
	}
	if s.Step < config.Span(shortestStep) {
		return nil, config.Keyf(config.Join(path, "step"), "%s is less than %s", market.Duration(s.Step), shortestStep)
	}
	return prices.Synthetic{Seed: s.Seed, Anchor: market.Time(s.Anchor), Price: string(s.Price), Volatility: volatility,
		Volume: string(s.Volume), Step: market.Duration(s.Step)}, nil
}

// shortestStep is the least time between two movements of a price.
const shortestStep = market.Duration(1_000_000)

// checkPrice refuses a start price that is no multiple of the tick.
func checkPrice(path []string, m *config.TradedMarket) error {
	digits := m.TickSize.Digits()
	tick, err := m.TickSize.Fixed(digits)
	if err != nil {
		return err
	}
	price, err := m.Source.Price.Fixed(digits)
	if err != nil || price == 0 || price%tick != 0 {
		return config.Keyf(config.Join(path, "price"),
			"%q is no price here; want a multiple of tick_size, %s, above 0", m.Source.Price, m.TickSize)
	}
	return nil
}

// replay is a market's stored candles as its price.
func (p *Setup) replay(path []string, name string, m *config.TradedMarket) (prices.Source, error) {
	s := &m.Source
	interval, err := market.ParseInterval(s.Interval)
	switch {
	case err != nil:
		return nil, config.At(config.Join(path, "interval"), err)
	case s.Speed < 1 || s.Speed > 1_000_000:
		return nil, config.Keyf(config.Join(path, "speed"),
			"%d: want 1 to 1000000 seconds of candles to a second of the exchange", s.Speed)
	case s.From != 0 && s.To != 0 && s.From >= s.To:
		return nil, config.Keyf(config.Join(path, "from"), "%s is not before to, %s", market.Time(s.From),
			market.Time(s.To))
	case s.Step < config.Span(shortestStep):
		return nil, config.Keyf(config.Join(path, "step"), "%s is less than %s", market.Duration(s.Step), shortestStep)
	}
	if err := config.OneOf(config.Join(path, "walk"), s.Walk, config.WalkChance, config.WalkPath); err != nil {
		return nil, err
	}
	store, err := p.openStore(s.Candles)
	if err != nil {
		return nil, err
	}
	stored, err := store.Span(name, interval)
	if err != nil {
		return nil, plan.ExplainMissing(plan.Stored{Store: store}, s.Candles, name, interval, err)
	}
	from, to := market.Time(s.From), market.Time(s.To)
	if from >= stored.To || to != 0 && to <= stored.From {
		return nil, config.Keyf(config.Join(path, "from"),
			"%s %s is stored from %s to %s: nothing of it lies in the range", name, interval, stored.From, stored.To)
	}
	candles := &storedCandles{store: store, options: candles.ReadOptions{Interval: interval, From: from, To: to},
		replay: prices.Replay{Speed: int(s.Speed), Step: market.Duration(s.Step)}}
	if s.Walk == config.WalkPath {
		candles.replay.Path, candles.replay.Step = true, 0
	}
	p.readers = append(p.readers, candles)
	return candles, nil
}

// openStore opens a candle store, once for all markets.
func (p *Setup) openStore(file string) (*candles.Store, error) {
	if store := p.stores[file]; store != nil {
		return store, nil
	}
	store, err := candles.Read(file)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	p.stores[file] = store
	return store, nil
}

// storedCandles replays the stored candles of a market, in the units of the exchange's market.
type storedCandles struct {
	store   *candles.Store
	options candles.ReadOptions
	replay  prices.Replay   // without its candles
	reader  *candles.Reader // nil until the exchange asks
}

// Movements replays the candles from the first on. It ends an earlier replay.
func (c *storedCandles) Movements(s prices.Start) (prices.Movements, error) {
	options := c.options
	options.Market = s.Market
	err := c.Close()
	if err != nil {
		return nil, err
	}
	if c.reader, err = c.store.Read(options); err != nil {
		return nil, err
	}
	var batch []market.Candle
	replay := c.replay
	replay.Candles = func() (one market.Candle, more bool, err error) {
		if len(batch) == 0 {
			batch, err = c.reader.Next()
		}
		if errors.Is(err, io.EOF) {
			return one, false, nil
		}
		if err != nil {
			return one, false, err
		}
		one, batch = batch[0], batch[1:]
		return one, true, nil
	}
	return replay.Movements(s)
}

// Close ends the reading.
func (c *storedCandles) Close() error {
	if c.reader == nil {
		return nil
	}
	return c.reader.Close()
}

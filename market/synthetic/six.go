package synthetic

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Made is a made-up market of the library: a price, its decimals, and how it moves with BTC-EUR.
type Made struct {
	Name         string
	PriceDigits  uint8
	VolumeDigits uint8

	first      int64   // price of the first open, in units
	volume     int64   // base in an average hour
	volatility float64 // of a day, beside the move that it shares
	share      float64 // of each return of BTC-EUR that it takes over
}

// Six are the made-up markets: BTC-EUR, and five that share its moves.
func Six() []Made {
	return []Made{
		{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8},
		{"ETH-EUR", 2, 8, 900_00, 600, 0.017, 1.0},
		{"SOL-EUR", 3, 8, 40_000, 9_000, 0.032, 1.2},
		{"XRP-EUR", 5, 8, 45_000, 400_000, 0.03, 0.8},
		{"ADA-EUR", 5, 8, 60_000, 300_000, 0.03, 0.9},
		{"LINK-EUR", 4, 8, 12_0000, 20_000, 0.028, 0.9},
	}
}

// Names are the names of Six.
func Names() (names []string) {
	for _, one := range Six() {
		names = append(names, one.Name)
	}
	return names
}

// Hours returns three years of made-up 1h candles of the market of Six with m's name, less those
// that are missing. BTC-EUR is BTCEUR. Another one has moves of its own, and takes over its share
// of each return of BTCEUR with the same seed. m must have at least the decimals of price of Six,
// and at most eight of volume.
func Hours(m *market.Market, seed uint64) ([]market.Candle, error) {
	all := Six()
	i := slices.IndexFunc(all, func(one Made) bool { return one.Name == m.Name })
	switch {
	case i < 0:
		return nil, fmt.Errorf("there is no synthetic %s", m.Name)
	case i == 0:
		return BTCEUR(m, seed)
	}
	one := &all[i]
	if m.PriceDigits < one.PriceDigits || m.PriceDigits > 8 {
		return nil, fmt.Errorf("synthetic %s has %d to 8 decimals of price, not %d", m.Name, one.PriceDigits,
			m.PriceDigits)
	}
	first := one.first * market.Pow10(m.PriceDigits-one.PriceDigits)
	leader, err := BTCEUR(&market.Market{ID: 1, Name: all[0].Name, PriceDigits: all[0].PriceDigits,
		VolumeDigits: all[0].VolumeDigits}, seed)
	if err != nil {
		return nil, err
	}
	g, err := New(Config{Seed: seed ^ uint64(i)<<32, Market: m, Interval: market.Interval1h, Start: BTCEURStart,
		First: market.Price(first), Low: market.Price(first * 2 / 3), High: market.Price(first * 3 / 2),
		Volume: market.Volume(one.volume * market.Pow10(m.VolumeDigits)), DailyVolatility: one.volatility})
	if err != nil {
		return nil, err
	}
	return follow(g, leader, one.share), nil
}

// follow makes the candles of a generator move with those of a leader.
func follow(g *Generator, leader []market.Candle, share float64) (candles []market.Candle) {
	end := BTCEURStart + BTCEURHours*market.Time(market.Interval1h.Fixed())
	factor, last, at := 1.0, leader[0].Open, 0 // of the leader: moves so far, latest price, next candle
	grow := func(to market.Price) float64 {
		change := float64(to)/float64(last) - 1
		factor, last = float64(factor*(1+float64(share*change))), to
		return factor
	}
	var c market.Candle
	for g.Next(&c); c.Start < end; g.Next(&c) {
		for at < len(leader) && leader[at].Start < c.Start { // candles that the follower lacks
			grow(leader[at].Close)
			at++
		}
		opened, closed, up, down := factor, factor, 1.0, 1.0
		if at < len(leader) && leader[at].Start == c.Start {
			l := &leader[at]
			opened, closed = grow(l.Open), grow(l.Close)
			up, down = float64(l.High)/float64(max(l.Open, l.Close)), float64(l.Low)/float64(min(l.Open, l.Close))
			at++
		}
		ownUp, ownDown := float64(c.High)/float64(max(c.Open, c.Close)), float64(c.Low)/float64(min(c.Open, c.Close))
		c.Open, c.Close = units(float64(c.Open)*opened), units(float64(c.Close)*closed)
		c.High = max(c.Open, c.Close, units(float64(max(c.Open, c.Close))*max(up, ownUp)))
		c.Low = min(c.Open, c.Close, units(float64(min(c.Open, c.Close))*min(down, ownDown)))
		candles = append(candles, c)
	}
	return candles
}

package synthetic

import "github.com/tidemark-trading/tidemark/market"

// BTCEURStart is the start of the first candle of BTCEUR, 2021-01-01.
const BTCEURStart market.Time = 1609459200_000000000

// BTCEURHours is the number of hours that BTCEUR spans: the three years 2021 to 2023.
const BTCEURHours = 3 * 365 * 24

// BTCEUR returns three years of made-up 1h candles for m, less those that are missing. m must have
// at least two price decimals and at most eight of price and of volume; it gives ID and units. The
// same seed gives the same candles; `bot backtest` without data uses seed 1.
func BTCEUR(m *market.Market, seed uint64) ([]market.Candle, error) {
	euro := market.Pow10(m.PriceDigits)
	g, err := New(Config{
		Seed: seed, Market: m, Interval: market.Interval1h, Start: BTCEURStart,
		First: market.Price(24_000 * euro), Low: market.Price(20_000 * euro), High: market.Price(60_000 * euro),
		Volume: market.Volume(30 * market.Pow10(m.VolumeDigits)),
	})
	if err != nil {
		return nil, err
	}
	end := BTCEURStart + BTCEURHours*market.Time(market.Interval1h.Fixed())
	candles := make([]market.Candle, 0, BTCEURHours)
	for {
		var c market.Candle
		if g.Next(&c); c.Start >= end {
			return candles, nil
		}
		candles = append(candles, c)
	}
}

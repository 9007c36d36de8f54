package server

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// setAssets takes the assets of the config, or else those of sandbox.Default.
func (p *Setup) setAssets() error {
	if p.Assets == nil {
		return nil
	}
	p.Config.Assets = nil
	for _, symbol := range slices.Sorted(maps.Keys(p.Assets)) {
		a, path := p.Assets[symbol], []string{"assets", symbol}
		if a.Decimals > market.MaxDigits {
			return config.Keyf(config.Join(path, "decimals"), "%d is more than %d", a.Decimals, market.MaxDigits)
		}
		for _, amount := range [...]struct {
			key  string
			have config.Decimal
		}{{"deposit_fee", a.DepositFee}, {"withdrawal_fee", a.WithdrawalFee}, {"withdrawal_min", a.WithdrawalMin}} {
			if _, err := amount.have.Fixed(uint8(a.Decimals)); err != nil {
				return config.At(config.Join(path, amount.key), err)
			}
		}
		if a.Confirmations > 10_000 {
			return config.Keyf(config.Join(path, "confirmations"), "%d is more than 10000", a.Confirmations)
		}
		if a.BlockTime > config.Span(dayLong) {
			return config.Keyf(config.Join(path, "block_time"), "%s is more than 24h", market.Duration(a.BlockTime))
		}
		if err := config.OneOf(config.Join(path, "status"), a.Status, "OK", "MAINTENANCE", "DELISTED"); err != nil {
			return err
		}
		p.Config.Assets = append(p.Config.Assets, sandbox.Asset{
			Symbol: symbol, Name: cmp.Or(a.Name,
				symbol), Decimals: uint8(a.Decimals), Networks: a.Networks, DepositFee: string(a.DepositFee),
			WithdrawalFee: string(a.WithdrawalFee),
			WithdrawalMin: string(a.WithdrawalMin), Confirmations: int(a.Confirmations),
			BlockTime: max(market.Duration(a.BlockTime), 1), Status: a.Status})
	}
	return nil
}

const dayLong = 24 * market.Duration(3_600_000_000_000)

// decimalsOf returns the decimals of an asset of the exchange.
func (p *Setup) decimalsOf(symbol string) (uint8, error) {
	for i := range p.Config.Assets {
		if p.Config.Assets[i].Symbol == symbol {
			return p.Config.Assets[i].Decimals, nil
		}
	}
	return 0, fmt.Errorf("there is no asset %s; give it a table [assets.%s]", config.Clip(symbol), config.Clip(symbol))
}

// setMarkets takes the markets of the config, or else those of sandbox.Default.
func (p *Setup) setMarkets() error {
	if p.Markets == nil {
		return nil
	}
	p.Config.Markets = nil
	for _, name := range slices.Sorted(maps.Keys(p.Markets)) {
		section := p.Markets[name]
		m, err := p.market(name, &section)
		if err != nil {
			return err
		}
		p.Config.Markets = append(p.Config.Markets, m)
	}
	return nil
}

// market makes one market.
func (p *Setup) market(name string, s *config.TradedMarket) (m sandbox.Market, err error) {
	path := []string{"markets", name}
	base, quote, err := market.SplitName(name)
	if err != nil {
		return m, config.At(path, err)
	}
	m = sandbox.Market{Name: name, TickSize: string(s.TickSize), MinOrderInBase: string(s.MinOrderInBase),
		MinOrderInQuote: string(s.MinOrderInQuote),
		MaxOrderInBase:  string(s.MaxOrderInBase), MaxOrderInQuote: string(s.MaxOrderInQuote),
		MaxOpenOrders: int(s.MaxOpenOrders), FeeCategory: s.FeeCategory}
	if m.QuantityDecimals, err = p.decimalsOf(base); err != nil {
		return m, config.At(path, err)
	}
	if m.NotionalDecimals, err = p.decimalsOf(quote); err != nil {
		return m, config.At(path, err)
	}
	bounds := [...]struct {
		key    string
		have   config.Decimal
		digits uint8
	}{
		{"min_order_in_base", s.MinOrderInBase, m.QuantityDecimals}, {"max_order_in_base", s.MaxOrderInBase,
			m.QuantityDecimals},
		{"min_order_in_quote", s.MinOrderInQuote, m.NotionalDecimals}, {"max_order_in_quote", s.MaxOrderInQuote,
			m.NotionalDecimals}, {"tick_size", s.TickSize, market.MaxDigits},
	}
	for _, b := range bounds {
		if _, err := b.have.Fixed(b.digits); err != nil {
			return m, config.At(config.Join(path, b.key), err)
		}
	}
	if s.TickSize == "" || s.TickSize == "0" {
		return m, config.Keyf(config.Join(path, "tick_size"),
			"is missing; want the step between two prices, like \"0.01\"")
	}
	if m.Status, err = market.ParseMarketStatus(s.Status); err != nil {
		return m, config.At(config.Join(path, "status"), err)
	}
	if err := p.setDecimals(path, s, &m); err != nil {
		return m, err
	}
	if m.Liquidity, err = liquidity(config.Join(path, "liquidity"), &s.Liquidity, m.QuantityDecimals); err != nil {
		return m, err
	}
	m.Source, err = p.source(config.Join(path, "source"), name, s)
	return m, err
}

// setDecimals takes the decimals of a market: for prices at least those of its tick, for amounts at
// most those of its assets.
func (p *Setup) setDecimals(path []string, s *config.TradedMarket, m *sandbox.Market) error {
	m.PriceDigits = s.TickSize.Digits()
	if s.PriceDecimals != nil {
		if n := *s.PriceDecimals; n < int64(m.PriceDigits) || n > market.MaxDigits {
			return config.Keyf(config.Join(path, "price_decimals"),
				"%d is not in %d, the decimals of tick_size, to %d", n, m.PriceDigits, market.MaxDigits)
		}
		m.PriceDigits = uint8(*s.PriceDecimals)
	}
	for _, d := range [...]struct {
		key   string
		given *int64
		into  *uint8
	}{{"quantity_decimals", s.QuantityDecimals, &m.QuantityDecimals}, {"notional_decimals", s.NotionalDecimals,
		&m.NotionalDecimals}} {
		if d.given == nil {
			continue
		}
		if *d.given > int64(*d.into) {
			return config.Keyf(config.Join(path, d.key),
				"%d is more than the %d decimals of the asset; see [assets]", *d.given, *d.into)
		}
		*d.into = uint8(*d.given)
	}
	return nil
}

// liquidity reads the liquidity that the exchange itself offers.
func liquidity(path []string, s *config.LiquiditySection, decimals uint8) (h sandbox.Liquidity, err error) {
	h = sandbox.Liquidity{Levels: int(s.Levels), Step: int(s.Step), Size: string(s.Size)}
	size, err := s.Size.Fixed(decimals)
	if err != nil {
		return h, config.At(config.Join(path, "size"), err)
	}
	if h.HalfSpread, err = s.HalfSpreadBPS.Rate(config.PointsDigits); err != nil {
		return h, config.At(config.Join(path, "half_spread_bps"), err)
	}
	switch {
	case s.Levels > 1000:
		return h, config.Keyf(config.Join(path, "levels"), "%d is more than 1000", s.Levels)
	case s.Levels > 0 && size == 0:
		return h, config.Keyf(config.Join(path, "size"),
			"is missing; want the amount of an average level, like \"0.05\"")
	case s.Step < 1 || s.Step > 1_000_000:
		return h, config.Keyf(config.Join(path, "step"), "%d ticks: want 1 to 1000000", s.Step)
	}
	return h, nil
}

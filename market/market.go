package market

import (
	"fmt"
	"math/bits"
	"strings"
)

// ID names a market inside one process: its place in a Catalog, from 1. Zero is no market.
type ID uint16

// AssetID names an asset inside one process: its place in a Catalog, from 1. Zero is no asset.
type AssetID uint16

// Asset is something a balance can be held in.
type Asset struct {
	ID     AssetID
	Symbol string // "EUR"
	Digits uint8  // decimals of a balance
}

// Market is a trading pair with its units and its rules. Units (the digits) never change while a
// process runs; rules may. The rules are those of specification 2.3 and venue-facts 1.2.
type Market struct {
	ID          ID
	Name        string // "BTC-EUR": base, dash, quote
	Base, Quote AssetID

	PriceDigits  uint8 // decimals of Price
	AmountDigits uint8 // decimals of Qty: those of the base asset
	QuoteDigits  uint8 // decimals of Money in quote: those of the quote asset
	VolumeDigits uint8 // decimals of Volume
	ValueDigits  uint8 // decimals of Value: the larger of PriceDigits+AmountDigits and QuoteDigits

	Status MarketStatus
	Rules
}

// Rules are the limits of a market that an exchange may change while a process runs (specification
// 2.3), in the market's units. Their JSON is for the sandbox's state file.
type Rules struct {
	TickSize         Price // smallest price step; 0 checks nothing
	QuantityDecimals uint8 // allowed decimals of amount
	NotionalDecimals uint8 // allowed decimals of amountQuote
	MinOrderInBase   Qty   // 0: no minimum
	MinOrderInQuote  Money // 0: no minimum
	MaxOrderInBase   Qty   // 0: no maximum
	MaxOrderInQuote  Money // 0: no maximum
	MaxOpenOrders    int   // 0: no limit
	FeeCategory      string
}

// Value returns price·amount exactly.
func (m *Market) Value(price Price, amount Qty) (Value, error) {
	return Product(int64(price), int64(amount), m.ValueDigits-m.PriceDigits-m.AmountDigits)
}

// Notional returns price·amount in units of the quote asset, rounded down. Neither may be negative.
func (m *Market) Notional(price Price, amount Qty) (Money, error) {
	if drop := m.PriceDigits + m.AmountDigits - m.QuoteDigits; drop <= MaxDigits && m.ValueDigits > m.QuoteDigits {
		if hi, lo := bits.Mul64(uint64(price), uint64(amount)); hi == 0 && price >= 0 && amount >= 0 {
			return Money(lo / uint64(pow10[drop])), nil // the same as below, for amounts of everyday size
		}
	}
	value, err := m.Value(price, amount)
	if err != nil {
		return 0, err
	}
	return value.FloorMoney(m.MoneyDrop())
}

// MoneyValue returns money of the quote asset as a Value.
func (m *Market) MoneyValue(money Money) Value {
	return product(int64(money), pow10[m.MoneyDrop()]) // AddMarket allows at most 18 decimals
}

// Coarse reports whether orders may have fewer decimals than the assets of the market.
func (m *Market) Coarse() bool {
	return m.QuantityDecimals < m.AmountDigits || m.NotionalDecimals < m.QuoteDigits
}

// MoneyDrop is the number of decimals that a Value has beyond those of the quote asset.
func (m *Market) MoneyDrop() uint8 { return m.ValueDigits - m.QuoteDigits }

// AmountFor returns the amount that a value buys at a price, or, with a distance for the price, the
// amount that loses the value over that distance. It is rounded down, and never rounded before; 0
// where it leaves int64. Fees are not included.
func (m *Market) AmountFor(value Value, price Price) Qty {
	if price <= 0 || value.Sign() <= 0 {
		return 0
	}
	amount, err := m.quotient(value, int64(price))
	if err != nil {
		return 0
	}
	return Qty(amount)
}

// PriceFor returns the price at which an amount has a value, rounded down; 0 where there is none.
func (m *Market) PriceFor(value Value, amount Qty) Price {
	if amount <= 0 || value.Sign() <= 0 {
		return 0
	}
	price, err := m.quotient(value, int64(amount))
	if err != nil {
		return 0
	}
	return Price(price)
}

// quotient divides a value by a price, which gives an amount, or by an amount, which gives a price.
// A floor of a floor is the floor of the whole. Where the quote asset has the finest digits, the
// value fits a Money.
func (m *Market) quotient(value Value, by int64) (int64, error) {
	drop := m.ValueDigits - m.PriceDigits - m.AmountDigits
	if drop == 0 {
		return value.FloorQuo(by, 0)
	}
	money, err := value.FloorMoney(drop)
	if err != nil {
		return 0, err
	}
	return ValueOf(int64(money)).FloorQuo(by, 0)
}

// Tradable returns amount rounded down to QuantityDecimals, or 0 where an order over it at price
// would be below the market's minimum (dust).
func (m *Market) Tradable(amount Qty, price Price) Qty {
	amount = m.RoundAmount(amount)
	if amount <= 0 || amount < m.MinOrderInBase {
		return 0
	}
	value, err := m.Value(price, amount)
	if err != nil || value.Cmp(m.MoneyValue(m.MinOrderInQuote)) < 0 {
		return 0
	}
	return amount
}

// RoundAmount rounds an amount down to QuantityDecimals.
func (m *Market) RoundAmount(amount Qty) Qty {
	return FloorDigits(amount, m.AmountDigits, m.QuantityDecimals)
}

// RoundPrice rounds a price to the tick as the gate does: a buy down, a sell up. What was asked for
// then equals what rests.
func (m *Market) RoundPrice(side Side, price Price) Price {
	if side == Buy {
		return FloorTo(price, m.TickSize)
	}
	return CeilTo(price, m.TickSize)
}

// ParsePrice, ParseQty and ParseMoney read text in the market's units; see ParseFixed for the
// errors.
func (m *Market) ParsePrice(text string) (Price, error) {
	n, err := ParseFixed(text, m.PriceDigits)
	return Price(n), err
}

// ParseQty reads a base amount.
func (m *Market) ParseQty(text string) (Qty, error) {
	n, err := ParseFixed(text, m.AmountDigits)
	return Qty(n), err
}

// ParseMoney reads an amount of the quote asset.
func (m *Market) ParseMoney(text string) (Money, error) {
	n, err := ParseFixed(text, m.QuoteDigits)
	return Money(n), err
}

// FormatPrice, FormatQty and FormatMoney write plain decimals without trailing zeros.
func (m *Market) FormatPrice(p Price) string { return FormatFixed(int64(p), m.PriceDigits) }

// FormatQty writes a base amount.
func (m *Market) FormatQty(q Qty) string { return FormatFixed(int64(q), m.AmountDigits) }

// FormatVolume writes a traded amount of the base.
func (m *Market) FormatVolume(v Volume) string { return FormatFixed(int64(v), m.VolumeDigits) }

// FormatMoney writes an amount of the quote asset.
func (m *Market) FormatMoney(q Money) string { return FormatFixed(int64(q), m.QuoteDigits) }

// FormatValue writes an exact quote value.
func (m *Market) FormatValue(v Value) string { return v.Format(m.ValueDigits) }

// Float returns a price as a float, for indicators and statistics only.
func (m *Market) Float(p Price) float64 { return float64(p) / float64(pow10[m.PriceDigits]) }

// SplitName splits "BTC-EUR" into base and quote.
func SplitName(name string) (base, quote string, err error) {
	base, quote, found := strings.Cut(name, "-")
	if !found || base == "" || quote == "" || strings.Contains(quote, "-") {
		return "", "", fmt.Errorf("market %q is not of the form BASE-QUOTE", clip(name))
	}
	return base, quote, nil
}

// UsualName returns a name that has no capital letter in capitals, as exchanges write names:
// "btc-eur" is BTC-EUR. Any other name stays.
func UsualName(name string) string {
	if strings.ToLower(name) != name {
		return name
	}
	return strings.ToUpper(name)
}

// Catalog is the set of markets and assets of one process. Markets and assets are added at start
// and never removed. The Market values are shared: gate, venue and strategies see a change of rules
// at once.
type Catalog struct {
	markets []*Market
	assets  []*Asset
}

// AddAsset adds an asset, or returns the one with this symbol. Other digits than those it has are
// an error.
func (c *Catalog) AddAsset(symbol string, digits uint8) (*Asset, error) {
	if symbol == "" || digits > MaxDigits {
		return nil, fmt.Errorf("asset %q with %d decimals: want a symbol and at most %d decimals", symbol, digits,
			MaxDigits)
	}
	if have := c.AssetNamed(symbol); have != nil {
		if have.Digits != digits {
			return nil, fmt.Errorf("asset %s has %d decimals already, not %d", symbol, have.Digits, digits)
		}
		return have, nil
	}
	asset := &Asset{ID: AssetID(len(c.assets) + 1), Symbol: symbol, Digits: digits}
	c.assets = append(c.assets, asset)
	return asset, nil
}

// AddMarket adds m, whose assets must be in the catalog, and sets its ID, Base, Quote,
// AmountDigits, QuoteDigits and ValueDigits from them. The catalog keeps m.
func (c *Catalog) AddMarket(m *Market) error {
	baseName, quoteName, err := SplitName(m.Name)
	if err != nil {
		return err
	}
	base, quote := c.AssetNamed(baseName), c.AssetNamed(quoteName)
	switch {
	case base == nil || quote == nil:
		return fmt.Errorf("market %s: add its assets first", m.Name)
	case c.MarketNamed(m.Name) != nil:
		return fmt.Errorf("market %s is there already", m.Name)
	}
	m.ID = ID(len(c.markets) + 1)
	m.Base, m.Quote = base.ID, quote.ID
	m.AmountDigits, m.QuoteDigits = base.Digits, quote.Digits
	if err := m.SetDigits(m.PriceDigits, m.VolumeDigits); err != nil {
		return err
	}
	if m.Status == 0 {
		m.Status = Trading
	}
	c.markets = append(c.markets, m)
	return nil
}

// SetDigits gives a market of a catalog other decimals of prices and volumes, before anything is
// counted in them.
func (m *Market) SetDigits(price, volume uint8) error {
	if room := min(2*MaxDigits-8, MaxDigits+m.QuoteDigits); price > MaxDigits || volume > MaxDigits ||
		price+m.AmountDigits > room {
		return fmt.Errorf("market %s: %d price and %d amount decimals are too many; %d are possible together, and "+
			"%d each", m.Name, price, m.AmountDigits, room, MaxDigits)
	}
	m.PriceDigits, m.VolumeDigits = price, volume
	m.ValueDigits = max(price+m.AmountDigits, m.QuoteDigits)
	return nil
}

// Market returns the market of an id. It panics on an id that is not the catalog's.
func (c *Catalog) Market(id ID) *Market { return c.markets[id-1] }

// Asset returns the asset of an id. It panics on an id that is not the catalog's.
func (c *Catalog) Asset(id AssetID) *Asset { return c.assets[id-1] }

// MarketNamed returns the market of that name, or nil.
func (c *Catalog) MarketNamed(name string) *Market {
	for _, m := range c.markets {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// AssetNamed returns the asset of that symbol, or nil.
func (c *Catalog) AssetNamed(symbol string) *Asset {
	for _, a := range c.assets {
		if a.Symbol == symbol {
			return a
		}
	}
	return nil
}

// Markets returns all markets by id. The slice is the catalog's own.
func (c *Catalog) Markets() []*Market { return c.markets }

// Assets returns all assets by id. The slice is the catalog's own.
func (c *Catalog) Assets() []*Asset { return c.assets }

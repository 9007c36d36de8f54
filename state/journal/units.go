package journal

import (
	"fmt"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// The keys of the table of units. An asset's row is its decimals; a market's row is the decimals of
// its prices and of its volumes.
const (
	unitAsset  = "asset "
	unitMarket = "market "
)

// extend adds the markets and assets of the file to a catalog.
func extend(c *market.Catalog, tx *bbolt.Tx) error {
	return bolt.ForEach(tx.Bucket(bucketUnits), func(key, row []byte) error { // assets sort before markets
		value, err := openRow(key, row)
		if err == nil && (len(value) != 2 || max(value[0], value[1]) > market.MaxDigits) {
			err = fmt.Errorf("%w: %x decimals", bolt.ErrCorrupt, value)
		}
		if err != nil {
			return fmt.Errorf("units of %q: %w", key, err)
		}
		if symbol, ok := strings.CutPrefix(string(key), unitAsset); ok {
			_, err := c.AddAsset(symbol, value[0])
			if err != nil {
				return fmt.Errorf("%w: the state file keeps its amounts with %d", err, value[0])
			}
			return nil
		}
		name, _ := strings.CutPrefix(string(key), unitMarket)
		return extendMarket(c, name, value[0], value[1])
	})
}

// extendMarket adds a market. A market that is there gets the decimals of the file if they are
// more.
func extendMarket(c *market.Catalog, name string, digits, volume uint8) error {
	m := c.MarketNamed(name)
	if m == nil {
		return c.AddMarket(&market.Market{Name: name, PriceDigits: digits, VolumeDigits: volume, Status: market.Halted})
	}
	m.VolumeDigits = max(m.VolumeDigits, volume)
	if digits > m.PriceDigits {
		tick, err := market.Product(int64(m.TickSize), market.Pow10(digits-m.PriceDigits), 0)
		if err != nil {
			return err
		}
		ticks, err := tick.ExactMoney(0)
		if err != nil {
			return fmt.Errorf("tick size of %s at %d decimals: %w", name, digits, err)
		}
		m.TickSize, m.PriceDigits = market.Price(ticks), digits
		m.ValueDigits = max(m.PriceDigits+m.AmountDigits, m.QuoteDigits)
	}
	return nil
}

// writeUnits stores the units of the catalog.
func writeUnits(tx *bbolt.Tx, c *market.Catalog) error {
	units := tx.Bucket(bucketUnits)
	put := func(name string, digits, volume uint8) error {
		return putRow(units, []byte(name), sealRow([]byte{digits, volume}, []byte(name), 0))
	}
	for _, a := range c.Assets() {
		if err := put(unitAsset+a.Symbol, a.Digits, 0); err != nil {
			return err
		}
	}
	for _, m := range c.Markets() {
		if err := put(unitMarket+m.Name, m.PriceDigits, m.VolumeDigits); err != nil {
			return err
		}
	}
	return nil
}

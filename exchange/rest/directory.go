package rest

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// directory is a catalog with its markets by name.
type directory struct {
	cat   *market.Catalog
	named map[string]*market.Market
	units []market.Market // copies: the rules in the catalog change meanwhile
}

func newDirectory(cat *market.Catalog) *directory {
	d := &directory{cat: cat, named: make(map[string]*market.Market, len(cat.Markets()))}
	for _, m := range cat.Markets() {
		d.named[m.Name] = m
		d.units = append(d.units, *m)
	}
	return d
}

// directory returns the catalog of Use.
func (c *Client) directory() (*directory, error) {
	d := c.catalog.Load()
	if d == nil {
		return nil, ErrNoCatalog
	}
	return d, nil
}

// marketOf returns the catalog of Use with the market of an id, which may be unknown.
func (c *Client) marketOf(id market.ID) (*directory, *market.Market, error) {
	d, err := c.directory()
	if err != nil {
		return nil, nil, err
	}
	if id == 0 || int(id) > len(d.cat.Markets()) {
		return nil, nil, fmt.Errorf("market %d: %w", id, exchange.ErrUnknownMarket)
	}
	return d, d.cat.Market(id), nil
}

package sandbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// newMarkets is a catalog of BTC-EUR, with a tick of 0.5, and ADA-EUR, with one of 0.00001.
func newMarkets(t require.TestingT) *market.Catalog {
	catalog := &market.Catalog{}
	for _, asset := range []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "EUR", Digits: 2},
		{Symbol: "ADA", Digits: 6}} {
		_, err := catalog.AddAsset(asset.Symbol, asset.Digits)
		require.NoError(t, err)
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8,
		Rules: market.Rules{TickSize: 50, QuantityDecimals: 8, NotionalDecimals: 2, MinOrderInBase: 6100,
			MinOrderInQuote: 500, MaxOpenOrders: 100, FeeCategory: "A"}}))
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "ADA-EUR", PriceDigits: 5, VolumeDigits: 6,
		Rules: market.Rules{TickSize: 1, QuantityDecimals: 4, NotionalDecimals: 2, MinOrderInQuote: 500,
			MaxOpenOrders: 100, FeeCategory: "B"}}))
	return catalog
}

// hall is an exchange whose public side alone is open: BTC-EUR and ADA-EUR with the given sources.
type hall struct {
	*Exchange
	t     testing.TB
	order market.OrderID
}

// newHall opens a hall at noon. Its house offers three levels of BTC-EUR, half a per mille away
// from the price, 1 BTC on average.
func newHall(t testing.TB, bitcoin, cardano prices.Source, change ...func(*Config)) *hall {
	catalog := newMarkets(t)
	ex := &Exchange{catalog: catalog, clock: ManualClock(noon), reached: noon}
	ex.config = Config{Seed: 1, Markets: []Market{{Source: bitcoin}, {Source: cardano}},
		Assets: []Asset{{Symbol: "BTC", Name: "Bitcoin", Confirmations: 2}, {Symbol: "EUR", Name: "Euro"}}}
	for _, one := range change {
		one(&ex.config)
	}
	house := func(m *market.Market) sim.Liquidity {
		if m.ID == 2 {
			return sim.Liquidity{}
		}
		return sim.Liquidity{Levels: 3, Size: 1_00000000}
	}
	ex.venue = sim.New(catalog, sim.Config{Book: true, Liquidity: house, HalfSpread: 50_000}, func(ev *market.Event) {
		for _, f := range ev.Fills {
			side := f.Side
			if !f.Taker {
				side = side.Opposite()
			}
			ex.print(f.ID, &market.Trade{Market: f.Market, Price: f.Price, Amount: f.Amount, Side: side, Time: f.Time})
		}
	})
	ex.listings = []*listing{nil}
	for i, m := range catalog.Markets() {
		ex.listings = append(ex.listings,
			&listing{Market: m, config: &ex.config.Markets[i], publicData: newPublicData(&ex.config.Retention)})
	}
	for _, l := range ex.listings[1:] {
		require.NoError(t, ex.openFeed(l, noon.Add(-ex.config.History), noon))
	}
	for asset := range market.AssetID(3) {
		require.NoError(t, ex.venue.Transfer(0, asset+1, 1e15))
		require.NoError(t, ex.venue.Transfer(ex.venue.OpenAccount(nil), asset+1, 1e15))
	}
	return &hall{Exchange: ex, t: t}
}

// pass lets the exchange's clock go on.
func (h *hall) pass(d market.Duration) {
	h.clock.Advance(d)
	h.advance(h.clock.Now())
	require.NoError(h.t, h.Err())
}

// place places a limit order of account 0.
func (h *hall) place(id market.ID, side market.Side, amount market.Qty, price market.Price) {
	h.order++
	o := market.Order{ID: h.order, Market: id, Side: side, Type: market.TypeLimit,
		OrderState: market.OrderState{TimeInForce: market.GTC, Amount: amount, Price: price,
			SelfTradePrevention: market.CancelBoth}}
	h.touch(h.listings[id]) // the hall has no records that do
	refused, err := h.venue.Perform(0, h.clock.Now(), &market.Command{Kind: market.CommandPlace, Order: o})
	require.Nil(h.t, refused)
	require.NoError(h.t, err)
}

// get performs a GET of the table: path with its query, and with the market's name in it.
func (h *hall) get(path string) (string, *exchange.Error) {
	path, query, _ := strings.Cut(path, "?")
	c := &api.Call{Now: h.clock.Now()}
	set := map[string]string{}
	table := h.bind(endpoints)
	for i := range table {
		e := &table[i]
		pattern := strings.Split(e.Path, "/")
		if have := strings.Split(path, "/"); e.Public() && len(have) == len(pattern) {
			for at, part := range pattern {
				if part == "{market}" && strings.Contains(have[at], "-") {
					set["market"], have[at] = have[at], part
				}
			}
			if strings.Join(have, "/") == e.Path {
				c.Endpoint = e
				break
			}
		}
	}
	require.NotNil(h.t, c.Endpoint, path)
	for _, pair := range strings.Split(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			set[name] = value
		}
	}
	c.Args = make(api.Arguments, len(c.Endpoint.Params))
	for name, value := range set {
		a := c.Arg(name)
		*a = api.Argument{Set: true, Text: value}
		_, _ = fmt.Sscan(value, &a.Number)
	}
	refused := c.Endpoint.Do(c)
	if refused == nil {
		require.True(h.t, json.Valid(c.Out), "%s", c.Out)
	}
	return string(c.Out), refused
}

// ok performs a GET that is answered.
func (h *hall) ok(path string) string {
	answer, refused := h.get(path)
	require.Nil(h.t, refused, path)
	return answer
}

// rows performs a GET that answers a list of objects.
func (h *hall) rows(path string) (rows []map[string]any) {
	require.NoError(h.t, json.Unmarshal([]byte(h.ok(path)), &rows))
	return rows
}

// one performs a GET that answers an object.
func (h *hall) one(path string) (row map[string]any) {
	require.NoError(h.t, json.Unmarshal([]byte(h.ok(path)), &row))
	return row
}

// scripted is a source that trades one ADA at each of some prices, one a second from noon on.
func scripted(prices ...market.Price) prices.Source { return script(prices) }

type script []market.Price

func (s script) Movements(start prices.Start) (prices.Movements, error) {
	place := 0
	return func(m *prices.Movement) (bool, error) {
		if place == len(s) {
			return false, nil
		}
		*m = prices.Movement{At: start.From.Add(time.Duration(place) * time.Second), Price: s[place], Amount: 1_000_000,
			Side: market.Sell}
		place++
		return true, nil
	}, nil
}

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/ws"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// New makes an exchange of a config and opens its markets. An error names the setting that is
// wrong. The exchange starts nothing: hand it to an http.Server or call ServeHTTP, and Close it in
// the end.
func New(config Config) (*Exchange, error) {
	ex := &Exchange{config: config, catalog: new(market.Catalog), clock: config.Clock}
	if ex.clock == nil {
		ex.clock = NewClock(0, 1)
	}
	ex.config.Retention.fill()
	if err := ex.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: %w", err), ex.store.close())
	}
	return ex, nil
}

// open opens the parts; each needs the parts before it. With a state file the exchange goes on from
// the file's time: all events due since then happen now, in their order.
func (ex *Exchange) open() error {
	for _, open := range [...]func() error{ex.openStore, ex.openAssets, ex.openMarkets, ex.openVenue, ex.openAccounts,
		ex.openDoor, ex.openSchedule} {
		if err := open(); err != nil {
			return err
		}
	}
	if err := ex.openState(); err != nil {
		return err
	}
	ex.advance(ex.clock.Now())
	// it begins now, also where the exchange goes on
	script, err := ex.loadFaults(ex.config.Faults, ex.config.Seed, ex.reached)
	if err != nil {
		return err
	}
	ex.install(script)
	ex.mu.Lock() // save releases the lock while it writes
	defer ex.mu.Unlock()
	return ex.save(true)
}

// Clock returns the exchange's clock, which tests may hold and move.
func (ex *Exchange) Clock() *Clock { return ex.clock }

// Advance carries out all due events; otherwise they wait for the next request. Call it now and
// then in a long-lived exchange: then a request after a quiet night has nothing to catch up with.
func (ex *Exchange) Advance() {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.stopped() != nil {
		return
	}
	ex.advance(max(ex.clock.Now(), ex.reached))
	_ = ex.saveAndTell(false) // Err returns the error
}

func (ex *Exchange) openAssets() error {
	for i := range ex.config.Assets {
		a := &ex.config.Assets[i]
		if _, err := ex.catalog.AddAsset(a.Symbol, a.Decimals); err != nil {
			return fmt.Errorf("asset %q: %w", a.Symbol, err)
		}
	}
	return nil
}

func (ex *Exchange) openMarkets() error {
	ex.listings = []*listing{nil} // market.IDs begin at 1
	for i := range ex.config.Markets {
		config := &ex.config.Markets[i]
		m, err := config.units(ex.catalog)
		if err != nil {
			return fmt.Errorf("market %q: %w", config.Name, err)
		}
		ex.listings = append(ex.listings, &listing{Market: m, config: config, publicData: publicData{
			tape: tradeRing{keep: ex.config.Retention.Trades}, candles: candles{keep: ex.config.Retention.Candles}}})
	}
	return nil
}

// units adds a market to a catalog, with its rules in units.
func (c *Market) units(catalog *market.Catalog) (*market.Market, error) {
	m := &market.Market{Name: c.Name, PriceDigits: c.PriceDigits, VolumeDigits: 8,
		Rules: market.Rules{QuantityDecimals: c.QuantityDecimals, NotionalDecimals: c.NotionalDecimals,
			MaxOpenOrders: c.MaxOpenOrders, FeeCategory: c.FeeCategory}, Status: c.Status}
	if err := catalog.AddMarket(m); err != nil {
		return nil, err
	}
	if m.QuantityDecimals > m.AmountDigits || m.NotionalDecimals > m.QuoteDigits {
		return nil, fmt.Errorf("quantityDecimals %d and notionalDecimals %d exceed the decimals of the assets, %d and "+
			"%d", m.QuantityDecimals, m.NotionalDecimals, m.AmountDigits, m.QuoteDigits)
	}
	var err error
	for _, rule := range [...]struct {
		name, text string
		read       func(string) error
	}{
		{"tickSize", c.TickSize, func(text string) error { m.TickSize, err = m.ParsePrice(text); return err }},
		{"minOrderInBase", c.MinOrderInBase,
			func(text string) error { m.MinOrderInBase, err = m.ParseQty(text); return err }},
		{"minOrderInQuote", c.MinOrderInQuote,
			func(text string) error { m.MinOrderInQuote, err = m.ParseMoney(text); return err }},
		{"maxOrderInBase", c.MaxOrderInBase,
			func(text string) error { m.MaxOrderInBase, err = m.ParseQty(text); return err }},
		{"maxOrderInQuote", c.MaxOrderInQuote,
			func(text string) error { m.MaxOrderInQuote, err = m.ParseMoney(text); return err }},
	} {
		if err := rule.read(cmp.Or(rule.text, "0")); err != nil {
			return nil, fmt.Errorf("%s: %w", rule.name, err)
		}
	}
	if m.TickSize < 0 || m.MinOrderInBase < 0 || m.MinOrderInQuote < 0 || m.MaxOrderInBase < 0 ||
		m.MaxOrderInQuote < 0 || m.MaxOpenOrders < 0 {
		return nil, fmt.Errorf("a rule is below zero")
	}
	return m, nil
}

func (ex *Exchange) openVenue() error {
	houses := make([]sim.Liquidity, len(ex.listings))
	for _, l := range ex.listings[1:] {
		h := &l.config.Liquidity
		size, err := l.ParseQty(cmp.Or(h.Size, "0"))
		switch {
		case err != nil:
			return fmt.Errorf("market %s: house: size: %w", l.Name, err)
		case h.Levels < 0 || h.Levels > 1000 || h.Step < 0 || h.HalfSpread < 0 || size < 0:
			return fmt.Errorf("market %s: house: 0 to 1000 levels, and nothing below zero", l.Name)
		case h.Levels > 0 && (size == 0) != h.Endless:
			return fmt.Errorf("market %s: house: %d levels want a size or no end, one of the two", l.Name, h.Levels)
		}
		houses[l.ID] = sim.Liquidity{Levels: h.Levels, HalfSpread: h.HalfSpread,
			Step: market.Price(h.Step) * max(1, l.TickSize), Size: size}
	}
	rules := &ex.config.Rules
	ex.venue = sim.New(ex.catalog, sim.Config{
		Book: true, FeeRounding: rules.FeeRounding,
		Liquidity:      func(m *market.Market) sim.Liquidity { return houses[m.ID] },
		PlacementLimit: rules.PlacementLimit, ExecutionLimit: rules.ExecutionLimit, SpreadLimit: rules.SpreadLimit,
		ReferenceLimit: rules.ReferenceLimit, HoldLater: rules.HoldLater,
	}, ex.onReport)
	ex.bank = &bank{config: &ex.config, catalog: ex.catalog, venue: ex.venue, store: ex.store}
	return nil
}

// openAccounts opens the accounts with their balances. The venue's account 0 is the first; fees
// come with the bank.
func (ex *Exchange) openAccounts() error {
	for i := range ex.config.Accounts {
		config := &ex.config.Accounts[i]
		if config.Name == "" || ex.accounts.named(config.Name) != nil {
			return fmt.Errorf("account %q: every account needs a name of its own", config.Name)
		}
		a := &account{name: config.Name, config: config}
		if i > 0 {
			a.id = ex.venue.OpenAccount(nil)
		}
		ex.accounts = append(ex.accounts, a)
		if ex.store.resumes() && int(a.id) < len(ex.store.loaded.accounts) {
			continue // its balances are in the state file
		}
		for symbol, text := range config.Balances {
			if err := ex.bank.creditInitial(a, symbol, text); err != nil {
				return fmt.Errorf("account %s: balance of %s: %w", config.Name, symbol, err)
			}
		}
	}
	ex.bank.accounts = ex.accounts
	return nil
}

// creditInitial gives an account its first balance of an asset.
func (b *bank) creditInitial(a *account, symbol, text string) error {
	asset := b.catalog.AssetNamed(symbol)
	if asset == nil {
		return fmt.Errorf("there is no such asset")
	}
	money, err := market.ParseFixed(text, asset.Digits)
	if err != nil {
		return err
	}
	if money < 0 {
		return fmt.Errorf("%s is below zero", text)
	}
	return b.transfer(a.id, asset.ID, market.Money(money))
}

// openSchedule opens the schedule, from now on or from the time of the state file.
func (ex *Exchange) openSchedule() error {
	beginning, start := ex.opening()
	ex.reached = start
	if err := ex.bank.open(start); err != nil {
		return err
	}
	ex.schedule = append(ex.schedule, &transferSchedule{ex.bank}, &tierSchedule{ex.bank})
	ex.disconnects.ex, ex.upcoming.ex, ex.late.ex = ex, ex, ex
	ex.streams.days, ex.streams.books = dayTickers{ex: ex, next: never}, bookBatches{ex: ex, next: never}
	ex.schedule = append(ex.schedule, &ex.disconnects, &ex.late, &ex.upcoming, &ex.streams.days, &ex.streams.books)
	for _, l := range ex.listings[1:] {
		if err := ex.openFeed(l, beginning, start); err != nil {
			return err
		}
	}
	return nil
}

func (ex *Exchange) openDoor() (err error) {
	keys := make([]api.AccountKeys, len(ex.accounts))
	for i, a := range ex.accounts {
		keys[i] = api.AccountKeys{Name: a.name, Keys: a.config.Keys}
	}
	ex.adminTable = ex.bind(adminEndpoints)
	ex.door, err = api.New(&api.Config{
		Table: ex.bind(endpoints), Catalog: ex.catalog, Prefixes: ex.config.Prefixes, Budget: ex.config.Budget,
		Keys:   keys,
		Strict: ex.config.Rules.Strict, OperatorOptional: ex.config.Rules.OperatorOptional,
	})
	if err == nil {
		s := &ex.streams
		s.catalog, s.venue, s.listings, s.settles = ex.catalog, ex.venue, ex.listings, ex.settles
		s.hub = ws.NewHub(ex.door, ex.catalog, ws.Host{Now: ex.clock.Now, CarryOut: ex.callEndpoint,
			Wait: ex.clock.wait, Requests: ex.requestFaults.Load, Sockets: ex.socketFaults.Load,
			Exclusive: ex.exclusive})
	}
	return err
}

// Default is an exchange that is ready: BTC-EUR, ETH-EUR and ADA-EUR with made-up prices and a day
// of history, and one account "demo" with balances and a key that may do everything. The key is
// made of the seed: it is public, and no more than a name.
func Default() Config {
	return Config{
		Assets: []Asset{
			{Symbol: "EUR", Name: "Euro", Decimals: 2, Networks: []string{"SEPA"}, WithdrawalMin: "5"},
			{Symbol: "BTC", Name: "Bitcoin", Decimals: 8, WithdrawalFee: "0.0000032", WithdrawalMin: "0.000011",
				Confirmations: 2, BlockTime: 10 * time.Minute},
			{Symbol: "ETH", Name: "Ethereum", Decimals: 8, WithdrawalFee: "0.000035", WithdrawalMin: "0.00029",
				Confirmations: 32, BlockTime: 12 * time.Second},
			{Symbol: "ADA", Name: "Cardano", Decimals: 6, WithdrawalFee: "0.5", WithdrawalMin: "2", Confirmations: 15,
				BlockTime: 20 * time.Second},
		},
		Markets: []Market{
			usual(Market{Name: "BTC-EUR", PriceDigits: 2, TickSize: "1", QuantityDecimals: 8, MinOrderInBase: "0.00006",
				FeeCategory: "A",
				Source:      prices.Synthetic{Price: "95000"}, Liquidity: Liquidity{Levels: 50, HalfSpread: 5_000,
					Size: "0.05"}}),
			usual(Market{Name: "ETH-EUR", PriceDigits: 2, TickSize: "0.1", QuantityDecimals: 8,
				MinOrderInBase: "0.0015", FeeCategory: "A",
				Source: prices.Synthetic{Price: "3300"}, Liquidity: Liquidity{Levels: 50, HalfSpread: 8_000,
					Size: "1"}}),
			usual(Market{Name: "ADA-EUR", PriceDigits: 5, TickSize: "0.0001", QuantityDecimals: 6, MinOrderInBase: "7",
				FeeCategory: "B",
				Source:      prices.Synthetic{Price: "0.72"}, Liquidity: Liquidity{Levels: 50, HalfSpread: 20_000,
					Size: "3000"}}),
		},
		Accounts: []Account{{
			Name: "demo", Balances: map[string]string{"EUR": "100000", "BTC": "1", "ETH": "10", "ADA": "10000"},
			Keys: []api.Key{{Key: digest("demo", "key")[2:], Secret: digest("demo", "secret")[2:] +
				digest("demo", "rest of the secret")[2:], Read: true, Trade: true, Withdraw: true}},
		}},
		Tiers: standardTiers(), Seed: 1, History: 24 * time.Hour, Rules: Rules{FeeRounding: exchange.RoundFill},
	}
}

// usual fills in the common settings of the markets of Default.
func usual(m Market) Market {
	m.NotionalDecimals, m.MinOrderInQuote, m.MaxOrderInBase, m.MaxOrderInQuote, m.MaxOpenOrders = 2, "5", "1000000000",
		"1000000000", 100
	return m
}

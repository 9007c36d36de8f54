package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// Setup is a config of `bot exchange`, checked and turned into a sandbox.Config.
type Setup struct {
	*config.Sandbox
	secrets     config.Secrets
	Config      sandbox.Config
	credentials []credential
	token       config.Secret             // of /admin
	Warnings    []string                  // for the user
	stores      map[string]*candles.Store // of replayed candles, by file
	readers     []io.Closer               // of those stores
}

// NewPlan checks a config and opens the stores for replay; sandbox.New checks the rest. Its errors
// name the key. Close it, also after an error.
func NewPlan(c *config.Sandbox, getenv func(string) string) (*Setup, error) {
	p := &Setup{Sandbox: c, secrets: config.Secrets{Getenv: getenv}, Config: sandbox.Default(),
		stores: map[string]*candles.Store{}}
	for _, step := range [...]func() error{p.setExchange, p.setClock, p.setRules, p.setTiers, p.setAssets, p.setMarkets,
		p.setAccounts, p.setAdmin, p.setFaults} {
		if err := step(); err != nil {
			return p, c.Source.Place(err)
		}
	}
	p.warnOfOpenConfig()
	return p, nil
}

// Close closes the stores. The exchange must have ended.
func (p *Setup) Close() (err error) {
	for _, reader := range p.readers {
		err = errors.Join(err, reader.Close())
	}
	for _, file := range slices.Sorted(maps.Keys(p.stores)) {
		err = errors.Join(err, p.stores[file].Close())
	}
	return err
}

func (p *Setup) setExchange() error {
	e, path := &p.Exchange, []string{"exchange"}
	if _, port, err := net.SplitHostPort(e.Listen); err != nil || port == "" {
		return config.Keyf(config.Join(path, "listen"),
			"%q is no address; want host:port, like 127.0.0.1:8080 or 127.0.0.1:0", config.Clip(e.Listen))
	}
	if err := config.CheckHosts(config.Join(path, "hosts"), e.Hosts); err != nil {
		return err
	}
	if len(e.Prefixes) == 0 {
		return config.Keyf(config.Join(path, "prefixes"), "is empty; want at least one, like \"Service\"")
	}
	for i, prefix := range e.Prefixes {
		if prefix == "" || strings.Trim(strings.ToLower(prefix), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" ||
			slices.Contains(e.Prefixes[:i], prefix) {
			return config.Keyf(config.Join(path, "prefixes"),
				"%q begins no header; want letters, digits and dashes, each prefix once", config.Clip(prefix))
		}
	}
	p.Config.Prefixes, p.Config.Venue, p.Config.Seed, p.Config.History, p.Config.State = e.Prefixes, e.Venue, e.Seed,
		market.Duration(e.History), e.State
	return config.OneOf(config.Join(path, "log"), e.Log, config.LogLevels...)
}

// setFaults reads the script of faults.
func (p *Setup) setFaults() error {
	file := p.Exchange.Faults
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err == nil {
		p.Config.Faults, err = sandbox.ParseFaults(text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return config.At([]string{"exchange", "faults"}, err)
}

func (p *Setup) setClock() error {
	speed, err := strconv.ParseFloat(string(p.Clock.Speed), 64)
	if err != nil || speed < 0 || speed > sandbox.FastestClock {
		return config.Keyf([]string{"clock", "speed"},
			"%q is no speed; want 0 for a clock that stands, 1 for the machine's, at most %d", p.Clock.Speed,
			sandbox.FastestClock)
	}
	p.Config.Clock = sandbox.NewClock(market.Time(p.Clock.Start), speed)
	return nil
}

// setRules takes the settings that are plain numbers and words. In a config file 0 means 0; in
// sandbox.Config it means the default. So 0 becomes the smallest or a negative value there.
func (p *Setup) setRules() (err error) {
	r, b, k, path := &p.Rules, &p.Budget, &p.Keep, []string{"rules"}
	p.Config.Budget = api.Budget{PerKey: orNegative(b.PerKey), PerIP: orNegative(b.PerIP),
		KeyBan: market.Duration(max(b.KeyBan, 1)), IPBan: market.Duration(max(b.IPBan, 1)), PerAccount: b.PerAccount}
	p.Config.Retention = sandbox.Retention{Orders: int(k.Orders), Trades: int(k.Trades),
		Transactions: int(k.Transactions), Candles: int(k.Candles)}
	rules := &p.Config.Rules
	*rules = sandbox.Rules{Strict: r.Strict, OperatorOptional: r.OperatorOptional, ShortCreate: r.ShortCreate,
		DayWindow:   r.DayWindow,
		SettleAfter: market.Duration(r.SettleAfter), HoldLater: r.HoldLater, GroupsPerAccount: int(r.GroupsPerAccount),
		WithdrawalStage: market.Duration(r.WithdrawalStage)}
	if r.WithdrawalStage == 0 {
		rules.WithdrawalStage = -1
	}
	if rules.FeeRounding, err = exchange.ParseFeeRounding(r.FeeRounding); err != nil {
		return config.At(config.Join(path, "fee_rounding"), err)
	}
	if rules.TriggerReference, err = market.ParseTriggerReference(r.TriggerReference); err != nil ||
		rules.TriggerReference == 0 {
		return config.Keyf(config.Join(path, "trigger_reference"),
			"%q is not lastTrade, bestBid, bestAsk or midPrice", r.TriggerReference)
	}
	if r.GroupsPerAccount == 0 || r.GroupsPerAccount > 1000 {
		return config.Keyf(config.Join(path, "groups_per_account"), "%d is not in 1 to 1000", r.GroupsPerAccount)
	}
	for _, l := range [...]struct {
		key  string
		have config.Part
		into *market.Rate
	}{
		{"placement_limit", r.PlacementLimit, &rules.PlacementLimit}, {"execution_limit", r.ExecutionLimit,
			&rules.ExecutionLimit},
		{"spread_limit", r.SpreadLimit, &rules.SpreadLimit}, {"reference_limit", r.ReferenceLimit,
			&rules.ReferenceLimit},
	} {
		if *l.into, err = l.have.Rate(market.RateDigits); err != nil {
			return config.At(config.Join(path, l.key), err)
		}
	}
	for _, n := range [...]struct {
		key  string
		have int64
	}{{"orders", k.Orders}, {"trades", k.Trades}, {"transactions", k.Transactions}, {"candles", k.Candles}} {
		if n.have == 0 {
			return config.Keyf([]string{"keep", n.key}, "0 would forget everything; want 1 at least")
		}
	}
	return nil
}

// orNegative turns 0, no limit, into -1, which means no limit to the sandbox.
func orNegative(limit int64) int {
	if limit == 0 {
		return -1
	}
	return int(limit)
}

// setTiers takes the fee schedule and sorts it by volume.
func (p *Setup) setTiers() error {
	if p.Tiers == nil {
		return nil
	}
	p.Config.Tiers = nil
	type step struct {
		volume int64
		tier   sandbox.Tier
	}
	var steps []step
	for _, key := range slices.Sorted(maps.Keys(p.Tiers)) {
		path := []string{"tiers", key}
		volume, err := config.Decimal(key).Fixed(2)
		if err != nil {
			return config.Keyf(path, "the name of a tier is the volume that it begins at: %w", err)
		}
		fees, err := p.fees(path, p.Tiers[key])
		if err != nil {
			return err
		}
		steps = append(steps, step{volume, sandbox.Tier{Volume: key, Fees: fees}})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return int(min(max(a.volume-b.volume, -1), 1)) })
	for i, s := range steps {
		if path := []string{"tiers", s.tier.Volume}; i == 0 && s.volume != 0 {
			return config.Keyf(path, "is the lowest tier; the lowest has to begin at 0")
		} else if i > 0 && s.volume == steps[i-1].volume {
			return config.Keyf(path, "begins where the tier %s does", steps[i-1].tier.Volume)
		}
		p.Config.Tiers = append(p.Config.Tiers, s.tier)
	}
	return nil
}

// fees reads the rates of a tier.
func (p *Setup) fees(path []string, categories map[string]config.CategorySection) (map[string]exchange.Fees, error) {
	fees := map[string]exchange.Fees{}
	for _, category := range slices.Sorted(maps.Keys(categories)) {
		c := categories[category]
		maker, err := readFee(c.Maker.Decimal)
		if err != nil {
			return nil, config.At(config.Join(path, category, "maker"), err)
		}
		taker, err := readFee(c.Taker.Decimal)
		if err != nil {
			return nil, config.At(config.Join(path, category, "taker"), err)
		}
		if category == config.AnyCategory {
			category = ""
		}
		fees[category] = exchange.Fees{Maker: maker, Taker: taker}
	}
	if _, given := fees[""]; !given {
		return nil, config.Keyf(path, "has no %q: the fees of every category that it does not name", config.AnyCategory)
	}
	return fees, nil
}

// readFee reads a rate that may be a rebate.
func readFee(value config.Decimal) (market.Rate, error) {
	digits, rebate := strings.CutPrefix(string(value), "-")
	rate, err := config.Decimal(digits).Rate(market.RateDigits)
	if err != nil {
		return 0, err
	}
	if rate == config.WholeRate {
		return 0, fmt.Errorf("%s takes the whole trade; want less than 1", value)
	}
	if rebate {
		rate = -rate
	}
	return rate, nil
}

// Explain makes a config error of an error of sandbox.New, unless its cause is the state file.
func (p *Setup) Explain(err error) error {
	inMemory := p.Config
	inMemory.State = ""
	if _, again := sandbox.New(inMemory); again == nil {
		return err
	}
	return config.Errorf("%s: %w", p.Sandbox.Source.Name(), err)
}

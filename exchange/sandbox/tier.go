package sandbox

import (
	"fmt"
	"math"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// The volume that decides an account's tier is that of the 30 whole UTC days before, in the
// currency of the tiers. It is worked out once a night (venue-facts 3.5); until then a day's trades
// change nothing.
const (
	tierCurrency = "EUR"
	tierDays     = 30
	tierHour     = time.Hour // of a UTC day
	day          = 24 * time.Hour
)

// tier is one step of the fee schedule in units.
type tier struct {
	volume market.Money
	fees   map[string]exchange.Fees
}

// dayVolume is the volume of an account on one UTC day, in the currency of the tiers.
type dayVolume struct {
	Day    int64 // since 1970
	Volume market.Money
}

// standardTiers is the one public schedule that names volumes and rates (venue-facts 3.5). It is
// not known how the rates of the fee categories differ, so that all have the same here.
func standardTiers() []Tier {
	steps := []struct {
		volume       string
		taker, maker market.Rate // in hundredths of a percent
	}{
		{"0", 25, 15}, {"100000", 20, 10}, {"250000", 16, 8}, {"500000", 12, 6}, {"1000000", 10, 5},
		{"2500000", 8, 4}, {"5000000", 6, 4}, {"10000000", 5, 3}, {"25000000", 4, 3},
	}
	const basisPoint = market.Rate(1e4)
	var tiers []Tier
	for _, s := range steps {
		tiers = append(tiers, Tier{Volume: s.volume,
			Fees: map[string]exchange.Fees{"": {Taker: s.taker * basisPoint, Maker: s.maker * basisPoint}}})
	}
	return tiers
}

// openTiers reads the config's fee schedule and gives every account the tier of its volume at the
// start, which counts as traded the day before.
func (ex *Exchange) openTiers(now market.Time) error {
	ex.currencyDigits = 2
	if currency := ex.catalog.AssetNamed(tierCurrency); currency != nil {
		ex.currency, ex.currencyDigits = currency.ID, currency.Digits
	}
	for _, m := range ex.catalog.Markets() {
		ex.rated = append(ex.rated, ex.catalog.MarketNamed(ex.catalog.Asset(m.Quote).Symbol+"-"+tierCurrency))
	}
	for i := range ex.config.Tiers {
		if err := ex.openTier(&ex.config.Tiers[i]); err != nil {
			return fmt.Errorf("tier %d: %w", i, err)
		}
	}
	for _, a := range ex.accounts {
		start, err := parseMoney(a.config.Volume, ex.currencyDigits)
		if err != nil {
			return fmt.Errorf("account %s: volume: %w", a.name, err)
		}
		a.days = append(a.days, dayVolume{Day: now.Day() - 1, Volume: start})
		a.tier = -1 // none yet: applyTier then sets the fees at the venue
		ex.updateTier(a, now.Day())
	}
	ex.nextTierUpdate = market.Time(now.Day()) * market.Time(day)
	for ex.nextTierUpdate = ex.nextTierUpdate.Add(tierHour); ex.nextTierUpdate <= now; {
		ex.nextTierUpdate = ex.nextTierUpdate.Add(day)
	}
	ex.schedule = append(ex.schedule, &tierSchedule{ex})
	return nil
}

// openTier adds a step, which must begin above the one before; the first begins at 0.
func (ex *Exchange) openTier(config *Tier) error {
	volume, err := parseMoney(config.Volume, ex.currencyDigits)
	switch n := len(ex.tiers); {
	case err != nil:
		return fmt.Errorf("volume: %w", err)
	case n == 0 && volume != 0:
		return fmt.Errorf("the first tier begins at volume 0, not %s", config.Volume)
	case n > 0 && volume <= ex.tiers[n-1].volume:
		return fmt.Errorf("volume %s is not above that of the tier before", config.Volume)
	}
	if _, ok := config.Fees[""]; !ok {
		return fmt.Errorf(`no fees for category "", which every other category falls back to`)
	}
	for category, fees := range config.Fees {
		const whole = market.Rate(1e8)
		if max(fees.Maker, fees.Taker) >= whole || min(fees.Maker, fees.Taker) <= -whole {
			return fmt.Errorf("fees of category %q are not between -100 %% and 100 %%", category)
		}
	}
	ex.tiers = append(ex.tiers, tier{volume: volume, fees: config.Fees})
	return nil
}

// tierSchedule works out every account's tier.
type tierSchedule struct{ ex *Exchange }

func (n *tierSchedule) due() market.Time { return n.ex.nextTierUpdate }

func (n *tierSchedule) run(at market.Time) {
	for _, a := range n.ex.accounts {
		n.ex.updateTier(a, at.Day())
	}
	n.ex.nextTierUpdate = at.Add(day)
}

// updateTier works out the volume of the 30 days before today and the tier that it gives.
func (ex *Exchange) updateTier(a *account, today int64) {
	a.volume = 0
	for _, d := range a.days {
		if d.Day >= today-tierDays && d.Day < today {
			a.volume = addVolume(a.volume, d.Volume)
		}
	}
	ex.store.markAccount(a)
	ex.applyTier(a)
}

// applyTier gives an account the tier of its volume.
func (ex *Exchange) applyTier(a *account) {
	level := 0
	for level+1 < len(ex.tiers) && ex.tiers[level+1].volume <= a.volume {
		level++
	}
	if level == a.tier {
		return
	}
	a.tier = level
	ex.venue.SetFees(a.id, func(m *market.Market) exchange.Fees { return ex.rates(level, m.FeeCategory) })
}

// rates returns the fees of a tier in a fee category; the category "" stands for all others.
func (ex *Exchange) rates(level int, category string) exchange.Fees {
	if len(ex.tiers) == 0 {
		return exchange.Fees{}
	}
	fees, ok := ex.tiers[level].fees[category]
	if !ok {
		fees = ex.tiers[level].fees[""]
	}
	return fees
}

// addTurnover adds a fill to the volume of its day.
func (ex *Exchange) addTurnover(a *account, m *market.Market, f *market.Fill) {
	worth, err := ex.notional(m, f)
	if err != nil {
		worth = math.MaxInt64
	}
	today, last := f.Time.Day(), len(a.days)-1
	if last >= 0 && a.days[last].Day == today {
		a.days[last].Volume = addVolume(a.days[last].Volume, worth)
		return
	}
	if len(a.days) > tierDays {
		a.days = append(a.days[:0], a.days[len(a.days)-tierDays:]...)
	}
	a.days = append(a.days, dayVolume{Day: today, Volume: worth})
}

// notional returns the value of a fill in the currency of the tiers, rounded down: other quotes by
// the latest price of the market QUOTE-EUR, or one for one where there is no such market or price.
func (ex *Exchange) notional(m *market.Market, f *market.Fill) (market.Money, error) {
	money, err := m.Notional(f.Price, f.Amount)
	if err != nil || m.Quote == ex.currency {
		return money, err
	}
	if rated := ex.rated[m.ID-1]; rated != nil {
		if last := ex.venue.Last(rated.ID); last > 0 {
			return rated.Notional(last, market.Qty(money))
		}
	}
	whole, err := market.Rescale(int64(market.FloorDigits(money, m.QuoteDigits, ex.currencyDigits)), m.QuoteDigits,
		ex.currencyDigits)
	return market.Money(whole), err
}

// addVolume adds volumes; an overflow is the largest volume, in the highest tier anyway.
func addVolume(a, b market.Money) market.Money {
	if sum, err := market.Add(a, b); err == nil {
		return sum
	}
	return math.MaxInt64
}

// parseMoney reads an amount of the config, which is not negative; "" is 0.
func parseMoney(text string, digits uint8) (market.Money, error) {
	if text == "" {
		return 0, nil
	}
	n, err := market.ParseFixed(text, digits)
	if err == nil && n < 0 {
		err = fmt.Errorf("%s is negative", text)
	}
	return market.Money(n), err
}

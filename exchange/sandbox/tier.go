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
func (b *bank) openTiers(now market.Time) error {
	b.currencyDigits = 2
	if currency := b.catalog.AssetNamed(tierCurrency); currency != nil {
		b.currency, b.currencyDigits = currency.ID, currency.Digits
	}
	for _, m := range b.catalog.Markets() {
		b.rated = append(b.rated, b.catalog.MarketNamed(b.catalog.Asset(m.Quote).Symbol+"-"+tierCurrency))
	}
	for i := range b.config.Tiers {
		if err := b.openTier(&b.config.Tiers[i]); err != nil {
			return fmt.Errorf("tier %d: %w", i, err)
		}
	}
	for _, a := range b.accounts {
		start, err := parseMoney(a.config.Volume, b.currencyDigits)
		if err != nil {
			return fmt.Errorf("account %s: volume: %w", a.name, err)
		}
		a.days = append(a.days, dayVolume{Day: now.Day() - 1, Volume: start})
		a.tier = -1 // none yet: applyTier then sets the fees at the venue
		b.updateTier(a, now.Day())
	}
	b.nextTierUpdate = market.Time(now.Day()) * market.Time(day)
	for b.nextTierUpdate = b.nextTierUpdate.Add(tierHour); b.nextTierUpdate <= now; {
		b.nextTierUpdate = b.nextTierUpdate.Add(day)
	}
	return nil
}

// openTier adds a step, which must begin above the one before; the first begins at 0.
func (b *bank) openTier(config *Tier) error {
	volume, err := parseMoney(config.Volume, b.currencyDigits)
	switch n := len(b.tiers); {
	case err != nil:
		return fmt.Errorf("volume: %w", err)
	case n == 0 && volume != 0:
		return fmt.Errorf("the first tier begins at volume 0, not %s", config.Volume)
	case n > 0 && volume <= b.tiers[n-1].volume:
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
	b.tiers = append(b.tiers, tier{volume: volume, fees: config.Fees})
	return nil
}

// tierSchedule works out every account's tier.
type tierSchedule struct{ *bank }

func (n *tierSchedule) due() market.Time { return n.nextTierUpdate }

func (n *tierSchedule) run(at market.Time) {
	for _, a := range n.accounts {
		n.updateTier(a, at.Day())
	}
	n.nextTierUpdate = at.Add(day)
}

// updateTier works out the volume of the 30 days before today and the tier that it gives.
func (b *bank) updateTier(a *account, today int64) {
	a.volume = 0
	for _, d := range a.days {
		if d.Day >= today-tierDays && d.Day < today {
			a.volume = addVolume(a.volume, d.Volume)
		}
	}
	b.store.markAccount(a)
	b.applyTier(a)
}

// applyTier gives an account the tier of its volume.
func (b *bank) applyTier(a *account) {
	level := 0
	for level+1 < len(b.tiers) && b.tiers[level+1].volume <= a.volume {
		level++
	}
	if level == a.tier {
		return
	}
	a.tier = level
	b.venue.SetFees(a.id, func(m *market.Market) exchange.Fees { return b.rates(level, m.FeeCategory) })
}

// rates returns the fees of a tier in a fee category; the category "" stands for all others.
func (b *bank) rates(level int, category string) exchange.Fees {
	if len(b.tiers) == 0 {
		return exchange.Fees{}
	}
	fees, ok := b.tiers[level].fees[category]
	if !ok {
		fees = b.tiers[level].fees[""]
	}
	return fees
}

// addTurnover adds a fill to the volume of its day.
func (b *bank) addTurnover(a *account, m *market.Market, f *market.Fill) {
	worth, err := b.fillWorth(m, f)
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

// fillWorth returns the value of a fill in the currency of the tiers, rounded down. Another quote
// is converted at the latest price of its market with that currency, or at 1 without such a market.
func (b *bank) fillWorth(m *market.Market, f *market.Fill) (market.Money, error) {
	money, err := m.Notional(f.Price, f.Amount)
	if err != nil || m.Quote == b.currency {
		return money, err
	}
	if rated := b.rated[m.ID-1]; rated != nil {
		if last := b.venue.Last(rated.ID); last > 0 {
			return rated.Notional(last, market.Qty(money))
		}
	}
	whole, err := market.Rescale(int64(market.FloorDigits(money, m.QuoteDigits, b.currencyDigits)), m.QuoteDigits,
		b.currencyDigits)
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

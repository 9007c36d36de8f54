package seal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Keeper holds the days of a running bot against its seal. It belongs to the goroutine of the
// bot's loop. The zero value keeps nothing until Load or Seal.
type Keeper struct {
	account  *state.Account
	currency market.AssetID
	now      []Strategy // that run
	version  string     // of the program that runs

	sealed  *watched
	day     pending
	changed bool // day has changed since Pending
	arrived map[market.OrderID]arrival
}

// pending is the part of a day that is over. It survives restarts.
type pending struct {
	Transfers market.Money `json:"transfers,omitempty"`
	Trips     int          `json:"trips,omitempty"`
	Slippage  []Slip       `json:"slippage,omitempty"`
	Unknown   int          `json:"unknown,omitempty"`
}

// arrival has the prices of the market when an order arrived.
type arrival struct {
	decided, against market.Price
}

// NewKeeper makes a keeper of an account, whose seal Load reads. It gets the strategies and the
// version of the program that run.
func NewKeeper(account *state.Account, currency market.AssetID, running []Strategy, version string) *Keeper {
	return &Keeper{account: account, currency: currency, now: running, version: version,
		arrived: map[market.OrderID]arrival{}}
}

// Runs tells which strategies run from now on.
func (k *Keeper) Runs(running []Strategy) { k.now = running }

// Load reads the latest seal with its verdicts, and what Pending wrote.
func (k *Keeper) Load(rows []journal.KeptRow, saved []byte) (err error) {
	k.day = pending{}
	if k.sealed, err = watchedIn(rows); err != nil || len(saved) == 0 {
		return err
	}
	if err := json.Unmarshal(saved, &k.day); err != nil {
		return fmt.Errorf("the day before the restart: %w", err)
	}
	return nil
}

// Standing is how the bot stands to its seal.
func (k *Keeper) Standing() *SealStatus { return k.sealed.standing() }

// Changes lists what differs from the sealed strategies.
func (k *Keeper) Changes() []string {
	if k.sealed == nil {
		return nil
	}
	d := k.sealed.document
	lines := Changes(d.Strategies, k.now)
	if sealed := d.Program.Version; sealed != "" && sealed != k.version {
		lines = append(lines, fmt.Sprintf("program: %s was sealed, %s runs", sealed, k.version))
	}
	return lines
}

// Evidence is the evidence against the promise; sealed is false where there is no seal.
func (k *Keeper) Evidence() (total float64, broken, sealed bool) {
	if k.sealed == nil {
		return 0, false, false
	}
	return k.sealed.evidence.Total(), k.sealed.evidence.Broken() != nil, true
}

// Decided notes the market when an order is about to leave.
func (k *Keeper) Decided(id market.OrderID) {
	o := k.account.Known(id)
	if k.sealed == nil || o == nil || o.TriggerType != 0 {
		return // the price at which a stop arrives is not known
	}
	if best, known := k.account.BestPrice(o.Market, o.Side); known {
		k.arrived[id] = arrival{k.account.Last(o.Market), best}
	}
}

// Arrived notes the market when the exchange has answered.
func (k *Keeper) Arrived(id market.OrderID) {
	a, known := k.arrived[id]
	if o := k.account.Known(id); known && o != nil && o.FilledAmount == 0 {
		a.against = k.account.Touch(o.Market, o.Side)
		k.arrived[id] = a
	}
}

// Filled notes a new fill.
func (k *Keeper) Filled(o *state.Order, f *market.Fill) {
	if k.sealed == nil || !f.Taker {
		return
	}
	k.changed = true
	a, known := k.arrived[o.ID]
	if !known || a.decided == 0 {
		k.day.Unknown++
		return
	}
	m, buy := k.account.Catalog().Market(f.Market), f.Side == market.Buy
	k.day.Slippage = append(k.day.Slippage, Slip{Order: int64(o.ID), Fill: f.ID.String(), Market: m.Name, Buy: buy,
		Price: m.FormatPrice(f.Price), Against: m.FormatPrice(a.against), Decided: m.FormatPrice(a.decided),
		BPS: bps(buy, f.Price, a.against, a.decided)})
}

// Closed notes an order that has ended. A sale that was filled is a round trip, as in a backtest.
func (k *Keeper) Closed(o *state.Order) {
	delete(k.arrived, o.ID)
	if k.sealed != nil && o.Side == market.Sell && o.FilledAmount > 0 {
		k.day.Trips++
		k.changed = true
	}
}

// Transferred notes a balance that changed from outside, at the latest price.
func (k *Keeper) Transferred(ev *market.Event) {
	if k.sealed == nil {
		return
	}
	k.changed = true
	if ev.Asset == k.currency {
		k.day.Transfers += ev.Money
		return
	}
	for _, m := range k.account.Catalog().Markets() {
		if m.Base != ev.Asset || m.Quote != k.currency {
			continue
		}
		if value, err := m.Notional(k.account.Last(m.ID), market.Qty(max(ev.Money, -ev.Money))); err == nil {
			if ev.Money < 0 {
				value = -value
			}
			k.day.Transfers += value
		}
		return
	}
}

// Pending is the day so far, for the next Load; nil: it has not changed since the last call.
func (k *Keeper) Pending() []byte {
	if !k.changed {
		return nil
	}
	k.changed = false
	text, _ := json.Marshal(&k.day) // numbers and texts
	return text
}

// A day is reckoned in the first hour behind it, or never. patience is how long the reckoning waits
// for a price of everything that is held.
const (
	reckonWithin = market.Duration(time.Hour)
	patience     = reckonWithin * 5 / 6
)

// Minute returns the verdict on the day that has ended, if one has. Call it once a minute. A day at
// whose end the bot does not run is missed; its return is a part of the next day's.
func (k *Keeper) Minute(at market.Time) (*journal.Verdict, error) {
	w, today := k.sealed, at.Day()
	if w == nil || w.last == nil && today == w.at.Day() || w.last != nil && today <= w.lastDay+1 {
		return nil, nil
	}
	behind := at.Sub(dayTime(today))
	if behind >= reckonWithin || behind < patience && !k.account.PricedSince(k.currency, dayTime(today)) {
		return nil, nil
	}
	o, err := k.observe(at)
	if err != nil || o == nil {
		return nil, err
	}
	day := dayTime(today - 1)
	w.add(day, o)
	o.Evidence, o.Total = w.evidence.Values(), w.evidence.Total()
	k.day, k.changed = pending{}, true
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("verdict on %s: %w", dateOf(day), err)
	}
	return &journal.Verdict{Scope: Scope, Seal: w.number, Day: day, Broken: w.evidence.Broken() != nil,
		Document: text}, nil
}

// observe reckons the account; nil: it has no equity to compare with.
func (k *Keeper) observe(at market.Time) (*Observation, error) {
	equity, err := k.account.Equity(k.currency)
	if err != nil {
		return nil, err
	}
	exposure, err := k.account.Exposure(k.currency)
	if err != nil {
		return nil, err
	}
	catalog := k.account.Catalog()
	digits := catalog.Asset(k.currency).Digits
	money := func(m market.Money) string { return market.FormatFixed(int64(m), digits) }
	o := &Observation{Version: documentVersion, AtMS: at.Millis(), Baseline: k.sealed.last == nil,
		Equity:   money(equity),
		Exposure: money(exposure), Transfers: money(k.day.Transfers), Balances: map[string]string{},
		Prices: map[string]string{}, Trips: k.day.Trips, Slippage: k.day.Slippage, Unknown: k.day.Unknown,
		Changed: k.Changes()}
	for _, a := range catalog.Assets() {
		if total := k.account.Total(a.ID).Total; total != 0 {
			o.Balances[a.Symbol] = market.FormatFixed(int64(total), a.Digits)
		}
	}
	for _, m := range catalog.Markets() {
		if price := k.account.Last(m.ID); price != 0 && k.account.Total(m.Base).Total != 0 {
			o.Prices[m.Name] = m.FormatPrice(price)
		}
	}
	if o.Baseline {
		o.Trips, o.Slippage, o.Unknown = 0, nil, 0
		return o, nil
	}
	before, err := market.ParseFixed(k.sealed.last.Equity, digits)
	if err != nil {
		return nil, fmt.Errorf("equity of the day before: %w", err)
	}
	held, err := market.ParseFixed(k.sealed.last.Exposure, digits)
	if err != nil {
		return nil, fmt.Errorf("exposure of the day before: %w", err)
	}
	var known bool
	if o.Return, o.Share, known = returnOf(before, held, int64(equity), int64(k.day.Transfers)); !known {
		return nil, nil
	}
	return o, nil
}

// returnOf is the return from one reckoning to the next, and the exposure at the first as a part of
// its equity. Money that comes in counts as if it had been there from the first reckoning on. known
// is false where there was no money.
func returnOf(before, held, after, transfers int64) (r, share float64, known bool) {
	base := float64(before) + max(0, float64(transfers))
	if before <= 0 || base <= 0 {
		return 0, 0, false
	}
	return (float64(after) - float64(transfers) - float64(before)) / base, min(1, float64(held)/float64(before)), true
}

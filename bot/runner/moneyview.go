package runner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// place is a strategy in a market.
type place struct {
	strategy market.StrategyID
	market   market.ID
}

// moneyView is how the bot's money stands, for alerts. It does not change once it is made.
type moneyView struct {
	equity market.Money
	limits risk.Standing
	day    bool // limits.DayStart is known
	open   int  // orders
	held   []heldPlace
}

type heldPlace struct {
	place
	amount, bare, covered market.Qty
	last                  market.Price // 0: unknown
}

// look takes the standing that the next alerts tell. Only the loop's goroutine may call it.
func (w *watch) look() {
	if w == nil || w.r.account == nil || w.alerts == nil {
		return
	}
	if s, is := w.alerts.(*switchboard); is && s.sender.Load() == nil {
		return // no alert will be sent
	}
	r := w.r
	equity, err := r.account.Equity(r.plan.Currency.ID)
	if err != nil {
		return // the last one stays
	}
	s := &moneyView{equity: equity, open: len(r.account.Open(nil, 0, 0))}
	s.limits, s.day = r.gate.Standing()
	bare := map[place]market.Qty{}
	for _, u := range r.bareExits() {
		bare[place{u.Strategy, u.Market}] += u.Amount
	}
	for i := range r.plan.Names() {
		for _, m := range r.plan.Catalog.Markets() {
			at := place{strategyID(i + 1), m.ID}
			if held := r.account.Position(at.strategy, at.market); held.Amount != 0 {
				s.held = append(s.held, heldPlace{at, held.Amount, bare[at],
					r.engine.Brackets().Covered(at.strategy, at.market), r.account.Last(at.market)})
			}
		}
	}
	w.stands.Store(s)
}

// money is the standing for an alert; nil: none was taken. Any goroutine may call it.
func (w *watch) money() *alert.Money {
	s := w.stands.Load()
	if s == nil {
		return nil
	}
	r := w.r
	money := func(of market.Money) string { return market.FormatFixed(int64(of), r.plan.Currency.Digits) }
	m := &alert.Money{Currency: r.plan.Currency.Symbol, Equity: money(s.equity), OpenOrders: s.open,
		Positions: []alert.Holding{}}
	if s.day {
		m.DayResult = money(s.equity - s.limits.DayStart)
	}
	for i := range s.held {
		m.Positions = append(m.Positions, r.holdingOf(&s.held[i]))
	}
	return m
}

func (r *runner) holdingOf(x *heldPlace) alert.Holding {
	m := r.plan.Catalog.Market(x.market)
	h := alert.Holding{Strategy: r.nameOf(x.strategy), Market: m.Name, Amount: m.FormatQty(x.amount),
		Protected: x.bare == 0 && x.covered >= x.amount}
	if x.bare > 0 {
		h.Unprotected = m.FormatQty(x.bare)
	}
	if worth, err := m.Notional(x.last, x.amount); err == nil && x.last != 0 {
		h.Value = m.FormatMoney(worth)
	}
	return h
}

// earnings follow the profit of sales. They belong to the loop's goroutine.
type earnings struct {
	told map[place]market.Value // what a position had realised when it was last told
	sold map[place]bool         // sales since then
}

// begin starts from the profit of earlier runs.
func (e *earnings) begin(r *runner) {
	*e = earnings{told: map[place]market.Value{}, sold: map[place]bool{}}
	for i := range r.plan.Names() {
		for _, m := range r.plan.Catalog.Markets() {
			at := place{strategyID(i + 1), m.ID}
			e.told[at] = r.account.Position(at.strategy, at.market).Realised
		}
	}
}

// text says what the sales since the last call have earned, a line for each strategy and market. A
// fee that is settled later counts in the next line of its market.
func (e *earnings) text(r *runner) (text string) {
	order := func(a, b place) int {
		return cmp.Or(cmp.Compare(a.strategy, b.strategy), cmp.Compare(a.market, b.market))
	}
	for _, at := range slices.SortedFunc(maps.Keys(e.sold), order) {
		m, now := r.plan.Catalog.Market(at.market), r.account.Position(at.strategy, at.market).Realised
		earned, err := now.Sub(e.told[at])
		if err != nil {
			continue
		}
		sign := "+"
		if earned.Sign() < 0 {
			sign = ""
		}
		text += fmt.Sprintf("\n%s has earned %s%s with its sales of %s", r.nameOf(at.strategy), sign,
			m.FormatValue(earned), m.Name)
		e.told[at] = now
	}
	clear(e.sold)
	return text
}

// dailyLine asks for a line about the money once a day.
type dailyLine struct {
	asked string // the time of the day, as the config has it
	next  time.Time
}

// checkDaily raises the alert of the day at its time.
func (w *watch) checkDaily(now time.Time) {
	c := w.r.config()
	if c == nil || !w.daily.due(c, now) {
		return
	}
	if money := w.money(); money != nil {
		w.raise(alert.Daily, "%s", now.In(zoneOf(c)).Format("Monday 2 January, 15:04"))
	}
}

func zoneOf(c *config.Run) *time.Location {
	zone, err := profit.Zone(c.Bot.Zone)
	if err != nil {
		return time.UTC // the plan has checked it
	}
	return zone
}

// due reports whether the time of the day has come since the last call. A start, or a reload with
// another time, waits for the next one.
func (d *dailyLine) due(c *config.Run, now time.Time) bool {
	at, is, err := c.Alerts.DailyAt()
	if err != nil || !is {
		*d = dailyLine{}
		return false
	}
	came := d.asked == c.Alerts.Daily && !now.Before(d.next)
	if came || d.asked != c.Alerts.Daily {
		local := now.In(zoneOf(c))
		d.asked, d.next = c.Alerts.Daily, dayTime(local, 0, at)
		if !now.Before(d.next) {
			d.next = dayTime(local, 1, at)
		}
	}
	return came
}

// dayTime is a time of a day, so many days after that of from.
func dayTime(from time.Time, days int, at time.Duration) time.Time {
	return time.Date(from.Year(), from.Month(), from.Day()+days, 0, int(at.Minutes()), 0, 0, from.Location())
}

package dashboard

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

// Documents are the answers of a bot, with their times. A nil document is not known.
type Documents struct {
	Status    *operator.Status
	Positions *operator.Positions
	Risk      *operator.Risk
	Refused   *operator.Refused
	Curve     *profit.Curve
	Days      *profit.ProfitReport // by day
	Exits     exits                // of the positions
	NowMS     int64                // of this machine
	Zone      *time.Location
}

// zone is that of the times; UTC where it is not known.
func (d *Documents) zone() *time.Location { return cmp.Or(d.Zone, time.UTC) }

// TopOf is the line above the pages.
func TopOf(s *operator.Status, nowMS int64) Top {
	top := Top{Mode: live("top-mode", cmp.Or(s.Mode, "–")), Exchange: live("top-exchange", s.Exchange),
		State: live("top-state", s.State), Feed: live("top-feed", feedAge(s, nowMS))}
	var halted []string
	for _, one := range s.Strategies {
		if one.State == operator.Halted {
			halted = append(halted, one.Name)
		}
	}
	switch {
	case s.State == operator.Stopped:
		top.Alarm = "STOPPED " + age(s.AsOfMS, nowMS) + " ago"
		if s.OpenOrders > 0 {
			top.Alarm += fmt.Sprintf(", %d open orders", s.OpenOrders)
		}
	case s.State == operator.Halted || len(halted) > 0 && len(halted) == len(s.Strategies):
		top.Alarm = "HALT"
	case len(halted) > 0:
		top.Alarm = "HALT " + strings.Join(halted, ", ")
	}
	return top
}

// Live are the texts of the line for an event.
func (t *Top) Live() map[string]string {
	texts := Live(t.Mode, t.Exchange, t.State, t.Feed)
	texts["top-alarm"] = t.Alarm
	return texts
}

// feedAge is the age of the prices that have been silent for the longest. The age of candles rises
// to their length in good order, so it counts only where there is nothing else.
func feedAge(s *operator.Status, nowMS int64) string {
	var prices, candles int64
	for _, f := range s.Feeds {
		oldest := &prices
		if strings.HasPrefix(f.Feed, market.KindCandles.String()) {
			oldest = &candles
		}
		if aging(&f) && (*oldest == 0 || f.LastMS < *oldest) {
			*oldest = f.LastMS
		}
	}
	now := nowMS + s.ClockOffsetMS
	switch {
	case prices != 0:
		return "prices " + age(prices, now) + " old"
	case candles != 0:
		return "candles " + age(candles, now) + " old"
	}
	return "no prices"
}

// aging reports whether the age of a feed says something: a status is told only when it changes.
func aging(f *operator.Feed) bool {
	return !strings.HasPrefix(f.Feed, market.KindMarketStatus.String())
}

// OverviewOf makes the first page: what needs attention, the figures, what is held, the curve over
// a time, the account. shown is the name of that time.
func OverviewOf(d *Documents, shown string) (Parts, error) {
	curve, err := equityPicture(d.Curve)
	if err != nil {
		return nil, err
	}
	days, err := profit.DaysChart(d.Days)
	if err != nil {
		return nil, err
	}
	span := Choices{Label: "Show"}
	for i := range shownSpans {
		name := shownSpans[i].name
		span.Of = append(span.Of, Choice{name, "./?show=" + name, name == shown})
	}
	p := append(Parts{Warnings(warnings(d)), overviewCards(d), positionTable(d), strategyTable(d), span}, curve...)
	if days != nil {
		p = append(p, view.Figure{Chart: *days})
	}
	p = append(p, balanceTable(d))
	return append(p, feedTables(d.Status, d.NowMS)...), nil
}

// balanceTable lists the whole account.
func balanceTable(d *Documents) Table {
	t := Table{Title: "Account", Empty: "The balances are those of a running bot.",
		Head: []string{"Asset", "Whole", "The bot's", "Of it in orders", "Beside the bot"}}
	for i := range d.Status.Balances {
		b := &d.Status.Balances[i]
		id := "balance/" + b.Asset + "/"
		t.Rows = append(t.Rows, row(left(b.Asset), live(id+"whole", b.Whole), live(id+"bot", b.Bot),
			live(id+"orders", b.InOrders), live(id+"others", b.Others)))
	}
	if len(t.Rows) == 0 {
		for _, x := range d.Status.Unallocated {
			t.Head, t.Title = []string{"Asset", "Beside the bot"}, "Account, "+age(x.AtMS, d.NowMS)+" ago"
			t.Rows = append(t.Rows, row(left(x.Asset), text(x.Amount)))
		}
	}
	return t
}

func overviewCards(d *Documents) Cards {
	s := d.Status
	drawdown := "–"
	if part, err := decimal.NewFromString(s.Drawdown); err == nil {
		drawdown = part.Shift(2).StringFixed(2) + " %"
	}
	answers, clock := "–", "–"
	if s.State != operator.Stopped {
		answers = fmt.Sprintf("%.0f ms", s.RoundTripMS)
		clock = "its clock is " + ahead(s.ClockOffsetMS)
	}
	opening := Cell{ID: "opening", Text: cmp.Or(s.Opening, allowed(d.Risk, "max_drawdown", "of %s allowed"))}
	day := signed("day", cmp.Or(s.DayResult, "–"))
	return Cards{
		{"Equity", live("equity", cmp.Or(s.Equity, "–")), text(s.Currency)},
		{"Today, " + s.Currency, day, text(allowed(d.Risk, "max_daily_loss", "a loss of %s is allowed"))},
		{"Drawdown", live("drawdown", drawdown), opening},
		{"Exposure, " + s.Currency, live("exposure", cmp.Or(s.Exposure, "–")),
			text(allowed(d.Risk, "max_exposure", "of %s allowed, open buys included"))},
		{"Open orders", live("open-orders", fmt.Sprint(s.OpenOrders)),
			live("foreign-orders", fmt.Sprintf("%d of others", s.ForeignOrders))},
		{"Exchange answers in", live("round-trip", answers), live("clock", clock)},
	}
}

// ahead says how far the clock of the exchange is from that of the bot.
func ahead(ms int64) string {
	if ms < 0 {
		return fmt.Sprintf("%d ms behind", -ms)
	}
	return fmt.Sprintf("%d ms ahead", ms)
}

// allowed says how far a limit of the account reaches.
func allowed(r *operator.Risk, limit, words string) string {
	if r != nil {
		for i := range r.Limits {
			if l := &r.Limits[i]; l.Scope == "account" && l.Name == limit && l.Max != "" {
				return fmt.Sprintf(words, page.Number(l.Words(l.Max)))
			}
		}
	}
	return "no limit is set"
}

// warnings says what a person should look at first.
func warnings(d *Documents) (list []string) {
	s := d.Status
	if s.State == operator.Stopped {
		list = append(list, fmt.Sprintf("The bot does not run. Its figures are those of %s, %s ago.",
			moment(s.AsOfMS, d.zone()), age(s.AsOfMS, d.NowMS)))
	}
	for i := range s.Strategies {
		if one := &s.Strategies[i]; one.State == operator.Halted {
			list = append(list, fmt.Sprintf("%s is halted since %s: %s", one.Name, moment(one.HaltedMS, d.zone()),
				cmp.Or(one.Reason, "no reason")))
		}
	}
	if s.Opening != "" {
		list = append(list, s.Opening)
	}
	if s.Blocked != "" {
		list = append(list, "A strategy does not return: "+s.Blocked)
	}
	for _, u := range s.Unprotected {
		list = append(list, fmt.Sprintf("%s %s: %s has no exit at the exchange: %s", u.Strategy, u.Market, u.Amount,
			u.Cause))
	}
	if s.StreamAside != "" {
		list = append(list, "Stream: "+s.StreamAside)
	}
	for _, g := range s.NotGuarded {
		list = append(list, g.Text())
	}
	for _, m := range s.Markets {
		list = append(list, fmt.Sprintf("%s does not trade: %s", m.Market, m.Status))
	}
	for _, w := range s.Weight {
		if w.HeldUntilMS != 0 {
			list = append(list, "A page that is no answer of the exchange: requests of the "+w.Of+" wait until "+
				moment(w.HeldUntilMS, time.UTC)+" UTC")
		}
		if w.BannedUntilMS != 0 {
			list = append(list, "The exchange has banned the "+w.Of+" until "+moment(w.BannedUntilMS, time.UTC)+" UTC")
		}
	}
	return list
}

func strategyTable(d *Documents) Table {
	t := Table{Title: "Strategies", Empty: "The bot has no strategy.",
		Head: []string{"Strategy", "State", "Positions", "Profit, " + d.Status.Currency, "Open orders", "Last refusal"}}
	for _, s := range d.Status.Strategies {
		id := "strategy/" + s.Name + "/"
		state := Cell{ID: id + "state", Text: s.State, Class: "left"}
		if s.Reason != "" {
			state.Text += ": " + s.Reason
			state.Class = "left bad"
		}
		held, profit := holdings(d.Positions, s.Name)
		t.Rows = append(t.Rows, row(left(s.Name), state, live(id+"positions", held), signed(id+"profit", profit),
			live(id+"orders", fmt.Sprint(s.OpenOrders)), lastRefusal(d, s.Name, id)))
	}
	return t
}

// holdings are the open positions of a strategy in words, and its profit, unrealised included.
func holdings(list *operator.Positions, strategy string) (held, profit string) {
	if list == nil {
		return "–", "–"
	}
	var open []string
	var sum decimal.Decimal
	for i := range list.Positions {
		p := &list.Positions[i]
		if p.Strategy != strategy {
			continue
		}
		if !flat(p.Amount) {
			open = append(open, p.Amount+" "+p.Market)
		}
		sum = sum.Add(number(p.Realised)).Add(unrealised(p))
	}
	return cmp.Or(strings.Join(open, ", "), "flat"), sum.StringFixed(2)
}

// unrealised is the profit of a position at the latest price; 0 where that is not known.
func unrealised(p *operator.Position) decimal.Decimal {
	if p.Value == "" || flat(p.Amount) {
		return decimal.Zero
	}
	return number(p.Value).Sub(number(p.Cost))
}

// number reads a decimal of a document; 0 where it is missing.
func number(t string) decimal.Decimal {
	n, err := decimal.NewFromString(t)
	if err != nil {
		return decimal.Zero
	}
	return n
}

func flat(amount string) bool { return number(amount).IsZero() }

func lastRefusal(d *Documents, strategy, id string) Cell {
	if d.Refused != nil {
		for _, by := range d.Refused.Strategies {
			if by.Strategy == strategy && len(by.Refused) > 0 {
				r := &by.Refused[0]
				reason := r.Reason
				if r.Detail != "" {
					reason += " (" + r.Detail + ")"
				}
				text := fmt.Sprintf("%s: %s, %s ago", r.By, reason, age(r.LastMS, d.NowMS+d.Status.ClockOffsetMS))
				if r.Times > 1 {
					text += fmt.Sprintf(", %d times", r.Times)
				}
				return Cell{ID: id + "refusal", Class: "left", Text: text}
			}
		}
	}
	return Cell{ID: id + "refusal", Class: "left", Text: "none"}
}

// positionTable lists what is held, each position on a line with the prices that matter.
func positionTable(d *Documents) Table {
	t := Table{Title: "Positions, money in each market's quote", Empty: "Nothing is held.",
		Head: []string{"Market", "Strategy", "Amount", "Entry", "Last", "Stop", "Target", "Value", "Unrealised"}}
	list := d.Positions
	if list == nil {
		return t
	}
	for i := range list.Positions {
		p := &list.Positions[i]
		if flat(p.Amount) {
			continue
		}
		id := "position/" + p.Strategy + "/" + p.Market + "/"
		own := d.Exits.exitOf(p)
		market := Cell{Text: p.Market, Path: "market?market=" + url.QueryEscape(p.Market), Class: "left"}
		stop := live(id+"stop", cmp.Or(listed(own.stops), "none"))
		if len(own.stops) == 0 {
			stop.Class = "bad"
		}
		t.Rows = append(t.Rows, row(market, left(p.Strategy), live(id+"amount", p.Amount), live(id+"entry", entryOf(p)),
			live(id+"last", cmp.Or(p.Last, "–")), stop, live(id+"target", cmp.Or(listed(own.targets), "none")),
			live(id+"value", cmp.Or(p.Value, "–")), signed(id+"unrealised", unrealised(p).StringFixed(2))))
	}
	return t
}

// listed are prices, grouped, with commas between them.
func listed(prices []string) string {
	grouped := make([]string, len(prices))
	for i, price := range prices {
		grouped[i] = page.Number(price)
	}
	return strings.Join(grouped, ", ")
}

// entryOf is the mean price that was paid, fees included, with the decimals of the latest price.
func entryOf(p *operator.Position) string {
	digits := int32(2)
	if p.Last != "" {
		_, decimals, _ := strings.Cut(p.Last, ".")
		digits = int32(len(decimals))
	}
	return number(p.Cost).DivRound(number(p.Amount), digits).StringFixed(digits)
}

// feedTables are the feeds with their ages, and what is left of the exchange's budgets of requests.
func feedTables(s *operator.Status, nowMS int64) Parts {
	feeds := Table{Title: "Feeds", Head: []string{"Feed", "Last event"},
		Empty: "The bot does not run: it has no feeds."}
	for _, f := range s.Feeds {
		if aging(&f) {
			feeds.Rows = append(feeds.Rows, row(left(f.Feed), live("feed/"+f.Feed,
				age(f.LastMS, nowMS+s.ClockOffsetMS)+" ago")))
		}
	}
	budgets := Table{Title: "Budgets of requests, in points a minute", Head: []string{"Budget of the", "Left"},
		Empty: "The bot does not run: it asks for nothing."}
	for _, w := range s.Weight {
		budgets.Rows = append(budgets.Rows, row(left(w.Of), live("weight/"+w.Of, fmt.Sprint(w.Left))))
	}
	return Parts{feeds, budgets}
}

// OrdersOf makes the page of orders from the list of all orders, the latest first.
func OrdersOf(all *operator.Orders, zone *time.Location) Parts {
	open := orderTable("Open", "No order is open.")
	doubt := orderTable("Unresolved", "No order is unresolved.")
	closed := orderTable("Closed", "No order has been closed.")
	for _, o := range slices.Backward(all.Orders) {
		to := &closed
		switch standing(&o) {
		case "open":
			to = &open
		case "unresolved":
			to = &doubt
		}
		if len(to.Rows) < 200 {
			to.Rows = append(to.Rows, orderRow(&o, zone))
		}
	}
	return Parts{doubt, open, closed}
}

// standing sorts an order under open, closed or unresolved.
func standing(o *operator.OrderRow) string {
	switch {
	case o.InFlight != "" && !o.Waits || o.State == "unknown":
		return "unresolved"
	case slices.Contains([]string{"filled", "canceled", "rejected", "expired"}, o.State):
		return "closed"
	}
	return "open"
}

func orderTable(title, empty string) Table {
	return Table{Title: title, Empty: empty,
		Head: []string{"Order", "Strategy", "Market", "Terms", "State", "Filled", "Fee", "Tag", "Updated"}}
}

// orderCell is the number of an order, with the link to its story.
func orderCell(number int64) Cell {
	return Cell{Text: fmt.Sprint(number), Path: fmt.Sprintf("order?order=%d", number), Class: "left"}
}

func orderRow(o *operator.OrderRow, zone *time.Location) Row {
	return row(orderCell(o.Number),
		left(o.Strategy), text(o.Market), left(o.Terms()), text(o.StateText()), text(o.Filled),
		text(profit.Brief(o.Fee)), left(o.Tag), text(moment(o.Updated(), zone)))
}

// StoryStep is an entry of the journal in words.
type StoryStep struct {
	At, Kind string
	Lines    []string
}

// StoryPage makes the page of one order: its entries as bot explain tells them, with the figures of
// the risk gate.
func StoryPage(s *operator.Story, zone *time.Location) Parts {
	o := &s.Order
	cards := Cards{
		{"Order", text(fmt.Sprint(o.Number)), text(o.Strategy + " " + o.Market)},
		{"State", text(o.StateText()), text(moment(o.Updated(), zone))},
		{"Filled", text(o.Filled), text("for " + cmp.Or(profit.Brief(o.FilledQuote), "0"))},
		{"Terms", text(o.Terms()), text(cmp.Or(o.Tag, "no tag"))},
	}
	figures := Table{Title: "Checks of the risk gate", Empty: "The journal has no figures of the risk gate.",
		Head: []string{"Figure", "Before", "After", "Limit"}}
	var story Story
	for _, step := range s.Steps {
		story = append(story, StoryStep{moment(step.AtMS, zone), step.Kind, step.Lines})
		for _, f := range step.Risk {
			figures.Rows = append(figures.Rows, row(left(f.Name), text(f.Before), text(f.After),
				text(cmp.Or(f.Limit, "–"))))
		}
	}
	return Parts{cards, Section{"Story", Parts{story}}, figures}
}

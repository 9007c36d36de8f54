package profit

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// RoundTrip is what one closing order sold of a position. Money is in Currency, exact,
// as a plain decimal; prices are averages without fees.
type RoundTrip struct {
	Order     int64   `json:"order"` // number of the closing order
	Strategy  string  `json:"strategy"`
	Market    string  `json:"market"`
	EnteredMS int64   `json:"entered_ms"` // the first fill since the position was flat
	ExitedMS  int64   `json:"exited_ms"`  // the last fill of the closing order
	Amount    string  `json:"amount"`
	Entry     string  `json:"entry"`
	Exit      string  `json:"exit"`
	Fees      string  `json:"fees"`   // of the sale, and the sold amount's share of the fees of the buys
	Profit    string  `json:"profit"` // after fees
	Part      float64 `json:"part"`   // profit as a part of what was paid, fees included
	Currency  string  `json:"currency"`
	Reason    string  `json:"reason"`            // tag of the closing order; signal: it has none
	Awaited   bool    `json:"awaited,omitempty"` // a fee is not settled yet
}

// TradeSum sums up the round trips in markets of one currency.
type TradeSum struct {
	Currency string `json:"currency"`
	Trips    int    `json:"trips"`
	Won      int    `json:"won"`
	Lost     int    `json:"lost"`
	Profit   string `json:"profit"`
	Fees     string `json:"fees"`
}

// TradeList is a list of round trips, the earliest exit first.
type TradeList struct {
	Answer
	AsOfMS int64       `json:"as_of_ms,omitempty"` // of a stopped bot: when its file was last written
	Zone   string      `json:"zone"`               // in which a person reads the times
	Trades []RoundTrip `json:"trades"`
	Before int         `json:"before,omitempty"` // trips of the range that Query.Latest left out
	Sums   []TradeSum  `json:"sums"`             // over all trips of the range
}

// trip is a round trip in exact numbers.
type trip struct {
	order          market.OrderID
	holding        *holding
	tag            uint32
	entered, exit  market.Time
	amount         market.Qty
	cost, proceeds market.Value // without fees
	profit         market.Value
	awaited        bool
}

// fees are the fees of the trip: the gross profit less the profit.
func (t *trip) fees() (market.Value, error) {
	gross, err := t.proceeds.Sub(t.cost)
	if err != nil {
		return gross, err
	}
	return gross.Sub(t.profit)
}

// tripKey names a round trip: an order closes a position in one market for one strategy.
type tripKey struct {
	order   market.OrderID
	holding *holding
}

// trips collects the round trips of a fold.
type trips struct {
	list []trip
	open map[tripKey]int // place in list
}

// add counts a change.
func (ts *trips) add(c *effect) error {
	if c.sold <= 0 || c.event.side == 0 {
		return nil
	}
	key := tripKey{c.event.order, c.holding}
	at, known := ts.open[key]
	if !known {
		if ts.open == nil {
			ts.open = map[tripKey]int{}
		}
		at = len(ts.list)
		ts.open[key] = at
		ts.list = append(ts.list, trip{order: key.order, holding: c.holding, tag: c.event.tag, entered: c.opened})
	}
	t := &ts.list[at]
	t.exit, t.amount, t.awaited = c.event.at, t.amount+c.sold, t.awaited || !c.event.settled
	var err error
	add := func(to *market.Value, v market.Value) {
		if err == nil {
			*to, err = to.Add(v)
		}
	}
	add(&t.cost, c.cost)
	add(&t.proceeds, c.proceeds)
	add(&t.profit, c.realised)
	return err
}

// Trades lists the round trips that ended in the asked time. now is when ages of the query end.
func Trades(from Source, q *Query, now market.Time) (*TradeList, error) {
	zone, err := q.zone(from)
	if err != nil {
		return nil, err
	}
	since, until, err := q.span(now, zone)
	if err != nil {
		return nil, err
	}
	l, err := read(from, true)
	if err != nil {
		return nil, err
	}
	if err := q.known(l); err != nil {
		return nil, err
	}
	var all trips
	if _, err := l.replay(q.wants(l), all.add); err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(all.list, func(t trip) bool { return t.exit < since || t.exit >= until })
	slices.SortStableFunc(list, func(a, b trip) int {
		return cmp.Or(cmp.Compare(a.exit, b.exit), cmp.Compare(a.order, b.order))
	})
	answer := &TradeList{Zone: zone.String(), Trades: []RoundTrip{}}
	if answer.Sums, err = l.sumTrips(list); err != nil {
		return nil, err
	}
	if q.Latest > 0 && len(list) > q.Latest {
		answer.Before = len(list) - q.Latest
		list = list[answer.Before:]
	}
	answer.Trades = make([]RoundTrip, 0, len(list))
	for i := range list {
		one, err := l.trade(&list[i])
		if err != nil {
			return nil, err
		}
		answer.Trades = append(answer.Trades, one)
	}
	return answer, nil
}

// reason is the tag of a closing order; an order without one follows a signal.
func (l *timeline) reason(tag uint32) string { return cmp.Or(l.names[tag], "signal") }

func (l *timeline) trade(t *trip) (RoundTrip, error) {
	m := t.holding.market
	fees, err := t.fees()
	if err != nil {
		return RoundTrip{}, err
	}
	paid, err := t.proceeds.Sub(t.profit) // with all fees
	if err != nil {
		return RoundTrip{}, err
	}
	one := RoundTrip{Order: int64(t.order), Strategy: l.names[t.holding.strategy], Market: m.Name,
		EnteredMS: t.entered.Millis(), ExitedMS: t.exit.Millis(), Amount: m.FormatQty(t.amount),
		Entry: m.FormatPrice(m.PriceFor(t.cost, t.amount)), Exit: m.FormatPrice(m.PriceFor(t.proceeds, t.amount)),
		Fees: m.FormatValue(fees), Profit: m.FormatValue(t.profit), Currency: l.catalog.Asset(m.Quote).Symbol,
		Reason: l.reason(t.tag), Awaited: t.awaited}
	if paid.Sign() > 0 {
		one.Part = t.profit.Float(m.ValueDigits) / paid.Float(m.ValueDigits)
	}
	return one, nil
}

// sumTrips sums up the trips by currency, in the order of its first trip.
func (l *timeline) sumTrips(list []trip) ([]TradeSum, error) {
	sums := []TradeSum{}
	var profit, fees []market.Value
	digits := map[string]uint8{}
	for i := range list {
		t := &list[i]
		digits[l.catalog.Asset(t.holding.market.Quote).Symbol] = l.digits(t.holding.market.Quote)
	}
	for i := range list {
		t := &list[i]
		m := t.holding.market
		symbol := l.catalog.Asset(m.Quote).Symbol
		at := slices.IndexFunc(sums, func(s TradeSum) bool { return s.Currency == symbol })
		if at < 0 {
			at = len(sums)
			sums = append(sums, TradeSum{Currency: symbol})
			profit, fees = append(profit, market.Value{}), append(fees, market.Value{})
		}
		s, drop := &sums[at], digits[symbol]-m.ValueDigits
		s.Trips++
		if t.profit.Sign() > 0 {
			s.Won++
		} else if t.profit.Sign() < 0 {
			s.Lost++
		}
		paid, err := t.fees()
		if err == nil {
			err = cmp.Or(addTo(&profit[at], t.profit, drop), addTo(&fees[at], paid, drop))
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range sums {
		sums[i].Profit = profit[i].Format(digits[sums[i].Currency])
		sums[i].Fees = fees[i].Format(digits[sums[i].Currency])
	}
	return sums, nil
}

// digits are the most decimals of a value in the markets of a currency.
func (l *timeline) digits(currency market.AssetID) uint8 {
	most := l.catalog.Asset(currency).Digits
	for _, m := range l.catalog.Markets() {
		if m.Quote == currency {
			most = max(most, m.ValueDigits)
		}
	}
	return most
}

// addTo adds a value that has fewer decimals than the sum.
func addTo(sum *market.Value, v market.Value, drop uint8) error {
	v, err := v.ScaleUp(drop)
	if err == nil {
		*sum, err = sum.Add(v)
	}
	return err
}

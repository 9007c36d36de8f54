package ws

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// Channel is a kind of events (websocket-facts 4).
type Channel uint8

// The channels.
const (
	Ticker Channel = iota + 1
	Ticker24h
	Candles
	Trades
	Book
	Account
	channels
)

var channelNames = [channels]string{"", "ticker", "ticker24h", "candles", "trades", "book", "account"}

// CandleIntervals are those of the channel candles (websocket-facts 5).
func CandleIntervals() []market.Interval {
	return []market.Interval{market.Interval1m, market.Interval5m, market.Interval15m, market.Interval30m,
		market.Interval1h, market.Interval2h, market.Interval4h, market.Interval6h, market.Interval8h,
		market.Interval12h, market.Interval1d}
}

// subscribe carries out subscribe and unsubscribe: all of a message, or nothing. The answer is in
// the queue before the first event.
func (c *connection) subscribe(m *api.Message) *exchange.Error {
	topics, refusal := c.topicsOf(m)
	if refusal != nil {
		return refusal
	}
	h := c.hub
	h.host.Exclusive(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, t := range topics {
			if m.Action == "unsubscribe" {
				h.drop(c, t)
				continue
			}
			if script := h.host.Sockets(); script != nil && script.Mutes(c.frameOf(t), h.host.Now()) {
				c.topics[t] = struct{}{}
				continue
			}
			h.add(c, t)
		}
		w := answer("event", m.Action+"d", m)
		c.list(&w)
		w.Close('}')
		c.send(&message{text: w.Dst})
	})
	return nil
}

// list writes everything that the connection is subscribed to. The caller holds the hub's mutex.
func (c *connection) list(w *wire.Writer) {
	topics := make([]Topic, 0, len(c.topics))
	for t := range c.topics {
		topics = append(topics, t)
	}
	slices.SortFunc(topics, func(a, b Topic) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Interval, b.Interval),
			cmp.Compare(a.Market, b.Market))
	})
	w.Key("subscriptions")
	w.Dst = append(w.Dst, '{')
	for len(topics) > 0 {
		n := 1
		for n < len(topics) && topics[n].Channel == topics[0].Channel {
			n++
		}
		w.Key(channelNames[topics[0].Channel])
		if topics[0].Channel == Candles {
			c.listCandles(w, topics[:n])
		} else {
			c.listMarkets(w, topics[:n])
		}
		topics = topics[n:]
	}
	w.Close('}')
}

// listMarkets writes the markets of topics as a list.
func (c *connection) listMarkets(w *wire.Writer, topics []Topic) {
	w.Dst = append(w.Dst, '[')
	for i := range topics {
		w.Comma()
		w.Quote(c.hub.catalog.Market(topics[i].Market).Name)
	}
	w.Close(']')
}

// listCandles writes the markets of each interval.
func (c *connection) listCandles(w *wire.Writer, topics []Topic) {
	w.Dst = append(w.Dst, '{')
	for len(topics) > 0 {
		n := 1
		for n < len(topics) && topics[n].Interval == topics[0].Interval {
			n++
		}
		w.Key(topics[0].Interval.String())
		c.listMarkets(w, topics[:n])
		topics = topics[n:]
	}
	w.Close('}')
}

// wanted is one element of the member channels.
type wanted struct {
	name      string
	markets   []string
	all       bool // the bare text "*"
	intervals []string
}

// topicsOf reads the topics of a message.
func (c *connection) topicsOf(m *api.Message) (topics []Topic, refusal *exchange.Error) {
	list, ok := []wanted(nil), true
	m.Each(func(name, text string) {
		if name == "channels" && ok {
			list, ok = readChannels(text)
		}
	})
	if !ok || len(list) == 0 {
		return nil, exchange.Invalid("channels")
	}
	for i := range list {
		more, refusal := c.topicsIn(&list[i], m.Action == "unsubscribe")
		if refusal != nil {
			return nil, refusal
		}
		topics = append(topics, more...)
	}
	return topics, nil
}

// readChannels reads the member channels.
func readChannels(text string) (list []wanted, ok bool) {
	s := wire.NewScanner([]byte(text))
	for s.Array(); s.Element(); {
		var one wanted
		for s.Object(); s.Member(); {
			switch name := string(s.Name()); {
			case name == "name" && s.Peek() == '"':
				one.name = string(s.Token())
			case name == "markets" && s.Peek() == '"':
				one.all = string(s.Token()) == "*"
			case name == "markets" && s.Peek() == '[':
				one.markets = texts(&s)
			case name == "interval" && s.Peek() == '[':
				one.intervals = texts(&s)
			case name == "interval" && s.Peek() == '"':
				one.intervals = []string{string(s.Token())}
			default:
				s.Discard()
			}
		}
		list = append(list, one)
	}
	return list, s.End() == nil
}

// texts reads a list of texts.
func texts(s *wire.Scanner) (list []string) {
	for s.Array(); s.Element(); {
		if s.Peek() != '"' {
			s.Discard()
			list = append(list, "")
			continue
		}
		list = append(list, string(s.Token()))
	}
	return list
}

// topicsIn are the topics of one element. Without an interval, an unsubscribe means all intervals.
func (c *connection) topicsIn(one *wanted, ends bool) (topics []Topic, refusal *exchange.Error) {
	channel := Channel(slices.Index(channelNames[:], one.name))
	if one.name == "" || channel >= channels {
		return nil, exchange.Invalid("channel.name")
	}
	account := 0
	if channel == Account {
		if refusal := c.session.Lacks(api.Read | api.Trade); refusal != nil {
			return nil, refusal
		}
		account = c.session.Account()
	}
	ids, refusal := c.marketsOf(one, channel)
	if refusal != nil {
		return nil, refusal
	}
	intervals := []market.Interval{0}
	if channel == Candles {
		if intervals, refusal = intervalsOf(one.intervals, ends); refusal != nil {
			return nil, refusal
		}
	}
	for _, id := range ids {
		for _, interval := range intervals {
			topics = append(topics, Topic{Channel: channel, Market: id, Interval: interval, Account: account})
		}
	}
	return topics, nil
}

// marketsOf are the markets of an element.
func (c *connection) marketsOf(one *wanted, channel Channel) (ids []market.ID, refusal *exchange.Error) {
	if channel == Account && (one.all || slices.Equal(one.markets, []string{"*"})) {
		for _, m := range c.hub.catalog.Markets() {
			ids = append(ids, m.ID)
		}
		return ids, nil
	}
	for _, name := range one.markets {
		m := c.hub.catalog.MarketNamed(name)
		switch {
		case m == nil && name != "" && name == strings.ToUpper(name):
			return nil, &exchange.Error{Code: exchange.CodeInvalid, Status: 400,
				Message: "market parameter " + api.Clip(name) + " is invalid."}
		case m == nil:
			return nil, exchange.Invalid("market")
		}
		ids = append(ids, m.ID)
	}
	if len(ids) == 0 {
		return nil, exchange.Invalid("markets")
	}
	return ids, nil
}

// intervalsOf reads the intervals of an element of candles.
func intervalsOf(names []string, ends bool) (list []market.Interval, refusal *exchange.Error) {
	if len(names) == 0 && ends {
		return CandleIntervals(), nil
	}
	for _, name := range names {
		interval, err := market.ParseInterval(name)
		if err != nil || !slices.Contains(CandleIntervals(), interval) {
			return nil, exchange.Invalid("interval")
		}
		list = append(list, interval)
	}
	if len(list) == 0 {
		return nil, exchange.Invalid("interval")
	}
	return list, nil
}

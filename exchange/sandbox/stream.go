package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/ws"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// streams are the events for sockets. An event waits until everything that led to it is in the
// state file: no client hears of what a kill could undo.
type streams struct {
	catalog  *market.Catalog
	venue    *sim.Venue
	listings []*listing
	settles  func(*market.Fill) market.Time // when the fee of a fill appears

	depth  depth // scratch
	hub    *ws.Hub
	events []ws.Event // that wait to be published
	gone   int        // events that were published before those
	seen   uint64     // Hub.Version of the flags of all listings
	heard  bool       // as of seen, some socket follows something
	days   dayTickers
	books  bookBatches
	pump   pump
}

// followed has the channels of a market that sockets follow, and the state that they have been
// sent.
type followed struct {
	ticker, day, trades bool
	candles             []market.Interval
	accounts            []int // as api.Call.Account

	moved bool      // since shown
	shown topOfBook // by the latest event of the channel ticker
	copied
}

// topOfBook has the fields of an event of the channel ticker.
type topOfBook struct {
	bid, ask market.Level
	last     market.Price
}

// serveSocket makes a socket of a request, and serves it to its end.
func (ex *Exchange) serveSocket(w http.ResponseWriter, r *http.Request) {
	if script := ex.socketFaults.Load(); script != nil && script.Refuses(ex.clock.Now()) {
		api.DeclareJSON(w.Header())
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write(exchange.AppendError(nil, exchange.ErrCode(exchange.CodeEngineUnavailable)))
		return
	}
	ex.streams.pump.enter(ex)
	defer ex.streams.pump.leave()
	ex.streams.hub.ServeHTTP(w, r)
}

// isSocket reports whether a request asks for a socket: /v2 and /v2/ are both in use.
func isSocket(r *http.Request) bool {
	return strings.TrimSuffix(r.URL.Path, "/") == api.Version &&
		strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// exclusive calls a function while the exchange does nothing else.
func (ex *Exchange) exclusive(act func()) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.stopped() == nil {
		ex.advance(max(ex.clock.Now(), ex.reached))
		_ = ex.saveAndTell(false) // Err returns the error
	}
	act()
	ex.streams.refresh(ex.reached)
}

// saveAndTell saves, and then publishes what has been saved. The caller holds the lock, which save
// lets go of meanwhile.
func (ex *Exchange) saveAndTell(always bool) error {
	ex.showTakers()
	ex.streams.showTops()
	upTo := ex.streams.gone + len(ex.streams.events)
	if err := ex.save(always); err != nil {
		return err
	}
	if n := upTo - ex.streams.gone; n > 0 { // another request may have published them meanwhile
		ex.streams.hub.Publish(ex.streams.events[:n])
		ex.streams.events, ex.streams.gone = slices.Delete(ex.streams.events, 0, n), upTo
	}
	return nil
}

// tell lets an event wait to be published.
func (s *streams) tell(topic ws.Topic, w *wire.Writer) {
	s.events = append(s.events, ws.Event{Topic: topic, Text: w.Dst})
}

// telling begins an event of a market.
func (l *listing) telling(name string) *wire.Writer {
	w := &wire.Writer{Dst: make([]byte, 0, 256)}
	w.Open('{')
	w.Text("event", name)
	w.Text("market", l.Name)
	return w
}

// refresh notes again what sockets follow, if that has changed.
func (s *streams) refresh(now market.Time) {
	version := s.hub.Version()
	if version == s.seen {
		return
	}
	s.seen = version
	wanted := make([]followed, len(s.listings))
	books := make([]bool, len(s.listings))
	days := false
	topics := s.hub.Topics()
	s.heard = len(topics) > 0
	for _, t := range topics {
		f := &wanted[t.Market]
		switch t.Channel {
		case ws.Ticker:
			f.ticker = true
		case ws.Ticker24h:
			f.day, days = true, true
		case ws.Candles:
			f.candles = append(f.candles, t.Interval)
		case ws.Trades:
			f.trades = true
		case ws.Book:
			books[t.Market] = true
		case ws.Account:
			f.accounts = append(f.accounts, t.Account)
		}
	}
	for _, l := range s.listings[1:] {
		f := &wanted[l.ID]
		f.moved, f.shown, f.copied = l.stream.moved, l.stream.shown, l.stream.copied
		if f.ticker && !l.stream.ticker {
			f.shown = s.topOf(l)
		}
		l.stream = *f
		s.copyBook(l, books[l.ID])
	}
	s.days.follow(days, now)
	s.pump.nudge()
}

// topOf is best bid, best ask and last price of a market.
func (s *streams) topOf(l *listing) (t topOfBook) {
	if l.Status == market.Trading {
		t.bid, t.ask = s.venue.Best(l.ID)
	}
	if last := l.tape.last(); last != nil {
		t.last = last.price
	}
	return t
}

// showTops tells of each change of the best bid, the best ask or the last price: only what has
// changed (websocket-facts 5). A market that is not trading is silent.
func (s *streams) showTops() {
	if !s.heard {
		return
	}
	for _, l := range s.listings[1:] {
		if !l.stream.moved {
			continue
		}
		l.stream.moved = false
		if !l.stream.ticker || l.Status != market.Trading {
			continue
		}
		now := s.topOf(l)
		w := l.telling("ticker")
		bare := len(w.Dst)
		if now.bid != l.stream.shown.bid && now.bid.Price != 0 {
			writeSide(w, l.Market, "bestBid", "bestBidSize", now.bid)
		}
		if now.ask != l.stream.shown.ask && now.ask.Price != 0 {
			writeSide(w, l.Market, "bestAsk", "bestAskSize", now.ask)
		}
		if now.last != l.stream.shown.last {
			w.Fixed("lastPrice", int64(now.last), l.PriceDigits)
		}
		l.stream.shown = now
		if len(w.Dst) > bare {
			w.Close('}')
			s.tell(ws.Topic{Channel: ws.Ticker, Market: l.ID}, w)
		}
	}
}

// tellTrade tells of a public trade, and of the candles that it belongs to.
func (s *streams) tellTrade(l *listing, t *publicTrade) {
	if l.stream.moved = true; l.stream.trades {
		w := &wire.Writer{Dst: make([]byte, 0, 256)}
		w.Open('{')
		w.Text("event", "trade")
		w.Integer("timestamp", t.at.Millis())
		w.Integer("timestampNs", int64(t.at))
		w.Text("market", l.Name)
		w.ID("id", t.id)
		w.Fixed("amount", int64(t.amount), l.AmountDigits)
		w.Fixed("price", int64(t.price), l.PriceDigits)
		w.Text("side", t.side.String())
		w.Close('}')
		s.tell(ws.Topic{Channel: ws.Trades, Market: l.ID}, w)
	}
	for _, interval := range l.stream.candles {
		latest, _, _ := l.candles.latest(interval)
		w := l.telling("candle")
		w.Text("interval", interval.String())
		w.Key("candle")
		w.Dst = append(w.Dst, '[')
		writeBar(w, l.Market, &latest)
		w.Close(']')
		w.Close('}')
		s.tell(ws.Topic{Channel: ws.Candles, Market: l.ID, Interval: interval}, w)
	}
}

// tellAccount tells an account of a report on one of its orders, and of the fills that led to it.
func (s *streams) tellAccount(l *listing, r *record, o *market.Order, ev *market.Event, entered bool) {
	place := int(r.account) + 1
	if !slices.Contains(l.stream.accounts, place) || ev.Report.Exec == market.ExecRejected {
		return
	}
	topic := ws.Topic{Channel: ws.Account, Market: l.ID, Account: place}
	if entered && ev.Report.Exec != market.ExecNew { // the venue reports what it came to at once
		s.tellOrder(topic, fresh(o), market.ExecNew)
	}
	for i := range ev.Fills {
		f := ev.Fills[i]
		f.Settled = s.settles(&f) <= f.Time
		w := &wire.Writer{Dst: exchange.AppendFillEvent(make([]byte, 0, 512), s.catalog, o, &f)}
		s.tell(topic, w)
	}
	shown := *o
	shown.Visible = rests(o)
	s.tellOrder(topic, shown, ev.Report.Exec)
}

// tellOrder tells of a change of an order.
func (s *streams) tellOrder(topic ws.Topic, o market.Order, exec market.ExecutionType) {
	s.tell(topic, &wire.Writer{Dst: exchange.AppendOrderEvent(make([]byte, 0, 1024), s.catalog, &o, exec)})
}

// fresh is an order as it was before its first fill. Its hold is that of now.
func fresh(o *market.Order) market.Order {
	entered := *o
	entered.Status, entered.Visible, entered.RestatementReason = market.StatusNew, false, 0
	entered.FilledAmount, entered.FilledAmountQuote = 0, market.Value{}
	entered.AmountRemaining, entered.AmountQuoteRemaining = o.Amount, o.AmountQuote
	return entered
}

// dayTickers tells of the last 24 hours, once a second while a socket follows them.
type dayTickers struct {
	ex   *Exchange
	next market.Time
}

func (d *dayTickers) due() market.Time { return d.next }

// follow begins or ends the events.
func (d *dayTickers) follow(wanted bool, now market.Time) {
	if d.ex == nil || !wanted {
		d.next = never
	} else if d.next == never {
		d.next = now.Add(time.Second)
	}
}

// run tells of all markets that are followed. Each connection gets those of its own in one event.
func (d *dayTickers) run(at market.Time) {
	d.next = at.Add(time.Second)
	for _, l := range d.ex.listings[1:] {
		if l.stream.day && l.Status == market.Trading {
			w := &wire.Writer{}
			d.ex.writeTicker24h(w, l, at)
			d.ex.streams.tell(ws.Topic{Channel: ws.Ticker24h, Market: l.ID}, w)
		}
	}
}

package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// told is the account as the bot has been told of it: the fills and prices in the answers that it
// got, over all its lives, and nothing that it made of them. What follows from that for the limits
// on the equity the bot could know. Its traffic's lock guards it.
type told struct {
	fills    map[string]toldFill // by id
	cash     float64             // that the fills have brought
	base     float64
	offered  float64 // what the last prices say; the bot hears them with the quotes that it asks for next
	prices   []toldPrice
	trades   bool // this life has armed its timers, the last that a start does: what it hears it takes in at once
	day      int64
	dayStart float64
	high     float64
	latest   float64   // equity
	lost     time.Time // since when the day's loss is beyond its limit; zero: it is not
	drawn    time.Time // since when the drawdown was
	afterwards
}

func newTold() told { return told{fills: map[string]toldFill{}} }

// afterwards counts what left the bot when a limit on the equity had been reached.
type afterwards struct {
	reduced int // orders that open nothing, which were sent all the same
	days    int // that have ended
	renewed int // opening orders since
}

type toldPrice struct {
	at    time.Time
	price float64
}

// toldFill is a fill as an answer tells it.
type toldFill struct {
	ID      string `json:"id"`
	Side    string `json:"side"`
	Amount  string `json:"amount"`
	Price   string `json:"price"`
	Fee     string `json:"fee"`
	Settled bool   `json:"settled"`
}

const (
	// beyond is how far a limit on the equity has to be passed until the bot is held to know it:
	// cents are rounded in many places, and what a bot hears in the moment of its death it has not
	// written down.
	beyond = 1.05
	// lastWords is that moment.
	lastWords = 100 * time.Millisecond
)

func number(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64)
	return n
}

// hearAnswer takes in an answer that the bot has got. One that is broken in the middle tells it
// nothing.
func (t *traffic) hearAnswer(r *http.Request, answer *http.Response) {
	body, served := answer.Body.(*served)
	if !served || body.broken || answer.StatusCode != http.StatusOK || t.gauge.money == 0 {
		return
	}
	text, _ := io.ReadAll(body.Reader)
	body.Reader = bytes.NewReader(text)
	day := t.gauge.auditor.Now().Day() // on the exchange's clock
	t.mu.Lock()
	defer t.mu.Unlock()
	switch path := strings.TrimPrefix(r.URL.Path, "/v2/"); {
	case path == "ticker/price":
		t.offered = pricedAt(text)
	case path == "ticker/book" && t.offered != 0:
		t.hearPrice(t.offered)
		t.offered = 0
	case strings.HasSuffix(path, "/candles"):
		t.hearCloses(text)
	case path == "order":
		t.hearOrder(text)
	case path == "trades":
		var fills []toldFill
		_ = json.Unmarshal(text, &fills)
		for _, f := range fills {
			t.hearFill(f)
		}
	case path == "cancelOrdersAfter":
		t.trades = true
		return
	default:
		return
	}
	t.reckon(day)
}

// hearOrder takes the fills of an order: of a query too, while the answer to its place is on its
// way.
func (t *told) hearOrder(text []byte) {
	var order struct {
		Side  string     `json:"side"`
		Fills []toldFill `json:"fills"`
	}
	_ = json.Unmarshal(text, &order)
	for _, f := range order.Fills {
		f.Side = order.Side
		t.hearFill(f)
	}
}

// pricedAt is the price in an answer of /ticker/price, of one market.
func pricedAt(text []byte) float64 {
	var list []struct {
		Price string `json:"price"`
	}
	if json.Unmarshal(text, &list) != nil || len(list) == 0 {
		return 0
	}
	return number(list[0].Price)
}

func (t *told) hearPrice(price float64) {
	t.prices = append(t.prices, toldPrice{time.Now(), price})
}

// hearCloses takes the closes of the latest candles: until the next ticker they are the latest
// prices that the bot was told.
func (t *told) hearCloses(text []byte) {
	var rows [][]json.RawMessage
	_ = json.Unmarshal(text, &rows)
	t.hearRows(rows)
}

func (t *told) hearRows(rows [][]json.RawMessage) {
	for _, row := range rows[:min(2, len(rows))] {
		if len(row) == 6 {
			last := t.last()
			t.hearPrice(number(strings.Trim(string(row[4]), `"`)))
			if last != 0 {
				t.hearPrice(last) // the equity is reckoned at tickers
			}
		}
	}
}

// hearFill counts a fill once, and its fee once it is settled.
func (t *told) hearFill(f toldFill) {
	known, again := t.fills[f.ID]
	fee := 0.0
	if f.Settled {
		fee = number(f.Fee)
	}
	switch amount := number(f.Amount); {
	case again && (known.Settled || !f.Settled):
		return
	case again:
		t.cash -= fee
	case f.Side == "buy":
		t.base += amount
		t.cash -= amount*number(f.Price) + fee
	default:
		t.base -= amount
		t.cash += amount*number(f.Price) - fee
	}
	t.fills[f.ID] = f
}

func (t *told) last() float64 {
	if len(t.prices) == 0 {
		return 0
	}
	return t.prices[len(t.prices)-1].price
}

// lowest is the lowest price that a decision could rest on which was made at a time or later.
func (t *told) lowest(from time.Time) float64 {
	lowest := math.Inf(1)
	for i := len(t.prices) - 1; i >= 0; i-- {
		lowest = min(lowest, t.prices[i].price)
		if t.prices[i].at.Before(from) {
			break
		}
	}
	return lowest
}

// reckon follows the equity, as docs/limits.md defines the limits on it: the day's loss counts
// from the last equity of the UTC day before, the drawdown from the highest equity ever, and it
// stays.
func (g *gauge) reckon(day int64) {
	t, price := &g.told, g.told.last()
	if price == 0 || !t.trades {
		return
	}
	equity := g.money + t.cash + t.base*price
	if t.day == 0 {
		t.dayStart, t.high = g.money, g.money
	} else if day != t.day {
		t.dayStart, t.lost = t.latest, time.Time{}
		t.days++
	}
	t.day, t.latest, t.high = day, equity, max(t.high, equity)
	if g.dailyLoss > 0 && t.dayStart-equity >= g.dailyLoss*beyond && t.lost.IsZero() {
		t.lost = time.Now()
	}
	if g.drawdown > 0 && t.high-equity >= g.drawdown*beyond*t.high && t.drawn.IsZero() {
		t.drawn = time.Now()
	}
}

// end ends a life of the bot, which may not have written down what it heard last.
func (t *told) end() {
	t.offered, t.trades = 0, false
	for _, since := range []*time.Time{&t.lost, &t.drawn} {
		if time.Since(*since) < lastWords {
			*since = time.Time{}
		}
	}
}

// opens reports whether a write can add to a position that would not grow without it.
func (p *passage) opens() bool {
	if p.method == http.MethodPost {
		return p.Side == "buy"
	}
	b := &p.before
	return p.method == http.MethodPut && b.buy && (p.Price != "" && number(p.Price) > b.price || p.Amount != "" &&
		number(p.Amount) > b.amount || p.Trigger != "" && number(p.Trigger) != b.trigger)
}

// heedEquity wants nothing opened when a limit on the equity was reached, as the bot could know it.
func (t *traffic) heedEquity(p *passage) {
	g := &t.gauge
	reached := func(since time.Time) bool { return !since.IsZero() && since.Before(p.left.Add(-underWay)) }
	lost, drawn := reached(g.lost) && p.day == g.day, reached(g.drawn)
	switch opens := p.opens(); {
	case opens && lost:
		t.t.Errorf("%s %+v opens, %s after the day's loss had come to %f", p.method, p.write, time.Since(g.lost),
			g.dayStart-g.latest)
	case opens && drawn:
		t.t.Errorf("%s %+v opens, %s after the drawdown had come to %f", p.method, p.write, time.Since(g.drawn),
			g.high-g.latest)
	case opens && g.days > 0:
		g.renewed++
	case !opens && (lost || drawn):
		g.reduced++
	}
}

// A query tells the bot of a fill before the answer to the place does, and a reply over a socket
// tells it nothing: the gauge counts each fill when the bot can know it.
func TestTheGaugeKnowsEachFillWhenTheBotDoes(t *testing.T) {
	w := &traffic{t: t, gauge: gauge{told: newTold()}}
	fill := []byte(`{"side":"buy","fills":[{"id":"1","amount":"0.01","price":"100","fee":"0.1","settled":true}]}`)
	w.hearOrder(fill)
	require.InDelta(t, 0.01, w.base, 1e-9, "a query")
	w.hearOrder(fill)
	require.InDelta(t, 0.01, w.base, 1e-9, "the answer to the place tells the same fill")
	w.hearMessage([]byte(`{"event":"fill","fillId":"2","side":"buy","amount":"0.01","price":"100","fee":"0.1"}`))
	require.InDelta(t, 0.01, w.base, 1e-9, "an event is no proof")
	w.hearOrder(bytes.ReplaceAll(fill, []byte(`"1"`), []byte(`"2"`)))
	require.InDelta(t, 0.02, w.base, 1e-9)
}

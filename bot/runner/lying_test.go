package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	dec "github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/market"
)

// An exchange that lies stands between the bot and the sandbox: it changes one field of an answer
// now and then. Many seeds:
//
//	go test ./bot/runner -run Lying -lies 2000 -timeout 4h
var lies = flag.Int("lies", 7, "how many seeds the lying exchange plays")

// falsifier is a transport that changes answers. Its lock guards it.
type falsifier struct {
	next http.RoundTripper

	mu     sync.Mutex
	chance *rand.Rand
	one    func(path string, answer any) any // a lie of a test's own; nil: by chance
	often  int                               // in a hundred answers
	quiet  bool                              // it tells the truth
	ids    []string                          // that it has told
	told   []string                          // the lies, for a person
}

// rateHeaders are the headers of the weight budget.
var rateHeaders = []string{"Service-Ratelimit-Limit", "Service-Ratelimit-Remaining", "Service-Ratelimit-Resetat"}

func (l *falsifier) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := l.next.RoundTrip(r)
	if err != nil || a.StatusCode != http.StatusOK {
		return a, err
	}
	l.changeHeader(r.Method+" "+r.URL.Path, a.Header)
	body, err := io.ReadAll(a.Body)
	if err != nil {
		a.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
		return a, nil
	}
	a.Body = io.NopCloser(bytes.NewReader(l.change(r.Method+" "+r.URL.Path, body)))
	a.Header.Del("Content-Length")
	a.ContentLength = -1
	return a, nil
}

// broken is a body that ends in an error.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// change changes an answer, or does not.
func (l *falsifier) change(path string, body []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var answer any
	if l.quiet || decoder.Decode(&answer) != nil {
		return body
	}
	switch {
	case l.one != nil:
		answer = l.one(path, answer)
	case l.chance.IntN(100) < l.often:
		answer = l.lie(path, answer)
	default:
		return body
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return body
	}
	return text
}

// message is change for a message on a socket. Its path is SOCKET and the name of its event or
// action.
func (l *falsifier) message(text []byte) []byte {
	var m struct{ Event, Action string }
	_ = json.Unmarshal(text, &m)
	return l.change("SOCKET "+m.Event+m.Action, text)
}

// changeHeader changes one of the headers of the weight budget, or does not.
func (l *falsifier) changeHeader(path string, h http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quiet || l.one != nil || l.chance.IntN(100) >= l.often {
		return
	}
	name := rateHeaders[l.chance.IntN(len(rateHeaders))]
	n, err := dec.NewFromString(h.Get(name))
	if err != nil {
		return
	}
	kind := kinds[l.chance.IntN(len(kinds))]
	if kind == "missing" {
		h.Del(name)
	} else {
		h.Set(name, l.number(kind, n).Truncate(0).String())
	}
	l.told = append(l.told, path+" "+name+" "+kind)
}

// kinds are those of lies.
var kinds = []string{"bigger", "smaller", "zero", "negative", "other currency", "other order", "repeated", "missing",
	"past", "absurd"}

// leaf is a field of an answer, or an element of a list.
type leaf struct {
	name string
	get  any
	set  func(v any)
	drop func()
}

// places are all fields of an answer.
func places(name string, v any, set func(any)) (all []leaf) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(func(yield func(string) bool) {
			for key := range v {
				if !yield(key) {
					return
				}
			}
		}) {
			at := func(n any) { v[key] = n }
			all = append(all, leaf{name + "." + key, v[key], at, func() { delete(v, key) }})
			all = append(all, places(name+"."+key, v[key], at)...)
		}
	case []any:
		for i := range v {
			all = append(all, places(fmt.Sprintf("%s[%d]", name, i), v[i], func(n any) { v[i] = n })...)
		}
		if len(v) > 0 {
			all = append(all, leaf{name + "[]", v, set, func() { set(v[:len(v)-1]) }})
		}
	}
	return all
}

// lie changes one field.
func (l *falsifier) lie(path string, answer any) any {
	all := places("", answer, func(n any) { answer = n })
	if len(all) == 0 {
		return answer
	}
	p := &all[l.chance.IntN(len(all))]
	kind := kinds[l.chance.IntN(len(kinds))]
	l.told = append(l.told, path+" "+p.name+" "+kind)
	if kind == "missing" {
		p.drop()
		return answer
	}
	p.set(l.other(kind, p.get))
	return answer
}

// other is what a lie makes of a value.
func (l *falsifier) other(kind string, v any) any {
	switch v := v.(type) {
	case string:
		if n, err := dec.NewFromString(v); err == nil {
			return l.number(kind, n).String()
		}
		return l.word(kind, v)
	case json.Number:
		n, _ := dec.NewFromString(v.String())
		if kind == "past" {
			n = n.Mul(dec.NewFromFloat(0.98))
			return json.Number(n.Truncate(0).String())
		}
		return json.Number(l.number(kind, n).Truncate(0).String())
	case bool:
		return !v
	case []any:
		if len(v) > 0 && kind != "zero" {
			return append(slices.Clone(v), v[len(v)-1])
		}
		return []any{}
	}
	return v
}

func (l *falsifier) number(kind string, n dec.Decimal) dec.Decimal {
	switch kind {
	case "bigger":
		return n.Mul(dec.New(10, 0))
	case "smaller":
		return n.Div(dec.New(10, 0)).Truncate(2)
	case "zero":
		return dec.Decimal{}
	case "negative":
		return n.Neg()
	case "absurd":
		return dec.New(92233720368547758, 0)
	}
	return n.Add(dec.New(1, 0))
}

func (l *falsifier) word(kind, v string) string {
	words := [][]string{{"EUR", "BTC", "XYZ"}, {"buy", "sell"},
		{"new", "partiallyFilled", "filled", "canceled", "expired", "awaitingTrigger", "lost"}, {"limit", "market",
			"stopLoss"}, {"GTC", "IOC"}}
	for _, list := range words {
		if slices.Contains(list, v) {
			return list[l.chance.IntN(len(list))]
		}
	}
	if len(v) == 36 {
		l.ids = append(l.ids, v)
		if kind == "other order" {
			return l.ids[l.chance.IntN(len(l.ids))]
		}
		return "00000000-1111-4222-8333-" + v[24:]
	}
	return ""
}

// hush lets the exchange tell the truth from now on.
func (l *falsifier) hush() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet = true
	return l.told
}

// lying is a stage whose exchange lies.
func lying(t *testing.T, seed uint64, often int) (*stage, *falsifier) {
	s := newStage(t, seed, nil)
	was := &s.traffic.gauge // what the bot was told is not what is: only what the account has is looked at
	s.traffic.gauge = gauge{auditor: was.auditor, market: was.market, before: was.before, exits: map[string]bool{},
		told: newTold()}
	l := &falsifier{chance: rand.New(rand.NewPCG(seed, 21)), often: often, quiet: true}
	s.wrap = func(next http.RoundTripper) http.RoundTripper {
		l.next = next
		return l
	}
	s.traffic.sockets.lie = l.message
	return s, l
}

// speak lets the exchange lie from now on.
func (l *falsifier) speak() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet = false
}

// tell lets the exchange tell one lie again and again from now on.
func (l *falsifier) tell(one func(path string, answer any) any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.one, l.quiet = one, false
}

func TestAnExchangeThatIsLyingMovesNoMoney(t *testing.T) {
	for seed := range uint64(*lies) {
		if testing.Short() && seed%4 != 2 {
			continue
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, l := lying(t, seed, 4+8*int(seed%2))
				if seed%7 == 6 {
					s.hears = overOrders
				}
				s.config = strings.Replace(s.config, "[poll]\n", "[poll]\nrules = \"30s\"\n", 1)
				p := s.start()
				time.Sleep(2 * time.Minute)
				l.speak()
				for turn := range 20 {
					time.Sleep(30 * time.Second)
					if turn == 10 && seed%3 == 2 { // it is killed, and starts among lies
						p.kill()
						p.bury()
						p = s.start()
						s.trading(p)
					}
					s.robbed(p)
					s.bounded(p, l)
				}
				told := l.hush()
				var breaches []live.Breach
				p.look(func() { breaches = slices.Clone(p.loop.Breaches()) })
				t.Logf("%d lies, breaches: %+v", len(told), breaches)
				time.Sleep(2 * time.Minute)
				s.robbed(p)
				began := time.Now()
				failed := p.end()
				require.Less(t, time.Since(began), 25*time.Minute, "stop_within")
				s.left(failed, told)
			})
		})
	}
}

// trading waits until a bot that has started among lies is reconciled with the exchange.
func (s *stage) trading(p *process) {
	for range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		err := p.loop.Inspect(ctx, func(market.Time) {})
		cancel()
		if err == nil {
			return
		}
	}
	require.Fail(s.T, "it never trades")
}

// robbed wants the loop to answer at once, and the account never to have spent more than the
// strategies have, nor sold anything else.
func (s *stage) robbed(p *process) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	require.NoError(s.T, p.loop.Inspect(ctx, func(market.Time) { require.NoError(s.T, p.account.Check()) }))
	now, m := s.Holdings(), s.Market()
	require.GreaterOrEqual(s.T, now[m.Base], s.Before[m.Base], "other money of the account was sold")
	require.GreaterOrEqual(s.T, now[m.Quote], s.Before[m.Quote]-10_000_00, "more was spent than the strategies have")
}

// bounded wants what the account really has to be within the limits of the config. A false end
// hides an order until two lists have shown it open, or until the balances show that it has filled:
// so long, and until it has been queried and cancelled, a limit may be exceeded. A position stays,
// once the books have it: the gate refuses more then. Lists and balances are rarer while a socket
// tells of own orders.
func (s *stage) bounded(p *process, l *falsifier) {
	// two periods of poll.orders, then the query, which may be lied to, and the cancel
	lists := 20 * time.Second
	if s.hears != overPolls {
		lists = 5 * time.Minute
	}
	hidden := 2*lists + 20*time.Second
	problem, booked := "", market.Qty(0)
	for began := time.Now(); time.Since(began) <= hidden; time.Sleep(time.Second) {
		if problem = s.exceeds(); problem == "" {
			return
		}
		p.look(func() { booked = p.account.Position(1, 1).Amount })
		if have := s.traffic.look(); have.open <= stageLimits.open && have.reach == float64(booked)/1e8 {
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	require.Empty(s.T, problem, "booked %d\n%s", booked, strings.Join(l.told, "\n"))
}

// exceeds says which limit is exceeded by what the account has.
func (s *stage) exceeds() string {
	have := s.traffic.look()
	s.traffic.mu.Lock()
	price := s.traffic.price
	s.traffic.mu.Unlock()
	switch limits := &stageLimits; {
	case have.open > limits.open:
		return fmt.Sprintf("max_open_orders: %d", have.open)
	case have.reach*price > limits.position*drift:
		return fmt.Sprintf("max_position: %f BTC at %f", have.reach, price)
	case have.base*price+have.hold > limits.exposure*drift:
		return fmt.Sprintf("max_exposure: %f BTC at %f and %f on hold", have.base, price, have.hold)
	}
	return ""
}

// left wants the file to be right, and no order left that a stop has not named.
func (s *stage) left(failed error, told []string) {
	store := s.Stored()
	report, err := store.Check()
	require.NoError(s.T, err)
	require.Empty(s.T, report.Flaws, strings.Join(told, "\n"))
	for _, r := range s.OpenAtTheExchange() {
		require.ErrorContains(s.T, failed, r.Order.ClientOrderID.String(), "an open order that the stop did not name")
	}
}

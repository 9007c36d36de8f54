package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	dec "github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// eachOrder lets tell change every record of an order in the answers to writes and queries of one
// order, and in the events of a socket.
func eachOrder(tell func(o map[string]any)) func(path string, answer any) any {
	return func(path string, answer any) any {
		o, is := answer.(map[string]any)
		if response, has := o["response"].(map[string]any); has { // to an action
			o = response
		}
		if is && (strings.HasSuffix(path, " /v2/order") || strings.HasPrefix(path, "SOCKET ")) && o["status"] != nil {
			tell(o)
		}
		return answer
	}
}

// fills lets tell change every fill of those records, and of the events of a socket.
func fills(tell func(f map[string]any)) func(path string, answer any) any {
	inOrders := eachOrder(func(o map[string]any) {
		list, _ := o["fills"].([]any)
		for i := range list {
			tell(list[i].(map[string]any))
		}
	})
	return func(path string, answer any) any {
		if path == "SOCKET fill" {
			f := answer.(map[string]any)
			f["id"] = f["fillId"]
			tell(f)
			f["fillId"] = f["id"]
			delete(f, "id")
		}
		return inOrders(path, answer)
	}
}

// Each of these answers was once booked, stopped the loop or ended the bot.
func TestAnswersThatCannotBeTrueAreNotBooked(t *testing.T) {
	bottest.Unraced(t)
	times := 0
	for name, c := range map[string]struct {
		rule string
		lie  func(path string, answer any) any
	}{
		"a fill of 0.5 BTC": {"filledAmount", fills(func(f map[string]any) { f["amount"] = "0.5" })},
		"price 0":           {"fill price", fills(func(f map[string]any) { f["price"] = "0" })},
		"ten times the price": {"fill price",
			fills(func(f map[string]any) { f["price"] = f["price"].(string) + "0" })},
		"a tenth of the price": {"fill price",
			fills(func(f map[string]any) { f["price"] = f["price"].(string)[:4] })},
		"a fee of a million":        {"fill fee", fills(func(f map[string]any) { f["fee"] = "1000000" })},
		"a rebate of a million":     {"fill fee", fills(func(f map[string]any) { f["fee"] = "-1000000" })},
		"a fee in another currency": {"fill feeCurrency", fills(func(f map[string]any) { f["feeCurrency"] = "BTC" })},
		"one fill id in all orders": {"fill id",
			fills(func(f map[string]any) { f["id"] = "00000000-0000-4000-8000-000000000001" })},
		"a hold of 2^63-1": {"onHold", eachOrder(func(o map[string]any) {
			o["onHold"] = map[any]string{"EUR": "92233720368547758.07",
				"BTC": "92233720368.54775807"}[o["onHoldCurrency"]]
		})},
		"another order's orderId": {"orderId",
			eachOrder(func(o map[string]any) { o["orderId"] = "00000000-0000-4000-8000-000000000002" })},
		"an amount of ten times more": {"amount", eachOrder(func(o map[string]any) { o["amount"] = "0.1" })},
		"the other side": {"side", eachOrder(func(o map[string]any) {
			o["side"] = map[any]string{"buy": "sell", "sell": "buy"}[o["side"]]
		})},
		"a new id at every question": {"filledAmount", eachOrder(func(o map[string]any) {
			list, _ := o["fills"].([]any)
			for i := range list {
				times++
				f := list[i].(map[string]any)
				f["id"], f["settled"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", times), false
				delete(f, "fee")
				delete(f, "feeCurrency")
			}
			o["feePaid"] = "0"
		})},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := lying(t, 3, 0)
				p := s.start()
				time.Sleep(20 * time.Second)
				l.tell(c.lie)
				var rules []string
				for range 40 {
					time.Sleep(10 * time.Second)
					s.robbed(p)
					if rules = s.rules(p); strings.Contains(strings.Join(rules, ","), c.rule) {
						break
					}
				}
				require.Contains(t, rules, c.rule)
				l.hush()
				time.Sleep(2 * time.Minute)
				s.left(p.end(), nil)
			})
		})
	}
}

// rules are those that answers have broken.
func (s *stage) rules(p *process) (rules []string) {
	var breaches []live.Breach
	p.look(func() { breaches = append(breaches, p.loop.Breaches()...) })
	for i := range breaches {
		rules = append(rules, breaches[i].Rule)
	}
	return rules
}

// An order can be filled in so many parts. They are booked in pages, and the loop answers
// meanwhile.
func TestTwentyThousandFillsInAnAnswerDoNotStopTheLoop(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s, l := lying(t, 3, 0)
		p := s.start()
		time.Sleep(20 * time.Second)
		parts, many := 0, 20_000
		l.tell(fillsOnce(&parts, many))
		for range 40 {
			time.Sleep(10 * time.Second)
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			require.NoError(t, p.loop.Inspect(ctx, func(market.Time) {}))
			cancel()
			s.robbed(p)
		}
		require.Equal(t, many, parts)
		require.Empty(t, s.rules(p))
		require.NoError(t, p.end())
		s.left(nil, nil)
	})
}

// fillsOnce splits the first fill of 0.01 BTC into many with their parts of the fee.
func fillsOnce(parts *int, many int) func(path string, answer any) any {
	return eachOrder(func(o map[string]any) {
		list, _ := o["fills"].([]any)
		if len(list) != 1 || *parts > 0 || o["status"] != "filled" || list[0].(map[string]any)["amount"] != "0.01" ||
			list[0].(map[string]any)["settled"] != true {
			return
		}
		first := list[0].(map[string]any)
		var split []any
		fee := must(dec.NewFromString(first["fee"].(string)))
		amount := dec.New(1, -2).Div(dec.NewFromInt(int64(many))).String()
		part := fee.Div(dec.NewFromInt(int64(many))).Truncate(10)
		for i := range many {
			f := map[string]any{}
			for key, value := range first {
				f[key] = value
			}
			f["id"], f["amount"] = fmt.Sprintf("00000000-0000-4000-9000-%012d", i), amount
			f["fee"] = part.String()
			if i == 0 { // the market's trades have it
				f["id"], f["fee"] = first["id"], fee.Sub(part.Mul(dec.NewFromInt(int64(many-1)))).String()
			}
			split = append(split, f)
		}
		*parts = len(split)
		o["fills"] = split
	})
}

func TestAPersonResolvesAnOrderWhoseAnswersCannotBeTrue(t *testing.T) {
	for _, as := range []string{operator.AsExchange, operator.AsAbsent} {
		t.Run(as, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := lying(t, 3, 0)
				p := s.start()
				time.Sleep(20 * time.Second)
				l.tell(fills(func(f map[string]any) { f["fee"] = "5.5" }))
				var order market.OrderID
				for range 60 {
					time.Sleep(5 * time.Second)
					p.look(func() {
						for _, b := range p.loop.Breaches() {
							if p.account.Known(b.Order) != nil {
								order = b.Order
							}
						}
					})
					if order != 0 {
						break
					}
				}
				require.NotZero(t, order)
				c := &control{r: p.runner, ctx: t.Context()}
				ask := &operator.Request{Order: fmt.Sprint(order), As: as, WaitMS: 60_000}
				report, err := c.resolve(t.Context(), ask)
				require.NoError(t, err)
				require.True(t, report.Done)
				time.Sleep(5 * time.Second)
				p.look(func() { require.Nil(t, p.account.Own(order)) })
				story, err := json.Marshal(must(operator.StoryOf(p.store, fmt.Sprint(order))))
				require.NoError(t, err)
				require.Contains(t, string(story), "resolved by the operator")
				l.hush()
				_ = p.end()
			})
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

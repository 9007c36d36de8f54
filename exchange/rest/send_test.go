package rest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

func TestPlacedOrderComesBackInOurUnits(t *testing.T) {
	r := newRig(t, nil)
	command := r.limit(market.Buy, "0.5", "29000.5")
	command.Order.PostOnly, command.Order.CodGroupID = true, 9
	answer := r.send(command)
	o, want := answer.Order, command.Order
	require.Equal(t, market.StatusNew, o.Status)
	require.NotEqual(t, uuid.Nil, o.ExchangeID)
	require.Equal(t, r.Now(), o.Created)
	want.ExchangeID, want.Status, want.Created, want.Updated = o.ExchangeID, o.Status, o.Created, o.Updated
	want.AmountRemaining, want.Visible, want.OnHold, want.OnHoldCurrency, want.FeeCurrency = want.Amount, true,
		o.OnHold, r.btc.Quote, r.btc.Quote
	require.Equal(t, want, o)
	require.Equal(t, market.Money(14536_51), o.OnHold)
	require.Empty(t, answer.Fills)
	require.Equal(t, `{"market":"BTC-EUR","side":"buy","orderType":"limit","operatorId":77,"clientOrderId":"`+o.ClientOrderID.String()+`","amount":"0.5","price":"29000.5",`+
		`"timeInForce":"GTC","postOnly":true,"selfTradePrevention":"cancelNewest","codGroupId":9,"responseRequired":true}`, r.wire.bodies[0])
}

func TestFillsComeWithTheAnswer(t *testing.T) {
	r := newRig(t, nil)
	r.bob().send(r.limit(market.Sell, "0.2", "30000"))
	answer := r.send(r.limit(market.Buy, "0.5", "30000"))
	require.Equal(t, market.StatusPartiallyFilled, answer.Order.Status)
	require.Len(t, answer.Fills, 1)
	f := answer.Fills[0]
	require.Equal(t, answer.Order.ID, f.Order)
	require.Equal(t, r.qty("0.2"), f.Amount)
	require.True(t, f.Taker && f.Settled)
	require.Equal(t, "15", r.btc.FormatValue(f.Fee))
}

func TestUpdateSendsWhatLeavingOutWouldReset(t *testing.T) {
	r := newRig(t, nil)
	command := r.limit(market.Buy, "0.5", "29000")
	command.Order.PostOnly = true
	placed := r.send(command).Order
	update := &market.Command{Kind: market.CommandUpdate, Changed: market.ChangePrice, Order: placed}
	update.Order.Price = r.price("29500")
	changed := r.send(update).Order
	require.Equal(t, r.price("29500"), changed.Price)
	require.True(t, changed.PostOnly)
	require.Equal(t, market.CancelNewest, changed.SelfTradePrevention)
	require.Equal(t, placed.ID, changed.ID)
	require.Equal(t, `{"market":"BTC-EUR","clientOrderId":"`+placed.ClientOrderID.String()+`","operatorId":77,"price":"29500","selfTradePrevention":"cancelNewest","postOnly":true,"responseRequired":true}`, r.wire.bodies[1])
}

func TestUpdatedRemainderGoesOutAsAmount(t *testing.T) {
	r := newRig(t, nil)
	r.bob().send(r.limit(market.Sell, "0.2", "30000"))
	placed := r.send(r.limit(market.Buy, "0.5", "30000")).Order
	update := &market.Command{Kind: market.CommandUpdate, Changed: market.ChangeAmountRemaining, Order: placed}
	update.Order.AmountRemaining = r.qty("0.1")
	answer := r.send(update)
	require.Equal(t, r.qty("0.3"), answer.Order.Amount)
	require.Equal(t, r.qty("0.1"), answer.Order.AmountRemaining)
	require.Empty(t, answer.Fills, "those of the request alone")
	require.NotContains(t, r.wire.bodies[2], "amountRemaining")
	require.Contains(t, r.wire.bodies[2], `"amount":"0.3"`)
}

func TestTimeInForceIsSentOnlyBeforeTheTrigger(t *testing.T) {
	r := newRig(t, nil)
	command := r.limit(market.Sell, "0.5", "25000")
	command.Order.Type, command.Order.TriggerAmount = market.TypeStopLossLimit, r.price("26000")
	placed := r.send(command).Order
	require.Equal(t, market.StatusAwaitingTrigger, placed.Status)
	require.Equal(t, Protective, laneOf(r.intent(command)))
	require.Contains(t, r.wire.bodies[0],
		`"triggerAmount":"26000","triggerType":"price","triggerReference":"lastTrade"`)
	update := &market.Command{Kind: market.CommandUpdate,
		Changed: market.ChangeTriggerAmount | market.ChangeTimeInForce, Order: placed}
	update.Order.TriggerAmount, update.Order.TimeInForce = r.price("26500"), market.IOC
	changed := r.send(update).Order
	require.Equal(t, r.price("26500"), changed.TriggerAmount)
	require.Equal(t, market.IOC, changed.TimeInForce)
	update.Order.Triggered = true
	require.NotContains(t, string(r.intent(update).Body), "timeInForce")
}

// A target, a change of an exit's amount and the sale of a Close go before other orders, as a stop
// does: an exit that is placed again waits behind none of them.
func TestEveryWriteOfAnExitGoesBeforeOtherOrders(t *testing.T) {
	r := newRig(t, nil)
	target := r.limit(market.Sell, "0.5", "35000")
	sale := *target
	sale.Order.Type, sale.Order.Price = market.TypeMarket, 0
	smaller := &market.Command{Kind: market.CommandUpdate, Changed: market.ChangeAmount, Order: target.Order}
	bought := r.limit(market.Buy, "0.5", "20000") // of a rebalance: it protects nothing
	for _, c := range []*market.Command{target, &sale, smaller, bought} {
		require.Equal(t, Order, laneOf(r.intent(c)))
		c.Attached = true
	}
	for _, c := range []*market.Command{target, &sale, smaller} {
		require.Equal(t, Protective, laneOf(r.intent(c)))
	}
	require.Equal(t, Order, laneOf(r.intent(bought)))
	cancel := &market.Command{Kind: market.CommandCancel, Order: target.Order, Attached: true}
	require.Equal(t, Cancel, laneOf(r.intent(cancel)))
}

func TestCancelNamesTheOrderOnce(t *testing.T) {
	r := newRig(t, nil)
	placed := r.send(r.limit(market.Buy, "0.5", "29000")).Order
	intent := r.intent(&market.Command{Kind: market.CommandCancel, Order: placed})
	require.Equal(t, "/v2/order?market=BTC-EUR&clientOrderId="+placed.ClientOrderID.String()+"&operatorId=77",
		intent.Path)
	require.Equal(t, "DELETE", intent.Method)
	require.Nil(t, intent.Body)
	require.Equal(t, Cancel, laneOf(intent))
	answer, err := r.Send(t.Context(), intent)
	require.NoError(t, err)
	require.Equal(t, placed.ExchangeID, answer.Order.ExchangeID)
	require.Equal(t, placed.ID, answer.Order.ID)

	foreign := r.bob().limit(market.Buy, "0.5", "29000")
	foreign.Order.ClientOrderID, foreign.Order.ExchangeID = uuid.Nil, uuid.UUID{3}
	foreign.Kind = market.CommandCancel
	require.Contains(t, r.intent(foreign).Path, "&orderId=03000000-")
}

func TestIntentIsAllThatIsSentButTheSignature(t *testing.T) {
	r := newRig(t, nil)
	intent := r.intent(r.limit(market.Buy, "0.5", "29000"))
	require.Equal(t, rigStart.Millis(), intent.Timestamp)
	require.EqualValues(t, 10_000, intent.Window)
	require.Equal(t, Order, laneOf(intent))
	r.clock.Advance(time.Second)
	_, err := r.Send(t.Context(), intent)
	require.NoError(t, err)
	sent := r.wire.sent[0]
	require.Equal(t, intent.Method, sent.Method)
	require.Equal(t, intent.Path, sent.URL.RequestURI())
	require.Equal(t, string(intent.Body), r.wire.bodies[0])
	require.Equal(t, "1772452800000", sent.Header.Get("Service-Access-Timestamp"))
	require.Equal(t, "10000", sent.Header.Get("Service-Access-Window"))
}

func TestWhatCannotBeRightIsNotPrepared(t *testing.T) {
	r := newRig(t, nil)
	cases := []struct {
		want   string
		change func(*market.Command)
	}{
		{"operatorId", func(c *market.Command) { c.Order.OperatorID = 0 }},
		{"clientOrderId", func(c *market.Command) { c.Order.ClientOrderID = uuid.Nil }},
		{"market 99", func(c *market.Command) { c.Order.Market = 99 }},
		{"side", func(c *market.Command) { c.Order.Side = 0 }},
		{"orderType", func(c *market.Command) { c.Order.Type = 0 }},
		{"amountQuote", func(c *market.Command) { c.Order.AmountQuote = 5 }},
		{"amountQuote", func(c *market.Command) { c.Order.Amount = 0 }},
		{"kind", func(c *market.Command) { c.Kind = 0 }},
		{"changes nothing", func(c *market.Command) { c.Kind, c.Changed = market.CommandUpdate, market.ChangeExits }},
		{"selfTradePrevention", func(c *market.Command) {
			c.Kind, c.Changed, c.Order.SelfTradePrevention = market.CommandUpdate, market.ChangePrice, 0
		}},
		{"names it", func(c *market.Command) {
			c.Kind, c.Order.ClientOrderID, c.Order.ExchangeID = market.CommandCancel, uuid.Nil, uuid.Nil
		}},
	}
	for _, c := range cases {
		command := r.limit(market.Buy, "1", "29000")
		c.change(command)
		_, err := r.Prepare(command)
		require.ErrorContains(t, err, c.want)
	}
}

func TestRefusalsKeepTheExchangesCode(t *testing.T) {
	cases := []struct {
		name    string
		code    int
		command func(*rig) *market.Command
	}{
		{"off the tick", exchange.CodeTick,
			func(r *rig) *market.Command { return r.limit(market.Buy, "1", "29000.25") }},
		{"too small", exchange.CodeMinBase,
			func(r *rig) *market.Command { return r.limit(market.Buy, "0.00001", "29000") }},
		{"no balance", exchange.CodeInsufficientBalance,
			func(r *rig) *market.Command { return r.limit(market.Sell, "1000", "30000") }},
		{"no such order", exchange.CodeNotFound, func(r *rig) *market.Command {
			return &market.Command{Kind: market.CommandCancel, Order: r.limit(market.Buy, "1", "29000").Order}
		}},
		{"name in use", exchange.CodeDuplicateClientOrderID, func(r *rig) *market.Command {
			r.send(r.limit(market.Buy, "1", "29000"))
			r.next--
			return r.limit(market.Buy, "1", "29000")
		}},
	}
	for _, c := range cases {
		r := newRig(t, nil)
		intent := r.intent(c.command(r))
		sent := len(r.wire.sent)
		_, err := r.Send(t.Context(), intent)
		require.ErrorIs(t, err, exchange.ErrCode(c.code), c.name)
		require.Equal(t, exchange.Rejected, exchange.OutcomeOf(err), c.name)
		require.Len(t, r.wire.sent, sent+1, c.name)
	}
}

// loses are the ways in which an answer to a write fails to come; done says whether the exchange
// has carried it out all the same.
var loses = []struct {
	name string
	done bool
	wire func(*roundTripper)
}{
	{"request lost", false, func(w *roundTripper) {
		w.before = func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "write", Err: syscall.ECONNRESET}
		}
	}},
	{"answer lost", true, func(w *roundTripper) {
		w.after = func(*http.Request, *http.Response) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	}},
	{"connection reset while the answer is read", true, func(w *roundTripper) {
		w.after = func(_ *http.Request, a *http.Response) (*http.Response, error) {
			a.Body = io.NopCloser(io.MultiReader(io.LimitReader(a.Body, 100),
				failing{&net.OpError{Op: "read", Err: syscall.ECONNRESET}}))
			return a, nil
		}
	}},
	{"truncated 200", true, func(w *roundTripper) {
		w.after = func(_ *http.Request, a *http.Response) (*http.Response, error) {
			a.Body = io.NopCloser(io.LimitReader(a.Body, 40))
			return a, nil
		}
	}},
	{"empty 200", true, func(w *roundTripper) { w.after = replaced(200, "") }},
	{"page of a proxy with 200", true,
		func(w *roundTripper) { w.after = replaced(200, "<html>"+rigSecret+rigKey+"</html>") }},
	{"page of a proxy with 403", false, func(w *roundTripper) {
		w.before = func(*http.Request) (*http.Response, error) {
			return answered(403, "<html>"+rigKey+rigSecret+"</html>"), nil
		}
	}},
	{"redirect", false, func(w *roundTripper) {
		w.before = func(*http.Request) (*http.Response, error) {
			a := answered(302, "")
			a.Header.Set("Location", "https://elsewhere.test/v2/order")
			return a, nil
		}
	}},
	{"500 after the work", true,
		func(w *roundTripper) { w.after = replaced(500, `{"errorCode":101,"error":"Unknown error."}`) }},
	{"503 before the work", false, func(w *roundTripper) {
		w.before = func(*http.Request) (*http.Response, error) {
			return answered(503, `{"errorCode":107,"error":"overloaded"}`), nil
		}
	}},
	{"gateway's 502", true, func(w *roundTripper) { w.after = replaced(502, "Bad Gateway") }},
	{"answer of another order", true, func(w *roundTripper) {
		w.after = func(_ *http.Request, a *http.Response) (*http.Response, error) {
			body, err := io.ReadAll(a.Body)
			return answered(200, strings.Replace(string(body), `"clientOrderId":"`,
				`"clientOrderId":"00000000-0000-0000-0000-000000000000","was":"`, 1)), err
		}
	}},
	{"endless answer", true, func(w *roundTripper) {
		w.after = func(_ *http.Request, a *http.Response) (*http.Response, error) {
			a.Body = io.NopCloser(endless{})
			return a, nil
		}
	}},
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func replaced(status int, body string) func(*http.Request, *http.Response) (*http.Response, error) {
	return func(*http.Request, *http.Response) (*http.Response, error) { return answered(status, body), nil }
}

func TestUnknownOutcomesAreSentOnceAndToldAsUnknown(t *testing.T) {
	for _, c := range loses {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil)
			intent := r.intent(r.limit(market.Buy, "0.5", "29000"))
			c.wire(r.wire)
			_, err := r.Send(t.Context(), intent)
			require.Equal(t, exchange.Unknown, exchange.OutcomeOf(err), "%v", err)
			require.Len(t, r.wire.sent, 1)
			require.NotContains(t, err.Error(), rigSecret)
			require.NotContains(t, err.Error(), rigKey)
			r.wire.before, r.wire.after = nil, nil
			_, err = r.Order(t.Context(), r.btc.ID, intent.ClientOrderID, uuid.Nil)
			require.Equal(t, c.done, err == nil, "%v", err)
		})
	}
}

func TestLateIntentIsCertainlyNotSent(t *testing.T) {
	r := newRig(t, nil)
	intent := r.intent(r.limit(market.Buy, "0.5", "29000"))
	r.clock.Advance(8*time.Second - time.Millisecond) // a fifth of the window is kept
	_, err := r.Send(t.Context(), intent)
	require.NoError(t, err)
	intent = r.intent(r.limit(market.Buy, "0.5", "29000"))
	r.clock.Advance(8 * time.Second)
	_, err = r.Send(t.Context(), intent)
	require.ErrorIs(t, err, ErrLate)
	require.Equal(t, exchange.Rejected, exchange.OutcomeOf(err))
	require.Len(t, r.wire.sent, 1)
}

func TestWhatNeverHadAConnectionIsCertainlyNotSent(t *testing.T) {
	r := newRig(t, nil)
	intent := r.intent(r.limit(market.Buy, "0.5", "29000"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Send(ended, intent)
	require.Equal(t, exchange.Rejected, exchange.OutcomeOf(err))
	require.Empty(t, r.wire.sent)
	r.wire.before = func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	_, err = r.Send(t.Context(), intent)
	require.Equal(t, exchange.Rejected, exchange.OutcomeOf(err))
	require.ErrorIs(t, err, exchange.ErrNotSent)
}

func TestAnswerThatTakesTooLongIsUnknown(t *testing.T) {
	r := newRig(t, func(_ *sandbox.Config, c *Config) { c.Timeout = 20 * time.Millisecond })
	intent := r.intent(r.limit(market.Buy, "0.5", "29000"))
	r.wire.after = func(sent *http.Request, _ *http.Response) (*http.Response, error) {
		<-sent.Context().Done()
		return nil, sent.Context().Err()
	}
	_, err := r.Send(t.Context(), intent)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, exchange.Unknown, exchange.OutcomeOf(err))
}

func TestRefusedBudgetSendsNothing(t *testing.T) {
	spent := errors.New("no points left")
	r := newRig(t, nil)
	r.config.Budget = &purse{acquire: func(lane Lane, weight int, payer Payer) error {
		require.Equal(t, Order, lane)
		require.Equal(t, 1, weight)
		require.Equal(t, PaidByKey, payer)
		return spent
	}}
	_, err := r.Send(t.Context(), r.intent(r.limit(market.Buy, "0.5", "29000")))
	require.ErrorIs(t, err, spent)
	require.Equal(t, exchange.Rejected, exchange.OutcomeOf(err))
	require.Empty(t, r.wire.sent)
}

package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// scripted is a Socket that answers as it is told.
type scripted struct {
	closed   bool
	response string
	err      error
	reset    error
	acts     []string
}

func (s *scripted) Authenticated() bool { return !s.closed }

func (s *scripted) Reset(reason error) { s.reset = reason }

func (s *scripted) Act(ctx context.Context, action string, parameters []byte) ([]byte, error) {
	s.acts = append(s.acts, action+" "+string(parameters))
	if errors.Is(s.err, context.DeadlineExceeded) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return []byte(s.response), s.err
}

// refusal is the exchange's refusal on a socket.
func refusal(code int) error {
	return exchange.ParseRefusal(fmt.Appendf(nil, `{"errorCode":%d,"error":"no"}`, code))
}

func TestTheOutcomesOfASocketAreThoseOfHTTP(t *testing.T) {
	named := func(i *exchange.Intent) string {
		return fmt.Sprintf(`{"orderId":"00000000-0000-0001-0100-000000000001","clientOrderId":"%s","market":"BTC-EUR",`+
			`"status":"new","side":"buy","orderType":"limit","amount":"0.5","amountRemaining":"0.5","price":"29000"}`,
			i.ClientOrderID)
	}
	for _, c := range []struct {
		name   string
		socket scripted
		want   exchange.Outcome
		http   bool // it goes over HTTP instead
		reset  bool
	}{
		{"accepted", scripted{}, exchange.Accepted, false, false},
		{"closed", scripted{closed: true}, exchange.Accepted, true, false},
		{"nothing left", scripted{err: fmt.Errorf("gone: %w", exchange.ErrNotSent)}, exchange.Accepted, true, false},
		{"ended before the reply", scripted{err: errors.New("broken")}, exchange.Unknown, false, false},
		{"no reply", scripted{err: context.DeadlineExceeded}, exchange.Unknown, false, true},
		{"refused", scripted{err: refusal(216)}, exchange.Rejected, false, false},
		{"a ban", scripted{err: refusal(105)}, exchange.Rejected, false, false},
		{"too many messages", scripted{err: refusal(112)}, exchange.Rejected, false, false},
		{"not authenticated", scripted{err: refusal(300)}, exchange.Rejected, false, true},
		{"unknown result", scripted{err: refusal(101)}, exchange.Unknown, false, false},
		{"a code of no known status", scripted{err: refusal(999)}, exchange.Unknown, false, false},
		{"cut off", scripted{response: `{"orderId":`}, exchange.Unknown, false, false},
		{"another order", scripted{response: named(&exchange.Intent{})}, exchange.Unknown, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				intent, err := r.Over(&c.socket).Prepare(r.limit(market.Buy, "0.5", "29000"))
				require.NoError(t, err)
				require.EqualValues(t, 60_000, intent.Window, "a socket has no window: the longest one counts")
				if c.socket.response == "" {
					c.socket.response = named(&intent)
				}
				record, err := r.Over(&c.socket).Send(t.Context(), &intent)
				require.Equal(t, c.want, exchange.OutcomeOf(err), "%v", err)
				require.Equal(t, c.http, r.wire.count(http.MethodPost, "/order") == 1)
				require.Equal(t, c.reset, c.socket.reset != nil)
				if err == nil {
					require.Equal(t, intent.ClientOrderID, record.Order.ClientOrderID)
					require.Equal(t, intent.Order, record.Order.ID)
				}
				if c.http {
					require.Equal(t, "10000", r.wire.sent[0].Header.Get("Service-Access-Window"))
				}
				if !c.socket.closed {
					require.Equal(t, []string{"privateCreateOrder " + string(intent.Body)}, c.socket.acts)
				}
			})
		})
	}
}

func TestWhatIsLateLeavesOverNoSocket(t *testing.T) {
	r, s := newRig(t, nil), &scripted{}
	intent, err := r.Over(s).Prepare(r.limit(market.Buy, "0.5", "29000"))
	require.NoError(t, err)
	r.clock.Advance(9 * time.Second) // of the client's window of 10 s, less its margin
	_, err = r.Over(s).Send(t.Context(), &intent)
	require.ErrorIs(t, err, ErrLate)
	require.Equal(t, exchange.Rejected, exchange.OutcomeOf(err))
	require.Empty(t, s.acts)
}

func TestActionsHaveTheMembersOfTheirRequests(t *testing.T) {
	r, s := newRig(t, nil), &scripted{err: errors.New("broken")}
	placed := r.limit(market.Buy, "0.5", "29000")
	cancel := &market.Command{Kind: market.CommandCancel, Order: placed.Order}
	cancel.Order.OperatorID = -1 << 63
	intent := r.intent(cancel)
	_, err := r.Over(s).Send(t.Context(), intent)
	require.Error(t, err)
	want := `{"market":"BTC-EUR","clientOrderId":"` + placed.Order.ClientOrderID.String() +
		`","operatorId":-9223372036854775808}`
	require.Equal(t, []string{"privateCancelOrder " + want}, s.acts)
	require.True(t, json.Valid([]byte(want)))
	for at, action := range actions {
		require.Contains(t, commandsOfTest(), at, action)
	}
}

// commandsOfTest are the endpoints of all commands.
func commandsOfTest() (all []endpoint) {
	for _, at := range commands {
		all = append(all, at)
	}
	return all
}

func TestABudgetCountsTheAnswersOfASocket(t *testing.T) {
	now := rigStart
	l := NewWeightBudget(LedgerConfig{Now: func() market.Time { return now }, PerKey: 1000,
		After: func(market.Duration, func()) func() bool { return func() bool { return true } }})
	r := newRig(t, func(_ *sandbox.Config, c *Config) { c.Budget = l })
	over := r.Over(&scripted{err: refusal(216)})
	send := func() {
		_, err := over.Send(t.Context(), r.intent(r.limit(market.Buy, "0.5", "29000")))
		require.Error(t, err)
	}
	before, _ := l.Left(PaidByKey)
	send()
	left, _ := l.Left(PaidByKey)
	require.Equal(t, before-1, left)
	now = now.Add(61 * time.Second)
	left, _ = l.Left(PaidByKey)
	require.Equal(t, 1000, left, "the point was counted in its minute alone")
	over = r.Over(&scripted{err: refusal(105)})
	send()
	require.NotZero(t, l.BannedUntil(PaidByKey))
}

// What an answer over a socket tells is marked: it proves less than REST. A socket that was set
// aside carries nothing for a while.
func TestASocketThatWasSetAsideCarriesNothing(t *testing.T) {
	r, s := newRig(t, nil), &scripted{}
	over := r.Over(s)
	buy := func(bySocket bool) {
		intent, err := over.Prepare(r.limit(market.Buy, "0.5", "29000"))
		require.NoError(t, err)
		s.response = fmt.Sprintf(`{"orderId":"00000000-0000-0001-0100-000000000001","clientOrderId":"%s",`+
			`"market":"BTC-EUR","status":"new","side":"buy","orderType":"limit","amount":"0.5","amountRemaining":"0.5",`+
			`"price":"29000"}`, intent.ClientOrderID)
		record, err := over.Send(t.Context(), &intent)
		require.NoError(t, err)
		require.Equal(t, bySocket, record.BySocket)
		require.Equal(t, bySocket, intent.Window == 60_000, "only a socket has no window")
	}
	buy(true)
	over.SetAside(time.Minute)
	buy(false)
	r.clock.Advance(time.Minute - time.Millisecond)
	early, err := over.Prepare(r.limit(market.Buy, "0.5", "29000"))
	require.NoError(t, err)
	r.clock.Advance(time.Second)
	record, err := over.Send(t.Context(), &early)
	require.NoError(t, err)
	require.False(t, record.BySocket, "it has the window of HTTP")
	r.clock.Advance(10 * time.Second)
	buy(true)
	require.EqualValues(t, 2, over.BySocket())
}

// What ends orders without naming them has no reply that could be another's.
func TestTimersAndCancelsOfAllOrdersNeverLeaveOverASocket(t *testing.T) {
	r, s := newRig(t, nil), &scripted{}
	var over exchange.Trading = r.Over(s)
	require.NoError(t, over.CancelAfter(t.Context(), 3, time.Minute))
	_, err := r.Over(s).CancelOrders(t.Context(), nil, 7)
	require.NoError(t, err)
	require.Empty(t, s.acts)
}

// A signed window bounds what is about a sell: what became of a lost one is known in seconds.
func TestWhatIsAboutASellNeverLeavesOverASocket(t *testing.T) {
	r, s := newRig(t, nil), &scripted{err: errors.New("broken")}
	for _, side := range []market.Side{market.Buy, market.Sell} {
		placed := r.limit(side, "0.5", "29000")
		placed.Order.SelfTradePrevention = market.DecrementAndCancel
		for _, c := range []market.Command{{Kind: market.CommandPlace}, {Kind: market.CommandCancel},
			{Kind: market.CommandUpdate, Changed: market.ChangePrice}} {
			c.Order, s.acts = placed.Order, nil
			intent, err := r.Over(s).Prepare(&c)
			require.NoError(t, err)
			_, err = r.Over(s).Send(t.Context(), &intent)
			require.Equal(t, side == market.Buy, len(s.acts) == 1, "%s of a %s: %v", c.Kind, side, err)
			require.Equal(t, side == market.Buy, intent.Window == 60_000)
		}
	}
}

package bot

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// lose makes the exchange break connections: those of sales before or after they are carried out,
// and where deaf is set those of questions too.
func (p *switchPlay) lose(carried, deaf bool) {
	front := func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		sale := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/order")
		switch {
		case sale && carried:
			serve(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case sale, deaf && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/order") &&
			r.URL.Query().Get("clientOrderId") != "" && p.isSale(r.URL.Query().Get("clientOrderId")):
			panic(http.ErrAbortHandler)
		}
		serve(w, r)
	}
	p.front.Store(&front)
}

// isSale reports whether the log has a sale of a name.
func (p *switchPlay) isSale(client string) bool {
	lines, err := killswitch.Read(p.Folder + "/" + killswitch.LogFile)
	for i := range lines {
		if lines[i].Kind == killswitch.KindSell && lines[i].Client.String() == client {
			return true
		}
	}
	return err != nil
}

func TestASaleOfTheKillSwitchWhoseAnswerIsLostIsAskedForAndNeverSentAgain(t *testing.T) {
	bottest.Unraced(t)
	for name, row := range map[string]struct {
		carried, deaf bool
		first         int // exit code of the switch
		start         bool
	}{
		"carried out, then asked for":                      {carried: true},
		"carried out, and nothing is answered":             {carried: true, deaf: true, first: 1},
		"carried out, nothing is answered, then a start":   {carried: true, deaf: true, first: 1, start: true},
		"never arrived, and nothing is answered":           {deaf: true, first: 1},
		"never arrived, nothing is answered, then a start": {deaf: true, first: 1, start: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSwitchPlay(t, "holder", "30s", "")
			bot := p.begin()
			require.NoError(t, bot.Process.Kill())
			_ = bot.Wait()
			p.lose(row.carried, row.deaf)
			code, out := p.turn("", "", "--flatten", "--wait", "5s")
			require.Equal(t, row.first, code, out)
			p.noneSoldTwice()
			p.front.Store(nil)
			if row.start {
				p.settle(true)
				p.noneSoldTwice()
			}
			code, out = p.turn("", "", "--flatten")
			require.Zero(t, code, out)
			require.Zero(t, p.base(), out)
			p.noneSoldTwice()
			p.settle(true)
		})
	}
}

func TestTheKillSwitchSellsLessWhereSomeoneElseHasSold(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	p := newSwitchPlay(t, "holder", "30s", "")
	bot := p.begin()
	require.NoError(t, bot.Process.Kill())
	_ = bot.Wait()
	m := p.Market()
	sale := market.Command{Kind: market.CommandPlace,
		Order: market.Order{Market: m.ID, Side: market.Sell, Type: market.TypeMarket, OperatorID: 99,
			OrderState: market.OrderState{Amount: 700_000, TimeInForce: market.GTC,
				SelfTradePrevention: market.DecrementAndCancel}, ClientOrderID: uuid.New()}}
	intent, err := p.Auditor.Prepare(&sale)
	require.NoError(t, err)
	_, err = p.Auditor.Send(t.Context(), &intent)
	require.NoError(t, err)
	code, out := p.turn("", "", "--flatten")
	require.Zero(t, code, out)
	require.Contains(t, out, "0.007 BTC-EUR were sold since the bot left its holdings")
	require.Zero(t, p.base(), "0.003 were left to sell: %s", out)
}

func TestWhatTheMarketsMinimumKeepsIsListed(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	p := newSwitchPlay(t, "holder", "30s", "")
	bot := p.begin()
	require.NoError(t, bot.Process.Kill())
	_ = bot.Wait()
	h, err := killswitch.ReadHoldings(p.Folder)
	require.NoError(t, err)
	h.Positions[0].Amount, h.AtMS = "0.00005", time.Now().UnixMilli()
	require.NoError(t, h.Write(p.Folder))
	code, out := p.turn("", "", "--flatten")
	require.Zero(t, code, "dust does not fail, as with bot flatten: %s", out)
	require.Contains(t, out, "not sold: dip: 0.00005 BTC-EUR")
	require.Equal(t, market.Qty(1_000_000), p.base())
}

func TestFiguresOfABotThatDoesNotRunCarryTheirTimes(t *testing.T) {
	t.Parallel()
	p := newSwitchPlay(t, "holder", "30s", "")
	bot := p.begin()
	require.NoError(t, bot.Process.Signal(os.Interrupt))
	require.NoError(t, bot.Wait(), "%s", bot.Stderr)
	store := p.Stored()
	list, err := operator.StoppedPositions(store)
	require.NoError(t, err)
	require.Len(t, list.Positions, 1)
	bought := int64(0)
	require.NoError(t, store.Fills(0, 0, func(f *journal.FillRow) error { bought = f.Time.Millis(); return nil }))
	now := &list.Positions[0]
	require.Equal(t, bought, now.ChangedMS)
	require.NotEmpty(t, now.Value)
	require.GreaterOrEqual(t, now.LastMS, bought, "the price is of the stop, not of the purchase")
	require.GreaterOrEqual(t, list.AsOfMS, now.LastMS)
	s, err := operator.StoppedStatus(store, p.Folder)
	require.NoError(t, err)
	require.Equal(t, list.AsOfMS, s.AsOfMS)
	require.NotZero(t, s.AtMS)
	var text strings.Builder
	require.NoError(t, printStatus(&text, s))
	require.Contains(t, text.String(), ", as of "+operator.ClockOf(s.AtMS))
	answer, err := operator.AskOrders(true).Of(t.Context(), operator.Target{Folder: p.Folder})
	require.NoError(t, err)
	orders, taken := answer.Value, 0
	for i := range orders.Orders {
		if o := &orders.Orders[i]; o.State != "rejected" { // a slow machine sends one too late for its window
			require.NotZero(t, o.Updated())
			taken++
		}
	}
	require.Equal(t, 3, taken)
}

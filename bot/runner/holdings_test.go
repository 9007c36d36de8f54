package runner

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// deposit lets money arrive on the bot's account.
func (s *stage) deposit(symbol, amount string) {
	request := httptest.NewRequest(http.MethodPost, "/admin/deposit",
		strings.NewReader(`{"account":"bot","symbol":"`+symbol+`","amount":"`+amount+`"}`))
	request.RemoteAddr = "127.0.0.1:5000"
	request.Header.Set("Authorization", "Bearer open")
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	s.ex.ServeHTTP(answer, request)
	require.Equal(s.T, http.StatusOK, answer.Code, answer.Body.String())
}

// withdraw sends money away from the bot's account.
func (s *stage) withdraw(symbol, amount, address string) {
	body := []byte(`{"symbol":"` + symbol + `","amount":"` + amount + `","address":"` + address + `"}`)
	now := s.ex.Clock().Now().Millis()
	signer := rest.NewSigner(rest.NewSecret("secret of the auditor"))
	request := httptest.NewRequest(http.MethodPost, "/v2/withdrawal", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Service-Access-Key", bottest.AuditorKey)
	request.Header.Set("Service-Access-Timestamp", strconv.FormatInt(now, 10))
	request.Header.Set("Service-Access-Signature",
		string(signer.AppendSignature(nil, now, http.MethodPost, "/v2/withdrawal", body)))
	answer := httptest.NewRecorder()
	s.ex.ServeHTTP(answer, request)
	require.Less(s.T, answer.Code, 300, answer.Body.String())
}

// concluded are the differences of balances that the journal tells of, the first first.
func (s *stage) concluded() (list []string) {
	require.NoError(s.T, s.Stored().Entries(0, func(e *journal.Entry) error {
		if d, ok := e.Record.(*journal.Difference); ok && strings.HasPrefix(d.What, "balance ") {
			list = append(list, d.What+": "+d.Conclusion)
		}
		return nil
	}))
	return list
}

// funds is a stage on which deposits and withdrawals can be made, of a bot that polls.
func funds(t *testing.T, settled time.Duration) *stage {
	s := newStage(t, 7, func(c *sandbox.Config) {
		c.Admin, c.Rules.SettleAfter = "open", settled
		c.Accounts[0].Keys[1].Withdraw = true
	})
	s.hears = overPolls // balances are compared more often
	s.kinds = append(s.kinds, buyerKind, idlerKind)
	s.config = strings.NewReplacer("strategies.restless", "strategies.buyer", `"restless"`, `"buyer"`,
		"params.seed = 7\n", "").Replace(s.config)
	return s
}

func TestWhatMovesTheBalancesIsExplainedAndOnlyThenTheBooksFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := funds(t, 0)
		p := s.start()
		const looked = 45 * time.Second
		time.Sleep(looked) // it has bought
		s.deposit("EUR", "500")
		time.Sleep(looked)
		s.withdraw("EUR", "11000", "GB82WEST12345698765432")
		time.Sleep(looked)
		// into the house's bids: all but a fraction of what the strategy holds
		s.place(s.Auditor, 99, market.Sell, "1.01", "20000")
		time.Sleep(looked)
		halted, held := false, market.Qty(0)
		p.look(func() { _, halted = p.engine.Halted(1); held = p.account.Position(1, 1).Amount })
		require.False(t, halted)
		require.EqualValues(t, 234_567, held, "1 BTC was unallocated, 0.01234567 were the strategy's")
		p.kill()
		p.bury()
		require.Contains(t, s.told(nil, "positions"), "BTC-EUR  0.00234567", "what was withdrawn is gone there, too")
		s.withdraw("BTC", "0.00034567", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq") // while it is down
		p = s.start()
		time.Sleep(looked)
		p.look(func() { held = p.account.Position(1, 1).Amount })
		require.EqualValues(t, 200_000+1_234_567, held, "it buys once more after each start")
		require.NoError(t, p.end())
		require.Regexp(t, `unallocated +\d+\.\d+ EUR on the account beyond the strategies' books`,
			s.told(nil, "status"))
		after := s.Holdings()
		require.Equal(t, after[p.plan.Catalog.AssetNamed("BTC").ID],
			p.account.Total(p.plan.Catalog.AssetNamed("BTC").ID).Total)
		told := s.concluded()
		require.Equal(t, "balance EUR: explained by deposit, 500; the surplus is unallocated, and is not traded",
			told[0])
		require.Equal(t, "balance EUR: explained by withdrawal, -11000; taken out of the books: buyer 500", told[1])
		require.Regexp(t, `^balance EUR: explained by sell in BTC-EUR that is not the bot's, \d+\.\d+ in \d+ parts; the surplus is unallocated, and is not traded$`, told[2])
		require.Regexp(t, `^balance BTC: explained by sell in BTC-EUR that is not the bot's, -1\.01 in \d+ parts; `+
			`taken out of the books: buyer 0\.01$`, told[3])
		require.Equal(t, "balance BTC: explained by withdrawal, -0.00034567; taken out of the books: buyer 0.00034567",
			told[4])
		require.Len(t, told, 5)
	})
}

func TestAFeeThatIsSettledLaterIsNoShortfall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := funds(t, 3*time.Minute)
		p := s.start()
		time.Sleep(2 * time.Minute)
		unsettled, halted := false, false
		p.look(func() { unsettled = p.account.Unsettled(p.plan.Currency.ID) })
		require.True(t, unsettled, "the exchange has taken a fee that the books do not know yet")
		time.Sleep(3 * time.Minute)
		p.look(func() { _, halted = p.engine.Halted(1) })
		require.False(t, halted)
		require.NoError(t, p.end())
		require.Empty(t, s.concluded())
	})
}

func TestOlderHoldingsDoNotReplaceNewerOnes(t *testing.T) {
	folder := t.TempDir()
	k := holdingsKeeper{books: &books{plan: &plan.Live{Access: plan.Access{Config: &config.Run{
		Bot: config.BotSection{Mode: config.ModeLive, State: folder}}}}}}
	for _, at := range []int64{5, 4, 6, 3} {
		require.NoError(t, k.write(&killswitch.Holdings{AtMS: at}))
	}
	h, err := killswitch.ReadHoldings(folder)
	require.NoError(t, err)
	require.EqualValues(t, 6, h.AtMS)
}

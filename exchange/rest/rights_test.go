package rest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
)

func TestTheRightToWithdrawIsFoundOutWithoutWithdrawing(t *testing.T) {
	for _, may := range []bool{false, true} {
		r := newRig(t, func(theirs *sandbox.Config, _ *Config) { theirs.Accounts[0].Keys[0].Withdraw = may })
		before, err := r.Balances(t.Context(), "")
		require.NoError(t, err)
		found, err := r.MayWithdraw(t.Context())
		require.NoError(t, err)
		require.Equal(t, may, found)
		require.Equal(t, 1, r.wire.count(http.MethodPost, "/withdrawal"), "it is sent once")
		require.Equal(t, "{}", r.wire.bodies[len(r.wire.bodies)-1], "it names no asset, no amount and no address")
		after, err := r.Balances(t.Context(), "")
		require.NoError(t, err)
		require.Equal(t, before, after)
		sent, err := r.WithdrawalHistory(t.Context(), "", Page{})
		require.NoError(t, err)
		require.Empty(t, sent)
	}
}

func TestWhatSaysNothingOfTheRightToWithdrawIsAnError(t *testing.T) {
	r := newRig(t, nil)
	for code, body := range map[int]string{
		403: `{"errorCode":305,"error":"No active API key found."}`, // no key at all
		503: `{"errorCode":107,"error":"busy"}`,
		200: `{"success":true,"symbol":"EUR","amount":"1"}`, // nobody can have asked for that
	} {
		r.wire.before = func(q *http.Request) (*http.Response, error) { return answered(code, body), nil }
		_, err := r.MayWithdraw(t.Context())
		require.Error(t, err, body)
		require.NotErrorIs(t, err, exchange.ErrNotSent)
	}
}

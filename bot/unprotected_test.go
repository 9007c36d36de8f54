package bot_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// The exchange closes the market for all but cancels and ends the stop that rests there; then the
// market opens again.
func TestAPositionWithoutAnExitIsToldEverywhereUntilItHasOneAgain(t *testing.T) {
	t.Parallel()
	p := newPractice(t)
	w := watchBot(t, p, "--set", "strategies.trend.params.bracket=true", "--set", "poll.rules=1s")
	is := func(name string, figure float64) {
		t.Helper()
		w.eventually(func() bool { _, page := w.get("/metrics"); return value(t, page, name) == figure })
	}
	is(`tidemark_orders_total{command="place",outcome="accepted"}`, 2)
	is("tidemark_open_orders", 1)
	is("tidemark_unprotected_positions", 0)
	operator := &trader{t: t, exchange: p.ex}
	operator.admin("/status", `{"market":"BTC-EUR","status":"cancelOnly"}`)
	operator.admin("/cancelOrders", `{"market":"BTC-EUR"}`)
	is("tidemark_unprotected_positions", 1)
	is(`tidemark_unprotected_total{cause="cancelled",strategy="trend"}`, 1)
	is(`tidemark_unprotected_total{cause="halted",strategy="trend"}`, 1)
	w.eventually(func() bool {
		return strings.Contains(w.alerts.String(),
			"trend: 0.001 BTC-EUR has no exit (halted): ")
	})
	require.Contains(t, w.alerts.String(), `"kind":"unprotected"`)
	require.Contains(t, w.out.String(), "a position has no exit at the exchange; the bracket stays and tries again")
	status := func() string {
		var out, failed bytes.Buffer
		code := bot.Run(t.Context(), bot.Process{Args: []string{"status", "-c", p.config}, Stdin: bytes.NewReader(nil),
			Stdout: &out, Stderr: &failed,
			Getenv: func(name string) string { return p.env[name] }, Definitions: append(shipped.Definitions(),
				busyKind())})
		require.Zero(t, code, failed.String())
		return out.String()
	}
	bare := regexp.MustCompile(`unprotected +trend: 0.001 BTC-EUR since [-0-9]+ [0-9:.]+ \([a-z]+\)`)
	w.eventually(func() bool { return bare.MatchString(status()) })
	operator.admin("/status", `{"market":"BTC-EUR","status":"trading"}`)
	is("tidemark_unprotected_positions", 0)
	is("tidemark_open_orders", 1)
	require.NotRegexp(t, bare, status())
	require.Zero(t, w.stop(), w.out.String())
}

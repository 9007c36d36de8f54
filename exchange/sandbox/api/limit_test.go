package api

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestAddressesAreForgottenOnceTheirMinuteAndBanAreOver(t *testing.T) {
	l := newLimiter(Budget{PerIP: 1})
	now := market.Time(time.Date(2026, 1, 5, 12, 0, 15, 0, time.UTC).UnixNano())
	from := func(peer string) { l.chargePeer(netip.MustParseAddr(peer), 1, now) }
	for i := range byte(200) {
		l.chargePeer(netip.AddrFrom4([4]byte{10, 0, 0, i}), 1, now)
	}
	from("10.0.0.7") // Banned until 12:16
	require.Len(t, l.peers, 200)
	now = now.Add(time.Minute)
	from("10.0.1.1")
	require.Len(t, l.peers, 2)
	require.Contains(t, l.peers, netip.MustParseAddr("10.0.0.7"))
	now = now.Add(15 * time.Minute)
	from("10.0.1.1")
	require.Len(t, l.peers, 1)
}

func TestHeadersOfTheBudgetAreWrittenInSmallLetters(t *testing.T) {
	h := http.Header{}
	names := budgetHeadersOf("Service")
	names.write(h, charge{limit: []string{"1000"}, remaining: 7, resetAt: 1700000000000})
	require.Equal(t, http.Header{"service-ratelimit-limit": {"1000"}, "service-ratelimit-remaining": {"7"},
		"service-ratelimit-resetat": {"1700000000000"}}, h)
}

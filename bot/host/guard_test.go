package host

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
)

func TestAServerAnswersForItsOwnHostsAlone(t *testing.T) {
	for _, row := range []struct {
		listen string
		hosts  []string
		local  string // address that the connection came to
		host   string
		want   int
	}{
		{"127.0.0.1:9090", nil, "127.0.0.1", "127.0.0.1:9090", 200},
		{"127.0.0.1:9090", nil, "127.0.0.1", "127.0.0.1", 200},
		{"127.0.0.1:9090", nil, "127.0.0.1", "127.8.9.1:1", 200},
		{"127.0.0.1:9090", nil, "127.0.0.1", "LocalHost:9090", 200},
		{"127.0.0.1:9090", nil, "127.0.0.1", "[::1]:9090", 200},
		{"127.0.0.1:9090", nil, "127.0.0.1", "[::1]", 200},
		{"127.0.0.1:9090", nil, "127.0.0.1", "[::ffff:127.0.0.1]:9090", 200},
		{"127.0.0.1:9090", nil, "127.0.0.1", "evil.example.com:9090", 421},
		{"127.0.0.1:9090", nil, "127.0.0.1", "evil.example.com", 421},
		{"127.0.0.1:9090", nil, "127.0.0.1", "localhost.evil.example.com:9090", 421},
		{"127.0.0.1:9090", nil, "127.0.0.1", "127.0.0.1.evil.example.com:9090", 421},
		{"127.0.0.1:9090", nil, "127.0.0.1", "127.0.0.1:9090:evil", 421},
		{"127.0.0.1:9090", nil, "127.0.0.1", "evil@127.0.0.1", 421},
		{"127.0.0.1:9090", nil, "127.0.0.1", "192.0.2.7:9090", 421},
		{"127.0.0.1:9090", nil, "127.0.0.1", "0.0.0.0:9090", 421},
		{"127.0.0.1:9090", nil, "127.0.0.1", "", 421},
		{"127.0.0.1:9090", nil, "127.0.0.1", "[::1", 421},
		{":9090", nil, "127.0.0.1", "", 421},
		{":9090", nil, "127.0.0.1", ":9090", 421},
		{"0.0.0.0:9090", nil, "192.0.2.7", "192.0.2.7:9090", 200}, // what another machine asks it by
		{"0.0.0.0:9090", nil, "192.0.2.7", "192.0.2.8:9090", 421},
		{"0.0.0.0:9090", nil, "192.0.2.7", "bot.example.com:9090", 421},
		{"0.0.0.0:9090", []string{"bot.example.com"}, "192.0.2.7", "Bot.example.com:9090", 200},
		{"0.0.0.0:9090", []string{"bot.example.com"}, "192.0.2.7", "x.bot.example.com:9090", 421},
		{"trader.lan:9090", nil, "192.0.2.7", "trader.lan", 200},
		{"192.0.2.7:9090", nil, "192.0.2.7", "192.0.2.7", 200},
	} {
		guard := NewGuard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), row.listen, row.hosts)
		request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		request.Host = row.host
		local := &net.TCPAddr{IP: net.ParseIP(row.local), Port: 9090}
		request = request.WithContext(context.WithValue(request.Context(), http.LocalAddrContextKey, local))
		answer := httptest.NewRecorder()
		guard.ServeHTTP(answer, request)
		require.Equal(t, row.want, answer.Code, "%+v", row)
	}
}

func TestHostsOfAConfigAreNamesOrAddresses(t *testing.T) {
	path := []string{"metrics", "hosts"}
	require.NoError(t, config.CheckHosts(path, []string{"bot.example.com", "192.0.2.7", "::1", "BOT"}))
	for _, host := range []string{"", "https://bot.example.com", "bot:80", "bot/x", "a b", "*"} {
		require.ErrorContains(t, config.CheckHosts(path, []string{host}), "is no name of a host", host)
	}
}

package doctor

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

func TestTheDoctorLooksAtTheDoorOfTheDashboard(t *testing.T) {
	now, dir := time.Now(), t.TempDir()
	cert, key, _ := bottest.Certificate(t, dir, 1, now.Add(90*24*time.Hour))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	found := func(section config.DashboardSection) string {
		d := &doctor{plan: &plan.Live{Access: plan.Access{Config: &config.Run{Dashboard: section}}}}
		d.dashboard(now)
		if len(d.findings) == 0 {
			return ""
		}
		require.Len(t, d.findings, 1)
		return d.findings[0].Level + " " + d.findings[0].Text
	}
	free := "127.0.0.1:0"
	require.Empty(t, found(config.DashboardSection{}))
	require.Equal(t, "ok 127.0.0.1:0, on this machine", found(config.DashboardSection{Listen: free}))
	require.Contains(t, found(config.DashboardSection{Listen: free, BehindProxy: true}),
		"ok 127.0.0.1:0, behind a proxy")
	require.Contains(t, found(config.DashboardSection{Listen: taken.Addr().String()}), "is in use")
	require.Contains(t, found(config.DashboardSection{Listen: "192.0.2.1:0"}), "fail ")
	tls := config.DashboardSection{Listen: free, TLSCert: cert, TLSKey: key}
	require.Contains(t, found(tls), "ok 127.0.0.1:0, over TLS, with a certificate until ")
	require.NoError(t, os.Chmod(key, 0o644))
	require.Contains(t, found(tls), "fail every user of this machine may read the key")
	require.NoError(t, os.WriteFile(key, nil, 0o600))
	require.NoError(t, os.Chmod(key, 0o600))
	require.Contains(t, found(tls), "fail tls: ")
	bottest.Certificate(t, dir, 2, now.Add(24*time.Hour))
	require.Contains(t, found(tls), "ends at ")
}

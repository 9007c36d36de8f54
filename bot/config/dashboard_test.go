package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADashboardThatOthersReachNeedsTLSOrAProxy(t *testing.T) {
	for _, row := range []struct {
		section DashboardSection
		want    string // in the error; empty: it is right
	}{
		{DashboardSection{}, ""},
		{DashboardSection{Listen: "127.0.0.1:8787"}, ""},
		{DashboardSection{Listen: "[::1]:0"}, ""},
		{DashboardSection{Listen: "localhost:8787"}, ""},
		{DashboardSection{Listen: "8787"}, "dashboard.listen: \"8787\" is no address"},
		{DashboardSection{Listen: "0.0.0.0:8787"}, "secrets would go there in clear; want a certificate"},
		{DashboardSection{Listen: ":8787"}, "dashboard.listen"},
		{DashboardSection{Listen: ":8787", Hosts: []string{"bot.example.com"}}, "dashboard.listen"},
		{DashboardSection{Listen: ":8787", TLSCert: "c.pem"}, "dashboard.tls_key: is missing"},
		{DashboardSection{Listen: ":8787", TLSKey: "k.pem"}, "dashboard.tls_cert: is missing"},
		{DashboardSection{Listen: ":8787", TLSCert: "c.pem", TLSKey: "k.pem"}, ""},
		{DashboardSection{Listen: "127.0.0.1:8787", BehindProxy: true}, "dashboard.hosts: want the name"},
		{DashboardSection{Listen: ":8787", BehindProxy: true, Hosts: []string{"bot.example.com"}}, ""},
		{DashboardSection{Listen: ":8787", BehindProxy: true, Hosts: []string{"https://bot.example.com"}},
			"is no name of a host"},
	} {
		err := row.section.Check()
		if row.want == "" {
			require.NoError(t, err, row.section)
		} else {
			require.ErrorContains(t, err, row.want)
		}
	}
}

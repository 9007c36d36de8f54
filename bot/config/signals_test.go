package config

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADoorThatOthersReachNeedsTLSOrAProxy(t *testing.T) {
	for _, row := range []struct {
		section DoorSection
		want    string // the networks; or, in the error, its place and reason
	}{
		{DoorSection{Allow: []string{"off"}}, "[]"},
		{DoorSection{Listen: "127.0.0.1:8790"}, "[]"},
		{DoorSection{Listen: "8790"}, `signals.door.listen: "8790" is no address`},
		{DoorSection{Listen: "0.0.0.0:8790"}, "signals.door.listen: 0.0.0.0:8790 is open to other machines"},
		{DoorSection{Listen: ":8790", TLSCert: "c.pem"}, "signals.door.tls_key: is missing"},
		{DoorSection{Listen: ":8790", TLSKey: "k.pem"}, "signals.door.tls_cert: is missing"},
		{DoorSection{Listen: ":8790", BehindProxy: true,
			Allow: []string{"52.89.214.238", "10.0.0.0/8", "2001:db8::/32"}},
			"[52.89.214.238/32 10.0.0.0/8 2001:db8::/32]"},
		{DoorSection{Listen: ":8790", BehindProxy: true, Allow: []string{"tradingview.com"}},
			`signals.door.allow: "tradingview.com" is no address`},
		{DoorSection{Listen: ":8790", BehindProxy: true, Allow: []string{"::ffff:1.2.3.4"}}, "is no address"},
		{DoorSection{Listen: ":8790", BehindProxy: true, ClientCA: "c.pem"}, "signals.door.client_ca: senders show"},
		{DoorSection{Listen: ":8790", TLSCert: "c.pem", TLSKey: "k.pem", ClientSubject: "tv"},
			"signals.door.client_subject: without client_ca"},
		{DoorSection{Listen: ":8790", TLSCert: "c.pem", TLSKey: "k.pem", ClientCA: "c", ClientSubject: "tv"}, "[]"},
	} {
		allow, err := row.section.Check()
		if err != nil {
			require.ErrorContains(t, err, row.want)
		} else {
			require.Equal(t, row.want, fmt.Sprint(allow))
		}
	}
}

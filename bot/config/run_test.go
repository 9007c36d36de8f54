package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAddressIsCheckedWhenTheConfigIsRead(t *testing.T) {
	for _, row := range []struct{ address, want string }{
		{"https://api.example.com/v2", ""}, {"https://api.example.com", ""}, {"https://api.example.com:8443/v2/",
			""}, {"http://127.0.0.1:8080/v2", ""}, {"http://[::1]:1", ""},
		{"ftp://api.example.com", "should look like"}, {"api.example.com/v2", "should look like"}, {"https://",
			"should look like"}, {"https://:443", "should look like"},
		{"https://user@api.example.com", "password"}, {"https://user:word@api.example.com/v2",
			"password"}, {"https://api.example.com/v2?x=1", "nothing behind it"},
		{"https://api.example.com/v2#x", "nothing behind it"}, {"https://api.example.com/v2?",
			"nothing behind it"}, {"https://api.example.com/v2#", "nothing behind it"},
		{"https://api.example.com/v3", "nothing behind it"}, {"https://api.example.com/v2/x",
			"nothing behind it"}, {"https://api.example.com:99999", "port"},
		{"https://api.example.com:", "should look like"},
		{"http://api.example.com/v2", "in clear"}, {"", "should look like"}, {"https://a b.example.com",
			"cannot be read"},
	} {
		for _, key := range []string{"base_url", "moved_from"} {
			_, err := LoadRun(&Source{File: "live.toml", Text: "[exchange]\n" + key + " = '" + row.address + "'\n"})
			if row.want == "" || key == "moved_from" && row.address == "" {
				require.NoError(t, err, row.address)
				continue
			}
			require.ErrorContains(t, err, "live.toml:2: exchange."+key+": ", row.address)
			require.ErrorContains(t, err, row.want, row.address)
			require.ErrorAs(t, err, new(*KeyError))
		}
	}
}

// A key that is no more is refused with what took its place, by each command that reads the file.
func TestAKeyThatIsGoneNamesTheCure(t *testing.T) {
	source := &Source{File: "live.toml", Text: "[strategies.trend]\nkind = 'smacross'\nshadow = true\n"}
	for _, load := range []func(*Source) error{
		func(s *Source) error { _, err := LoadRun(s); return err },
		func(s *Source) error { _, err := LoadBacktest(s); return err },
	} {
		require.ErrorContains(t, load(source), "live.toml:3: strategies.trend.shadow: is gone: no simulated twin runs "+
			"inside the bot; bot gap --every 1h compares beside it with the backtest")
	}
}

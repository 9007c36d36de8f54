package bot

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/server"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// planted is a secret that stands in configs which are wrong in some way.
const planted = "QzX7kW9vB3nR8tYp2LmC6hJd4FgS1aUe5QzX0"

// failureOf reads a text as the config of run, of an exchange and of a backtest, and returns all
// that is wrong with it in words.
func failureOf(t *testing.T, text string, sets ...string) (said string) {
	overrides, err := config.ParseSets(sets)
	said = fmt.Sprintln(err)
	getenv := func(name string) string { return map[string]string{"PLANTED": planted}[name] }
	if c, err := config.LoadRun(&config.Source{File: "live.toml", Text: text, Overrides: overrides}); err != nil {
		said += fmt.Sprintln(err)
	} else {
		_, err = plan.NewLive(c, testKinds(), getenv)
		said += fmt.Sprintln(err)
	}
	if c, err := config.LoadSandbox(&config.Source{File: "exchange.toml", Text: text,
		Overrides: overrides}); err != nil {
		said += fmt.Sprintln(err)
	} else {
		p, err := server.NewPlan(c, getenv)
		said += fmt.Sprintln(err)
		require.NoError(t, p.Close())
	}
	if c, err := config.LoadBacktest(&config.Source{File: "backtest.toml", Text: text,
		Overrides: overrides}); err != nil {
		said += fmt.Sprintln(err)
	} else {
		_, err = plan.NewBacktest(c, testKinds())
		said += fmt.Sprintln(err)
	}
	return said
}

// silent wants that no part of the planted secret is said.
func silent(t *testing.T, said, message string) {
	for i := 0; i+6 <= len(planted); i++ {
		require.NotContains(t, said, planted[i:i+6], message)
	}
}

func TestErrorsAboutAConfigNeverRepeatASecret(t *testing.T) {
	bottest.Unraced(t)
	keys := []string{"exchange.key", "exchange.secret", "exchange.key_env", "exchange.secret_env", "exchange.key_file",
		"exchange.secret_file", "exchange.base_url",
		"exchange.moved_from", "alerts.to.me.url", "alerts.to.me.url_env", "alerts.to.me.url_file", "admin.token",
		"admin.token_env", "admin.token_file",
		"accounts.a.keys.k.secret", "accounts.a.keys.k.key", "accounts.a.keys.k.secret_env",
		"accounts.a.keys.k.secret_file",
		"exchange.scret", "exchange.Secret", "exchange.secrets", "exchange.api_secret", "exhange.secret",
		"exchange.kye", "alerts.to.me.ulr", "alerts.me.url", "secret", "key",
		"exchange.weights.secret", "strategies.a.params.token", "strategies.a.params.secret", "accounts.a.secret",
		"accounts.a.balances.key", "account.start.secret", "exchange.secret.value"}
	values := []string{`"%s"`, `'%s'`, `"""%s"""`, `["%s"]`, `[["%s"]]`, `{v = "%s"}`, `[{v = "%s"}]`, `%s`, `"%s`,
		`'%s`, `"%s\q"`, `"%s" x`, `[%s]`, `{%s}`, `12%s`, `"\u%s"`, `0x%s`,
		`"https://%s@example.com/v2"`, `"https://example.com/v2?k=%s"`, `"https://example.com/%s"`,
		`"https://u:%s@example.com"`, `"https://example.com/v2#%s"`, `"http:%s"`,
		`"%s://example.com"`, `"https://example.com:%s"`}
	for _, key := range keys {
		for _, value := range values {
			line := key + " = " + fmt.Sprintf(value, planted)
			said := failureOf(t, line)
			silent(t, said, line+"\n"+said)
			require.Contains(t, said, "live.toml", line)
			for _, set := range []string{key + "=" + fmt.Sprintf(value, planted), key + fmt.Sprintf(value, planted),
				key + " " + planted + "=", fmt.Sprintf(value, planted) + "=" + key} {
				if _, err := config.ParseSets([]string{set}); err != nil {
					silent(t, err.Error(), set)
				}
			}
			said = failureOf(t, "", key+"="+fmt.Sprintf(value, planted))
			silent(t, said, "--set "+line+"\n"+said)
		}
	}
}

func TestTablesWithSecretsWhereOthersBelongAreNotRepeated(t *testing.T) {
	for _, text := range []string{
		"exchange = '" + planted + "'", "[[exchange]]\nsecret = '" + planted + "'", "accounts = {a = {keys = '" +
			planted + "'}}",
		"[accounts.a.keys]\nk = '" + planted + "'", "[exchange]\nwindow = {secret = '" + planted +
			"'}", "[exchange]\nwindow = ['" + planted + "']",
		"[[alerts.to.me]]\nurl = '" + planted + "'", "alerts = {to = '" + planted + "'}", "[alerts]\nto = ['" +
			planted + "']", "[exchange]\nsign_market_data = {x = '" + planted + "'}",
		"[bot]\nrecord_mb = {secret = '" + planted + "'}", "[exchange]\nsecret = 1\nsecret = '" + planted +
			"'", "[exchange.secret]\n'" + planted + "' = 1",
		"[exchange]\nsecret = '''\n" + planted, "[exchange]\nsecret = \"" + planted + "\n", "[exchange]\nkey\n= '" +
			planted + "'", "admin = '" + planted + "'", "[exchange\nsecret = '" + planted + "'",
		"exchange.secret = 'x'\nexchange.secret.y = '" + planted +
			"'", "[exchange]\nsecret = 99999999999999999999999999999 # " + planted,
		"[exchange]\nsecret = 1979-05-27T07:32:00" + planted, "[exchange]\nsecret = '\x00" + planted +
			"'", "[exchange]\nsecret = \xff" + planted,
	} {
		said := failureOf(t, text)
		silent(t, said, text+"\n"+said)
		require.Contains(t, said, "live.toml", text)
	}
	said := failureOf(t, "[exchange]\nsecret = 98765432101234567890987654321")
	require.NotContains(t, said, "98765432")
}

// FuzzSyntax breaks a config at any place, and wants that what is said of it has nothing of the
// secret in it.
func FuzzSyntax(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { silent(t, brokenConfig(t, seed), fmt.Sprint("seed ", seed)) })
}

// brokenConfig changes some bytes around a secret and returns what is said of it.
func brokenConfig(t *testing.T, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 0))
	text := []byte("[bot]\nlog = 'info'\n[exchange]\nbase_url = \"https://x.example.com\"\nsecret = \"" + planted +
		"\"\nkey = '" + planted + "'\n[alerts.to.me]\nurl = \"https://h.example.com/" + planted + "\"\n")
	const odd = "\"'[]{}=.,#\n\\ \t0x-_:"
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(text))
		if strings.IndexByte(planted, text[at]) >= 0 {
			continue // the secret itself stays whole, and keys are mistyped elsewhere
		}
		switch rng.IntN(3) {
		case 0:
			text[at] = odd[rng.IntN(len(odd))]
		case 1:
			text = append(text[:at], text[at+1:]...)
		default:
			text = append(text[:at], append([]byte{odd[rng.IntN(len(odd))]}, text[at:]...)...)
		}
	}
	return failureOf(t, string(text))
}

func TestAConfigThatIsBrokenAtAnyPlaceKeepsItsSecret(t *testing.T) {
	bottest.Unraced(t)
	seed := rand.Uint64()
	for range 500 {
		seed++
		silent(t, brokenConfig(t, seed), fmt.Sprint("seed ", seed))
	}
}

package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
)

// secretAlphabets are what secrets are made of. What begins an escape is left out: a secret with it
// that is escaped in parts is ambiguous.
var secretAlphabets = []string{"0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=",
	`abcXYZ 0189-_.~!"#$'()*+,/:;<=>?@[]^{|}`}

// disguise writes each character of a text in one of the ways that an answer may have it.
func disguise(rng *rand.Rand, text string) string {
	styles := []func(byte) string{
		func(c byte) string { return string(rune(c)) },
		func(c byte) string { return fmt.Sprintf("%%%02X", c) },
		func(c byte) string { return fmt.Sprintf("%%%02x", c) },
		func(c byte) string { return fmt.Sprintf(`\u%04x`, c) },
		func(c byte) string { return fmt.Sprintf("&#%d;", c) },
		func(c byte) string { return fmt.Sprintf("&#x%X;", c) },
		func(c byte) string { return html.EscapeString(string(rune(c))) },
		func(c byte) string { return url.QueryEscape(string(rune(c))) },
		func(c byte) string { b, _ := json.Marshal(string(rune(c))); return string(b[1 : len(b)-1]) },
		func(c byte) string { return strings.ToUpper(string(rune(c))) },
	}
	one := styles[rng.IntN(len(styles))]
	mixed := rng.IntN(3) == 0
	var out strings.Builder
	for i := range len(text) {
		if mixed {
			one = styles[rng.IntN(len(styles))]
		}
		out.WriteString(one(text[i]))
	}
	return out.String()
}

func TestNoHalfOfASecretOutlivesTheScrubberHoweverItIsWritten(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 3_000 {
		alphabet, secret := secretAlphabets[rng.IntN(len(secretAlphabets))], make([]byte, 8+rng.IntN(80))
		for i := range secret {
			secret[i] = alphabet[rng.IntN(len(alphabet))]
		}
		shown := secret // whole, or one half of it, as a sender that cuts texts leaves it
		if half := len(secret) / 2; half >= 16 {
			switch rng.IntN(3) {
			case 1:
				shown = secret[:half]
			case 2:
				shown = secret[half:]
			}
		}
		hidden := disguise(rng, string(shown))
		clean := NewScrubber("", string(secret)).Text("before\n" + hidden + "\nafter")
		message := fmt.Sprintf("seed %d, round %d, secret %q as %q became %q", seed, round, secret, hidden, clean)
		require.NotContains(t, clean, hidden, message)
		require.Contains(t, clean, redacted, message)
		require.True(t, strings.HasPrefix(clean, "before\n") && strings.HasSuffix(clean, "\nafter"), message)
		rest := strings.NewReplacer("before\n", "", redacted, "", "\nafter", "").Replace(clean)
		require.Empty(t, rest, message)
	}
}

func TestTextsWithoutSecretsStayAsTheyAre(t *testing.T) {
	clean := NewScrubber("0123456789abcdef0123456789abcdef", "hunter2hunter2")
	for _, text := range []string{"", "100%", `\`, "&", "%zz \\u00zz &#xzz; &nope;", "order 01234567 is not found",
		"a\\nb", "é%C3%A9 ü"} {
		require.Equal(t, text, clean.Text(text))
	}
	require.Equal(t, "x", (&Scrubber{}).Text("x"))
}

func FuzzScrubber(f *testing.F) {
	f.Add("0123456789abcdef", "the signature 0123%34567&#56;9abcdef is wrong")
	f.Add("a/b+c=d&e", `%2561\\u0062`)
	f.Add("x", "")
	f.Fuzz(func(t *testing.T, secret, text string) {
		clean := NewScrubber(secret).Text(text)
		if len(secret) > len(redacted) {
			require.NotContains(t, clean, secret)
		}
		if found := NewScrubber(secret).Finds([]byte(text)); !found && len(text) <= maxScrubbed {
			require.Equal(t, text, clean)
		}
	})
}

// parts wants that no part of a secret stands in a text.
func parts(t *testing.T, text, secret, message string) {
	for i := 0; i+12 <= len(secret); i++ {
		require.NotContains(t, strings.ToLower(text), strings.ToLower(secret[i:i+12]), message)
	}
}

func TestAnEchoOfCredentialsIsInNoErrorWhereverItStandsAndWhateverCutsIt(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector: this is one goroutine")
	}
	echoes := map[string]func(text string) (*http.Response, error){
		"a refusal": func(text string) (*http.Response, error) {
			return answered(403, quotedJSON("errorCode", 309, text)), nil
		},
		"a page": func(text string) (*http.Response,
			error) {
			return answered(502, "<html>"+text+"</html>"), nil
		},
		"an error of no code": func(text string) (*http.Response, error) {
			return answered(500, `{"error":"`+text+`"}`),
				nil
		},
		"an id": func(text string) (*http.Response,
			error) {
			return answered(200, `{"orderId":"`+text+`"}`), nil
		},
		"a number": func(text string) (*http.Response, error) {
			return answered(200, `{"amount":`+text+`}`),
				nil
		},
		"a list": func(text string) (*http.Response, error) { return answered(200, `["`+text+`"]`), nil },
		"a record of balances": func(text string) (*http.Response, error) {
			return answered(200, `[{"symbol":"`+text+`","available":"1","inOrder":"0"}]`), nil
		},
		"no answer": func(text string) (*http.Response, error) {
			return nil, errors.New(`malformed HTTP response "` + text + `"`)
		},
	}
	written := map[string]func(string) string{
		"as it is": func(s string) string { return s }, "upper": strings.ToUpper,
		"percent": func(s string) string { return percent(s, "%%%02X") },
		"json":    func(s string) string { return percent(s, `\u%04x`) },
	}
	failed := 0
	for what, echo := range echoes {
		for how, write := range written {
			for _, pad := range []int{0, 39, 60, 79} { // around the places where texts are cut
				r := newRig(t, func(_ *sandbox.Config, c *Config) { c.Tries = 1 })
				var shown string
				r.wire.before = func(sent *http.Request) (*http.Response, error) {
					signature := sent.Header.Get("Service-Access-Signature")
					if signature == "" {
						return nil, nil
					}
					shown = signature
					return echo(strings.Repeat("x", pad) + write(signature) + write(r.config.Key.Reveal()) +
						write(r.config.Secret.Reveal()))
				}
				_, balances := r.Balances(t.Context(), "")
				_, placed := r.Send(t.Context(), r.intent(r.limit(1, "0.01", "50000")))
				require.NotEmpty(t, shown)
				for _, err := range []error{balances, placed} {
					if err == nil {
						continue // the answer could be read: an id of any text
					}
					failed++
					message := fmt.Sprintf("%s, %s, %d: %v", what, how, pad, err)
					for _, secret := range []string{shown, r.config.Key.Reveal(), r.config.Secret.Reveal()} {
						parts(t, err.Error(), secret, message)
						parts(t, err.Error(), write(secret)[:min(len(write(secret)), 100)], message)
					}
				}
			}
		}
	}
	require.Greater(t, failed, 200)
}

func quotedJSON(name string, code int, text string) string {
	return fmt.Sprintf(`{"%s":%d,"error":"%s"}`, name, code, text)
}

func percent(text, format string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, format, text[i])
	}
	return out.String()
}

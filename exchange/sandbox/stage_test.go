package sandbox

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// row is an object of an answer.
type row map[string]any

// stage is a rig with the words in which rules are shown. Only alice and bob trade there.
type stage struct{ *rig }

func newStage(t testing.TB, change ...func(*Config)) *stage {
	quiet := func(c *Config) {
		for i := range c.Markets {
			c.Markets[i].Source = nil
		}
	}
	return &stage{newRig(t, append([]func(*Config){quiet}, change...)...)}
}

// wholes and flags are the parameters that are no text in a body.
var (
	wholes = []string{"operatorId", "codGroupId", "expiryAfterSeconds"}
	flags  = []string{"postOnly", "responseRequired", "disableMarketProtection", "internal", "addWithdrawalFee",
		"deductFeeFromAmount"}
)

// ask sends "GET /order market=BTC-EUR orderId=…" as an account: method, path and parameters.
// name:=value gives a body's value as JSON.
func (s *stage) ask(account, line string) answer {
	s.t.Helper()
	method, path, body := wordsOf(line)
	return s.send(account, method, path, body)
}

// wordsOf reads the line of ask.
func wordsOf(line string) (method, path, body string) {
	words := strings.Fields(line)
	method, path = words[0], words[1]
	if method == "POST" || method == "PUT" {
		return method, path, bodyOf(words[2:])
	}
	if len(words) > 2 {
		path += "?" + strings.Join(words[2:], "&")
	}
	return method, path, ""
}

// bodyOf makes a body of name=value.
func bodyOf(words []string) string {
	members := make([]string, 0, len(words))
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		raw := slices.Contains(wholes, name) || slices.Contains(flags, name)
		if rest, ok := strings.CutSuffix(name, ":"); ok {
			name, raw = rest, true
		}
		if !raw {
			value = `"` + value + `"`
		}
		members = append(members, `"`+name+`":`+value)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// one asks for an object.
func (s *stage) one(account, line string) row {
	s.t.Helper()
	return decoded[row](s, s.ask(account, line))
}

// rows asks for a list of objects.
func (s *stage) rows(account, line string) []row {
	s.t.Helper()
	return decoded[[]row](s, s.ask(account, line))
}

// refuse requires a refusal of "POST /order …".
func (s *stage) refuse(account, line string, status, code int) answer {
	s.t.Helper()
	return s.ask(account, line).refused(s.t, status, code)
}

func decoded[T any](s *stage, a answer) (value T) {
	s.t.Helper()
	return decodedText[T](s, a.ok(s.t).body)
}

func decodedText[T any](s *stage, body string) (value T) {
	s.t.Helper()
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	require.NoError(s.t, decoder.Decode(&value), body)
	return value
}

// orderLine is the line that places "buy limit amount=1 price=100" in BTC-EUR.
func orderLine(text string) string {
	words := strings.Fields(text)
	return "POST /order market=BTC-EUR operatorId=7 side=" + words[0] + " orderType=" + strings.Join(words[1:], " ")
}

// place places an order in BTC-EUR.
func (s *stage) place(account, text string) row {
	s.t.Helper()
	return s.one(account, orderLine(text))
}

// update changes an order of BTC-EUR.
func (s *stage) update(account string, o row, change string) row {
	s.t.Helper()
	return s.one(account, "PUT /order market=BTC-EUR operatorId=7 orderId="+o.id()+" "+change)
}

// again gets an order of BTC-EUR.
func (s *stage) again(account string, o row) row {
	s.t.Helper()
	return s.one(account, "GET /order market=BTC-EUR orderId="+o.id())
}

// trade lets bob sell to alice, so that the market has a last price.
func (s *stage) trade(amount, price string) (bid, ask row) {
	s.t.Helper()
	bid = s.place("alice", "buy limit amount="+amount+" price="+price)
	ask = s.place("bob", "sell limit amount="+amount+" price="+price)
	return s.again("alice", bid), ask
}

func (r row) id() string { return r["orderId"].(string) }

// fills are those of an order.
func (r row) fills() []row {
	var list []row
	for _, one := range r["fills"].([]any) {
		list = append(list, one.(map[string]any))
	}
	return list
}

// has requires members of an object: "status=new" a text, "created:=17" a literal, "-price"
// absence, "updated#" an integer, "name$" any text.
func (s *stage) has(r row, wants ...string) {
	s.t.Helper()
	for _, want := range wants {
		name, value, exact := strings.Cut(want, "=")
		have, present := r[strings.Trim(name, "-#$:")]
		switch {
		case exact && strings.HasSuffix(name, ":"):
			text, err := json.Marshal(have)
			require.NoError(s.t, err)
			require.True(s.t, present && value == string(text), "want %s in %v", want, r)
		case exact:
			require.Equal(s.t, any(value), have, "want %s in %v", want, r)
		case want[0] == '-':
			require.False(s.t, present, "want no %s in %v", name, r)
		case strings.HasSuffix(want, "#"):
			number, ok := have.(json.Number)
			require.True(s.t, ok && !strings.ContainsAny(number.String(), ".eE"), "want an integer: %s in %v", want, r)
		default:
			require.IsType(s.t, "", have, "want a text: %s in %v", want, r)
		}
	}
}

package server

import (
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// Facts are the addresses and credentials that a client of the exchange needs; --json prints them.
type Facts struct {
	BaseURL      string         `json:"base_url"`
	HeaderPrefix string         `json:"header_prefix"`
	OpenAPI      string         `json:"openapi_url"`
	Markets      []string       `json:"markets"`
	Accounts     []accountFacts `json:"accounts"`
	AdminURL     string         `json:"admin_url,omitempty"`
	AdminToken   string         `json:"admin_token,omitempty"`
	State        string         `json:"state,omitempty"`
	// Curl are lines for a shell: one without credentials, then signed ones; then one for /admin if
	// the clock stands.
	Curl []string `json:"curl"`

	adminToken string // the token, or its file or variable
}

type accountFacts struct {
	Name     string            `json:"name"`
	Balances map[string]string `json:"balances"` // at its first start
	Keys     []keyFacts        `json:"keys"`
}

type keyFacts struct {
	Key         string   `json:"key"`
	Secret      string   `json:"secret,omitempty"` // not if it came from a file or the environment
	SecretFile  string   `json:"secret_file,omitempty"`
	SecretEnv   string   `json:"secret_env,omitempty"`
	Permissions []string `json:"permissions"`

	secret string // the secret, or its file or variable
}

// Facts gathers the facts of an exchange at an address.
func (p *Setup) Facts(address *net.TCPAddr) *Facts {
	host := address.IP
	if host.IsUnspecified() {
		host = net.IPv4(127, 0, 0, 1)
	}
	root := "http://" + net.JoinHostPort(host.String(), strconv.Itoa(address.Port))
	f := &Facts{BaseURL: root + "/v2", OpenAPI: root + "/openapi.json", HeaderPrefix: p.Exchange.Prefixes[0],
		State: p.Exchange.State}
	for i := range p.Config.Markets {
		f.Markets = append(f.Markets, p.Config.Markets[i].Name)
	}
	if p.Admin.Enabled {
		f.AdminURL, f.adminToken = root+"/admin", p.token.Shown()
		if p.token.Printable() {
			f.AdminToken = p.token.Text
		}
	}
	for i := range p.Config.Accounts {
		f.Accounts = append(f.Accounts, p.accountFacts(&p.Config.Accounts[i]))
	}
	f.Curl = p.examples(root)
	return f
}

func (p *Setup) accountFacts(a *sandbox.Account) accountFacts {
	facts := accountFacts{Name: a.Name, Balances: a.Balances, Keys: []keyFacts{}}
	for i := range p.credentials {
		c := &p.credentials[i]
		if c.account != a.Name {
			continue
		}
		k := keyFacts{Key: c.key.Key, SecretFile: c.secret.File, SecretEnv: c.secret.Env,
			Permissions: permissionsOf(c.key), secret: c.secret.Shown()}
		if c.secret.Printable() {
			k.Secret = c.secret.Text
		}
		facts.Keys = append(facts.Keys, k)
	}
	return facts
}

func permissionsOf(k *api.Key) []string {
	words := []string{}
	for _, right := range [...]struct {
		has  bool
		word string
	}{{k.Read, "read"}, {k.Trade, "trade"}, {k.Withdraw, "withdraw"}} {
		if right.has {
			words = append(words, right.word)
		}
	}
	return words
}

// Write prints the facts for a person.
func (f *Facts) Write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(what string, text ...any) { fmt.Fprintln(table, what+"\t"+fmt.Sprint(text...)) }
	row("base URL", f.BaseURL)
	row("markets", strings.Join(f.Markets, ", "))
	row("headers", f.HeaderPrefix, "-Access-Key, -Signature, -Timestamp, -Window")
	if f.AdminURL != "" {
		row("admin", f.AdminURL, "  Authorization: Bearer ", f.adminToken)
	}
	row("described", f.OpenAPI)
	if f.State != "" {
		row("kept in", f.State)
	} else {
		row("kept in", "memory only; --state FILE keeps it over restarts")
	}
	for i := range f.Accounts {
		a := &f.Accounts[i]
		fmt.Fprintln(table)
		var balances []string
		for _, symbol := range slices.Sorted(maps.Keys(a.Balances)) {
			balances = append(balances, a.Balances[symbol]+" "+symbol)
		}
		row("account", a.Name, ": ", strings.Join(balances, ", "))
		for _, k := range a.Keys {
			row("key", k.Key)
			row("secret", k.secret)
			row("may", strings.Join(k.Permissions, ", "))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nIn another shell (sh with curl and openssl):\n\n%s\n\nCtrl-C stops it.\n",
		strings.Join(f.Curl, "\n\n"))
	return err
}

// examples are lines for a shell. The first needs no credentials. If a key allows it, one line
// reads and one trades. If the clock stands still, one line moves it.
func (p *Setup) examples(root string) []string {
	first := "time"
	if len(p.Config.Markets) > 0 {
		first = "ticker/price?market=" + p.Config.Markets[0].Name
	}
	typed := ""
	if p.Rules.Strict {
		typed = " -H " + config.InQuotes(contentType)
	}
	lines := []string{"curl -s" + typed + " " + config.InQuotes(root+"/v2/"+first) + "; echo"}
	if c := p.usable(func(k *api.Key) bool { return k.Read }); c != nil {
		lines = append(lines, p.signed(root, c, "GET", "/balance", ""))
	}
	if c := p.usable(func(k *api.Key) bool { return k.Trade }); c != nil {
		if body := p.smallOrder(c.account); body != "" {
			lines = append(lines, p.signed(root, c, "POST", "/order", body))
		}
	}
	if p.Clock.Speed == "0" && p.Admin.Enabled {
		lines = append(lines, fmt.Sprintf(
			`curl -s %s -H 'Authorization: Bearer '%s -H '%s' -d '{"advance":"1m"}'; echo`,
			config.InQuotes(root+"/admin/clock"), p.token.Shell(), contentType))
	}
	return lines
}

// usable finds a key that has a permission and works from this machine.
func (p *Setup) usable(may func(*api.Key) bool) *credential {
	for i := range p.credentials {
		c := &p.credentials[i]
		if may(c.key) && !c.key.Unconfirmed &&
			(len(c.key.Addresses) == 0 || slices.Contains(c.key.Addresses, "127.0.0.1")) {
			return c
		}
	}
	return nil
}

// smallOrder is a small market buy, in a market with liquidity whose quote the account holds;
// empty: there is no such market.
func (p *Setup) smallOrder(account string) string {
	at := slices.IndexFunc(p.Config.Accounts, func(a sandbox.Account) bool { return a.Name == account })
	for i := range p.Config.Markets {
		m := &p.Config.Markets[i]
		_, quote, err := market.SplitName(m.Name)
		money := p.Config.Accounts[at].Balances[quote]
		if err == nil && money != "" && money != "0" && m.Liquidity.Levels > 0 && m.Source != nil &&
			(m.Status == 0 || m.Status == market.Trading) {
			return fmt.Sprintf(`{"market":"%s","side":"buy","orderType":"market","amountQuote":"%s","operatorId":1}`,
				m.Name, aboveMinimum(m.MinOrderInQuote))
		}
	}
	return ""
}

// aboveMinimum is five times a market's smallest order, or 25 where it has none.
func aboveMinimum(least string) string {
	mantissa, digits, err := market.ParseDecimal(least)
	if err != nil || mantissa <= 0 || mantissa > 1e17 {
		return "25"
	}
	return market.FormatFixed(mantissa*5, digits)
}

// contentType is the header of a request with a body; a strict exchange wants it on each request.
const contentType = "Content-Type: application/json"

// signed is a line that signs a request. It asks the exchange for its time, because the machine's
// may differ.
func (p *Setup) signed(root string, c *credential, method, path, body string) string {
	send, header := "", p.Exchange.Prefixes[0]+"-Access-"
	if body != "" {
		send = ` -d "$B"`
	}
	return fmt.Sprintf(`( U=%s K=%s S=%s B=%s H=%s; T=$(curl -s -H "$H" "$U/v2/time" | cut -d: -f2 | cut -d, -f1); `+
		`X=$(printf %%s "${T}%s/v2%s$B" | openssl dgst -sha256 -hmac "$S" -r | cut -d' ' -f1); `+
		`curl -s -X %s "$U/v2%s" -H "$H" -H "%sKey: $K" -H "%sTimestamp: $T" -H "%sSignature: $X"%s; echo )`,
		config.InQuotes(root), config.InQuotes(c.key.Key), c.secret.Shell(), config.InQuotes(body),
		config.InQuotes(contentType), method, path, method, path, header, header, header, send)
}

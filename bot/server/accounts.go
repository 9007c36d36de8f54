package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// credential is a key of an account, as the start prints it.
type credential struct {
	account string
	key     *api.Key
	secret  config.Secret
}

// keyLength is the number of characters of a key (specification 5).
const keyLength = 64

// setAccounts takes the accounts of the config; without any, the account of sandbox.Default.
func (p *Setup) setAccounts() error {
	if p.Accounts != nil {
		p.Config.Accounts = nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.Accounts)) {
		section := p.Accounts[name]
		a, err := p.account(name, &section)
		if err != nil {
			return config.At([]string{"accounts", name}, err)
		}
		p.Config.Accounts = append(p.Config.Accounts, a)
	}
	next := 0
	for i := range p.Config.Accounts {
		a := &p.Config.Accounts[i]
		for j := range a.Keys {
			if p.Accounts == nil {
				p.credentials = append(p.credentials,
					credential{account: a.Name, secret: config.Secret{Text: a.Keys[j].Secret}})
			}
			p.credentials[next].key = &a.Keys[j]
			next++
		}
	}
	return nil
}

func (p *Setup) account(name string, s *config.ClientAccount) (a sandbox.Account, err error) {
	path := []string{"accounts", name}
	a = sandbox.Account{Name: name, Volume: string(s.Volume), Balances: map[string]string{}}
	if _, err := s.Volume.Fixed(2); err != nil {
		return a, config.At(config.Join(path, "volume"), err)
	}
	for _, symbol := range slices.Sorted(maps.Keys(s.Balances)) {
		decimals, err := p.decimalsOf(symbol)
		if err == nil {
			_, err = s.Balances[symbol].Fixed(decimals)
		}
		if err != nil {
			return a, config.At(config.Join(path, "balances", symbol), err)
		}
		a.Balances[symbol] = string(s.Balances[symbol])
	}
	for _, of := range slices.Sorted(maps.Keys(s.Keys)) {
		section := s.Keys[of]
		k, c, err := p.key(config.Join(path, "keys", of), &section)
		if err != nil {
			return a, err
		}
		c.account = name
		a.Keys, p.credentials = append(a.Keys, k), append(p.credentials, c)
	}
	return a, nil
}

// key reads one API key. A missing key or secret is derived from the key's place in the config.
func (p *Setup) key(path []string, s *config.KeySecret) (k api.Key, c credential, err error) {
	k = api.Key{Key: s.Key, Addresses: s.Addresses, Unconfirmed: s.Unconfirmed, Budget: int(s.Budget)}
	madeKey, madeSecret := madeFor(path)
	if k.Key == "" {
		k.Key = madeKey
	}
	if len(k.Key) != keyLength {
		return k, c, config.Keyf(config.Join(path, "key"), "has %d characters; want %d, or leave it out",
			len(k.Key), keyLength)
	}
	if c.secret, err = p.secrets.Read(path, "secret", s.Secret, s.SecretFile, s.SecretEnv); err != nil {
		return k, c, err
	}
	if c.secret.Text == "" {
		c.secret.Text = madeSecret
	}
	k.Secret = c.secret.Text
	for _, word := range s.Permissions {
		if err := config.OneOf(config.Join(path, "permissions"), word, "read", "trade", "withdraw"); err != nil {
			return k, c, err
		}
		k.Read, k.Trade, k.Withdraw = k.Read || word == "read", k.Trade || word == "trade", k.Withdraw ||
			word == "withdraw"
	}
	for _, address := range s.Addresses {
		if _, err := netip.ParseAddr(address); err != nil {
			return k, c, config.Keyf(config.Join(path, "addresses"), "%q is no IP address", config.Clip(address))
		}
	}
	return k, c, nil
}

// madeFor derives the key and the secret of a place in the config. The place of the key in
// configs/exchange.toml gives the key of an exchange without a config, so that a bot's config fits
// both.
func madeFor(path []string) (key, secret string) {
	if slices.Equal(path, []string{"accounts", "demo", "keys", "main"}) {
		public := sandbox.Default().Accounts[0].Keys[0]
		return public.Key, public.Secret
	}
	return madeOf(path, "key"), madeOf(path, "secret")
}

// madeOf returns a text of 64 characters, always the same for the same place.
func madeOf(path []string, what string) string {
	sum := sha256.Sum256([]byte(strings.Join(config.Join(path, what), "\x00")))
	return hex.EncodeToString(sum[:])
}

// setAdmin takes or makes the token of /admin.
func (p *Setup) setAdmin() (err error) {
	if !p.Admin.Enabled {
		return nil
	}
	token, err := p.secrets.Read([]string{"admin"}, "token", p.Admin.Token, p.Admin.TokenFile, p.Admin.TokenEnv)
	if err != nil {
		return err
	}
	if token.Text == "" {
		token.Text = rand.Text()
	}
	p.token, p.Config.Admin = token, token.Text
	return nil
}

// warnOfOpenConfig warns of secrets in a config that others may read.
func (p *Setup) warnOfOpenConfig() {
	file := p.Sandbox.Source.File
	if others, err := config.ReadableByOthers(file); p.secrets.Inline && err == nil && others {
		p.Warnings = append(p.Warnings,
			fmt.Sprintf("%s holds a secret and others may read it; do: chmod 600 %s, or use secret_file or secret_env",
				file, config.InQuotes(file)))
	}
}

package server

import (
	"cmp"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

const sampleExchange = "../../configs/exchange.toml"

// planOf makes the plan of a config's text, with variables of the environment.
func planOf(t *testing.T, text string, environment map[string]string) (*Setup, error) {
	c, err := config.LoadSandbox(&config.Source{File: "exchange.toml", Text: text})
	if err != nil {
		return nil, err
	}
	p, err := NewPlan(c, func(name string) string { return environment[name] })
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p, err
}

// alike takes out of a config in what ways two that serve the same exchange may differ: the order
// of what is listed, how the keys are called, and defaults that one of them writes out.
func alike(c sandbox.Config) sandbox.Config {
	c.Clock, c.Admin = nil, ""
	c.Assets, c.Markets, c.Accounts = slices.Clone(c.Assets), slices.Clone(c.Markets), slices.Clone(c.Accounts)
	slices.SortFunc(c.Assets, func(a, b sandbox.Asset) int { return strings.Compare(a.Symbol, b.Symbol) })
	slices.SortFunc(c.Markets, func(a, b sandbox.Market) int { return strings.Compare(a.Name, b.Name) })
	for i := range c.Assets {
		a := &c.Assets[i]
		a.Status, a.DepositFee, a.WithdrawalFee = cmp.Or(a.Status, "OK"), cmp.Or(a.DepositFee,
			"0"), cmp.Or(a.WithdrawalFee, "0")
		if a.BlockTime == 0 {
			a.BlockTime = time.Minute
		}
	}
	for i := range c.Markets {
		m := &c.Markets[i]
		m.Status, m.Liquidity.Step = max(m.Status, market.Trading), max(m.Liquidity.Step, 1)
		y := m.Source.(prices.Synthetic)
		if y.Step == 0 {
			y.Step = time.Second
		}
		if y.Volatility == 0 {
			y.Volatility = 0.03
		}
		m.Source = y
	}
	for i := range c.Accounts {
		a := &c.Accounts[i]
		a.Volume, a.Keys = cmp.Or(a.Volume, "0"), slices.Clone(a.Keys)
		for j := range a.Keys {
			k := &a.Keys[j]
			k.Addresses = append([]string{}, k.Addresses...)
		}
	}
	return c
}

func TestTheSampleExchangeIsTheOneWithoutAConfig(t *testing.T) {
	text, err := os.ReadFile(sampleExchange)
	require.NoError(t, err)
	sample, err := planOf(t, string(text), nil)
	require.NoError(t, err)
	none, err := planOf(t, "", nil)
	require.NoError(t, err)
	require.Equal(t, alike(none.Config), alike(sample.Config))
	require.Equal(t, sandbox.Default().Markets, none.Config.Markets, "without a config it is package sandbox's own")
	require.Empty(t, sample.Warnings)
}

func TestTheSampleExchangeServes(t *testing.T) {
	text, err := os.ReadFile(sampleExchange)
	require.NoError(t, err)
	p, err := planOf(t, string(text), nil)
	require.NoError(t, err)
	ex, err := sandbox.New(p.Config)
	require.NoError(t, err)
	answer := httptest.NewRecorder()
	ex.ServeHTTP(answer, httptest.NewRequest("GET", "/v2/ticker/price?market=ADA-EUR", nil))
	require.Equal(t, 200, answer.Code)
	require.Regexp(t, `^\{"market":"ADA-EUR","price":"[0-9.]+"\}$`, answer.Body.String())
}

func TestMistakesInAnExchangeConfigNameTheirPlace(t *testing.T) {
	const tick = "[markets.BTC-EUR]\ntick_size='1'\n"
	const fixed = tick + "source={kind='fixed',price='10'}\n"
	for _, c := range [...]struct{ text, want string }{
		{"[exchnge]", `exchange.toml:1: exchnge: unknown key; the nearest is "exchange"`},
		{"[rules]\nstrikt=true", `exchange.toml:2: rules.strikt: unknown key; the nearest is "strict"`},
		{"[exchange]\nlisten='8080'", `exchange.toml:2: exchange.listen: "8080" is no address`},
		{"[exchange]\nlog='loud'", `exchange.log: "loud" is not one of off`},
		{"[exchange]\nprefixes=[]", `exchange.prefixes: is empty`},
		{"[exchange]\nprefixes=['A B']", `exchange.prefixes: "A B" begins no header`},
		{"[exchange]\nprefixes=['A','A']", `exchange.prefixes: "A" begins no header`},
		{"[clock]\nspeed='-1'", `exchange.toml:2: clock.speed: "-1" is no speed`},
		{"[clock]\nspeed='10001'", `at most 10000`},
		{"[clock]\nstart='soon'", `clock.start: "soon" is no time`},
		{"[rules]\nfee_rounding='up'", `exchange.toml:2: rules.fee_rounding: `},
		{"[rules]\nspread_limit='1.1'", `rules.spread_limit: 1.1 is more than the whole`},
		{"[rules]\ngroups_per_account=0", `rules.groups_per_account: 0 is not in 1 to 1000`},
		{"[keep]\norders=0", `keep.orders: 0 would forget everything`},
		{"[tiers.some]\ndefault={}", `exchange.toml:1: tiers.some: the name of a tier is the volume that it begins at`},
		{"[tiers.5]\ndefault={}", `tiers.5: is the lowest tier; the lowest has to begin at 0`},
		{"[tiers.0]\ndefault={}\n[tiers.00]\ndefault={}", `begins where the tier 0`},
		{"[tiers.0]\nA={}", `tiers.0: has no "default"`},
		{"[tiers.0]\ndefault={maker='100%'}", `exchange.toml:2: tiers.0.default.maker: 1 takes the whole trade; want less than 1`},
		{"[assets.BTC]\ndecimals=19", `assets.BTC.decimals: 19 is more than 18`},
		{"[assets.EUR]\ndecimals=2\nwithdrawal_fee='0.001'", `exchange.toml:3: assets.EUR.withdrawal_fee: `},
		{"[assets.BTC]\nstatus='GONE'", `assets.BTC.status: "GONE" is not one of OK`},
		{"[assets.BTC]\nconfirmations=10001", `assets.BTC.confirmations: 10001`},
		{"[assets.BTC]\nblock_time='25h'", `assets.BTC.block_time: 25h0m0s`},
		{"[markets.BTCEUR]", `markets.BTCEUR: market "BTCEUR" is not of the form BASE-QUOTE`},
		{"[markets.BTC-USD]", `markets.BTC-USD: there is no asset USD`},
		{"[markets.BTC-EUR]\n", `exchange.toml:1: markets.BTC-EUR.tick_size: is missing`},
		{tick + "status='open'", `exchange.toml:3: markets.BTC-EUR.status: `},
		{tick + "quantity_decimals=9", `markets.BTC-EUR.quantity_decimals: 9 is more than the 8 decimals`},
		{"[markets.BTC-EUR]\ntick_size='0.01'\nprice_decimals=1", `price_decimals: 1 is not in 2`},
		{tick + "min_order_in_quote='0.001'", `markets.BTC-EUR.min_order_in_quote: `},
		{tick + "source={kind='fixd'}",
			`markets.BTC-EUR.source.kind: "fixd" is not one of synthetic, replay, fixed, none; the nearest is "fixed"`},
		{tick + "source={kind='fixed',price='10.5'}", `source.price: "10.5" is no price here`},
		{tick, `source.price: "" is no price here`},
		{tick + "source={price='10',volatility='0.8'}",
			`source.volatility: "0.8": want a part of the price above 0, like "0.03", at most 0.5`},
		{tick + "source={price='10',step='1us'}", `source.step: 1µs is less than 1ms`},
		{tick + "source={kind='replay',interval='7m'}", `source.interval: `},
		{tick + "source={kind='replay',walk='pat'}", `source.walk: "pat" is not one of chance, path`},
		{tick + "source={kind='replay',speed=0}", `source.speed: 0: want 1`},
		{tick + "source={kind='replay',from=2021-01-01,to=2020-01-01}", `source.from: 2021-01-01`},
		{fixed + "liquidity={levels=1001}", `liquidity.levels: 1001`},
		{fixed + "liquidity={levels=1}", `liquidity.size: is missing`},
		{fixed + "liquidity={size='0.000000001'}", `liquidity.size: `},
		{fixed + "liquidity={step=0}", `liquidity.step: 0 ticks`},
		{fixed + "liquidity={half_spread_bps='10001'}", `liquidity.half_spread_bps: 10001 is more than the whole`},
		{"[accounts.a.balances]\nXRP='1'", `exchange.toml:2: accounts.a.balances.XRP: there is no asset XRP`},
		{"[accounts.a.balances]\nEUR='0.001'", `accounts.a.balances.EUR: `},
		{"[accounts.a]\nvolume='-1'", `accounts.a.volume: -1 is negative`},
		{"[accounts.a.keys.k]\nkey='short'", `exchange.toml:2: accounts.a.keys.k.key: has 5 characters; want 64`},
		{"[accounts.a.keys.k]\npermissions=['write']", `permissions: "write" is not one of read, trade, withdraw`},
		{"[accounts.a.keys.k]\naddresses=['home']", `addresses: "home" is no IP address`},
		{"[accounts.a.keys.k]\nsecret='x'\nsecret_env='Y'",
			`accounts.a.keys.k: has two of secret, secret_file and secret_env`},
		{"[accounts.a.keys.k]\nsecret_env='Y'", `secret_env: the environment has no variable of that name`},
		{"[admin]\ntoken_file='nowhere'", `exchange.toml:2: admin.token_file: `},
	} {
		_, err := planOf(t, c.text, nil)
		require.ErrorContains(t, err, c.want, c.text)
		require.ErrorAs(t, err, new(*config.KeyError), c.text)
	}
}

func TestSecretsComeFromPlacesThatOthersCannotRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "it's secret")
	require.NoError(t, os.WriteFile(file, []byte("from a file\n"), 0o600))
	config := func(line string) string { return "[accounts.a.keys.k]\n" + line + "\n[admin]\ntoken_env='TOKEN'" }
	environment := map[string]string{"KEY": "from outside", "TOKEN": "admin's"}

	p, err := planOf(t, config(`secret_file="`+file+`"`), environment)
	require.NoError(t, err)
	require.Equal(t, "from a file", p.Config.Accounts[0].Keys[0].Secret)
	require.Equal(t, "admin's", p.Config.Admin)
	require.Equal(t, `"$(cat '`+strings.ReplaceAll(file, "'", `'\''`)+`')"`, p.credentials[0].secret.Shell())
	require.Equal(t, "in "+file, p.credentials[0].secret.Shown(), "the secret is not printed")

	p, err = planOf(t, config("secret_env='KEY'"), environment)
	require.NoError(t, err)
	require.Equal(t, "from outside", p.Config.Accounts[0].Keys[0].Secret)
	require.Equal(t, `"$KEY"`, p.credentials[0].secret.Shell())

	require.NoError(t, os.Chmod(file, 0o644))
	_, err = planOf(t, config(`secret_file="`+file+`"`), environment)
	require.ErrorContains(t, err, "others may read")
	require.NoError(t, os.WriteFile(file, []byte("two\nlines"), 0o600))
	require.NoError(t, os.Chmod(file, 0o600))
	_, err = planOf(t, config(`secret_file="`+file+`"`), environment)
	require.ErrorContains(t, err, "holds no secret: want one line")
}

func TestAConfigWithASecretThatOthersMayReadIsWarnedOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "exchange.toml")
	for _, c := range [...]struct {
		text     string
		mode     os.FileMode
		warnings int
	}{{"[admin]\ntoken='x'", 0o644, 1}, {"[admin]\ntoken='x'", 0o600, 0}, {"[admin]\nenabled=true", 0o644, 0}} {
		require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
		require.NoError(t, os.Chmod(file, c.mode))
		source, err := config.ReadSource(file, nil)
		require.NoError(t, err)
		sections, err := config.LoadSandbox(source)
		require.NoError(t, err)
		p, err := NewPlan(sections, os.Getenv)
		require.NoError(t, err)
		require.Len(t, p.Warnings, c.warnings, c.text)
	}
}

func TestKeysThatAreLeftOutAreTheSameAtEachStart(t *testing.T) {
	const text = "[accounts.a.keys.k]\n[accounts.a.keys.l]\n[accounts.b.keys.k]"
	first, err := planOf(t, text, nil)
	require.NoError(t, err)
	again, err := planOf(t, text, nil)
	require.NoError(t, err)
	require.Equal(t, first.Config.Accounts, again.Config.Accounts)
	seen := map[string]bool{}
	for _, c := range first.credentials {
		seen[c.key.Key], seen[c.key.Secret] = true, true
		require.Len(t, c.key.Key, keyLength)
	}
	require.Len(t, seen, 6, "no two are equal")
}

func TestStoredCandlesAreReplayedFromADate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "candles.db")
	store, err := candles.Open(file)
	require.NoError(t, err)
	var rows strings.Builder
	for i, line := range []string{"100,110,90,105,4", "105,106,104,106,4", "106,130,106,120,4"} {
		rows.WriteString(time.Unix(1609459200+int64(i)*60, 0).UTC().Format(time.RFC3339) + "," + line + "\n")
	}
	_, err = store.ImportCSV(strings.NewReader(rows.String()),
		candles.ImportOptions{WriteOptions: candles.WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}})
	require.NoError(t, err)
	require.NoError(t, store.Close())

	config := "[exchange]\nhistory='0s'\n[clock]\nstart=2026-01-05T12:00:00Z\nspeed='0'\n" +
		"[markets.BTC-EUR]\ntick_size='1'\n" +
		"source={kind='replay',candles='" + file + "',from=2021-01-01T00:01:00Z,speed=2}"
	p, err := planOf(t, config, nil)
	require.NoError(t, err)
	ex, err := sandbox.New(p.Config)
	require.NoError(t, err)
	ex.Clock().Advance(time.Hour)
	ask := httptest.NewRecorder()
	ex.ServeHTTP(ask, httptest.NewRequest("GET", "/v2/BTC-EUR/candles?interval=1m", nil))
	require.JSONEq(t, `[[1767614400000,"105","130","104","120","8"]]`, ask.Body.String(),
		"two candles in a minute; the first is left out")

	p, err = planOf(t, strings.Replace(config, "speed=2", "speed=1,walk='path'", 1), nil)
	require.NoError(t, err)
	ex, err = sandbox.New(p.Config)
	require.NoError(t, err)
	ex.Clock().Advance(15 * time.Second)
	ask = httptest.NewRecorder()
	ex.ServeHTTP(ask, httptest.NewRequest("GET", "/v2/ticker/price?market=BTC-EUR", nil))
	require.JSONEq(t, `{"market":"BTC-EUR","price":"105"}`, ask.Body.String(), "its open stands")

	_, err = planOf(t, strings.Replace(config, "from=2021-01-01T00:01:00Z", "from=2022-01-01", 1), nil)
	require.ErrorContains(t, err, "nothing of it lies in the range")
	_, err = planOf(t, strings.Replace(config, "replay'", "replay',interval='5m'", 1), nil)
	require.ErrorContains(t, err, "resample it with: bot candles resample")
	_, err = planOf(t, strings.Replace(config, file, file+"x", 1), nil)
	require.ErrorIs(t, err, candles.ErrNoData)
}

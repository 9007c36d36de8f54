package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// stateful is a change of a rig's config: a state file, the operator's token, and nothing else.
func stateful(path string) func(*Config) {
	return func(c *Config) { c.State, c.Admin = path, "token of the operator" }
}

// reopen makes the exchange of a rig anew, and returns the error of one that cannot be.
func (r *rig) reopen(change ...func(*Config)) error {
	config := rigConfig()
	stateful(r.ex.config.State)(&config)
	config.Clock = r.ex.clock
	for _, alter := range change {
		alter(&config)
	}
	ex, err := New(config)
	if err == nil {
		ex.onPanic = r.ex.onPanic
		r.ex = ex
	}
	return err
}

func newKeptRig(t *testing.T, change ...func(*Config)) *rig {
	r := newRig(t, append(change, stateful(filepath.Join(t.TempDir(), "exchange.db")))...)
	t.Cleanup(func() { _ = r.ex.store.db.Close() })
	return r
}

const someOrder = `{"market":"BTC-EUR","operatorId":1,"side":"buy","orderType":"limit","amount":"0.5","price":"90000","codGroupId":3,"clientOrderId":"00000000-0000-4000-8000-000000000001"}`

func TestATimerOfCancelOnDisconnectOutlivesAKill(t *testing.T) {
	r := newKeptRig(t)
	timer := func(seconds int) {
		r.send("alice", "POST", "/cancelOrdersAfter", fmt.Sprintf(`{"codGroupId":3,"expiryAfterSeconds":%d}`, seconds)).
			ok(t)
	}
	r.send("alice", "POST", "/order", someOrder).ok(t)
	timer(10)
	r.kill()
	require.NoError(t, r.reopen())
	timer(0)
	r.kill()
	require.NoError(t, r.reopen())
	r.pass(time.Minute)
	r.send("alice", "GET", "/ordersOpen", "").says(t, `"status":"new"`)
	timer(10)
	r.kill()
	r.pass(time.Minute) // it expires while nobody is there
	require.NoError(t, r.reopen())
	r.send("alice", "GET", "/order?market=BTC-EUR&clientOrderId=00000000-0000-4000-8000-000000000001", "").
		says(t, `"restatementReason":"cancelOnDisconnect"`).says(t,
		fmt.Sprint(`"updated":`, rigStart.Add(70*time.Second).Millis()))
}

func TestOldFillsOfAnOrderAreForgottenInTheFileAsInMemory(t *testing.T) {
	short := func(c *Config) { c.Retention.Trades = 3 }
	r := newKeptRig(t, short)
	r.send("alice", "POST", "/order", someOrder).ok(t)
	for range 11 {
		r.send("bob", "POST", "/order",
			`{"market":"BTC-EUR","operatorId":1,"side":"sell","orderType":"market","amount":"0.01"}`).ok(t)
		before := r.send("alice", "GET", "/orders?market=BTC-EUR", "").ok(t).body
		r.kill()
		require.NoError(t, r.reopen(short))
		require.Equal(t, before, r.send("alice", "GET", "/orders?market=BTC-EUR", "").body)
	}
}

func TestABanOutlivesAKill(t *testing.T) {
	tight := func(c *Config) { c.Budget = api.Budget{PerKey: 5, PerIP: 5} }
	r := newKeptRig(t, tight)
	r.send("alice", "GET", "/balance", "").ok(t)
	told := r.send("alice", "GET", "/balance", "").refused(t, 429, 105).body
	r.get("/BTC-EUR/trades").ok(t)
	toldToAll := r.get("/time").refused(t, 429, 105).body
	r.kill()
	require.NoError(t, r.reopen(tight))
	r.pass(90 * time.Second)
	require.Equal(t, told, r.send("alice", "GET", "/balance", "").refused(t, 429, 105).body)
	r.pass(time.Minute)
	r.send("alice", "GET", "/balance", "").ok(t)
	require.Equal(t, toldToAll, r.get("/time").refused(t, 429, 105).body)
}

// The points of who has none left are in the file; those of an address that was forgotten are not.
func TestIdleAddressesLeaveTheFile(t *testing.T) {
	r := newKeptRig(t)
	r.get("/time").ok(t)
	r.send("alice", "POST", "/order", someOrder).ok(t)
	meters := func() (n int) {
		require.NoError(t, r.ex.store.db.View(func(tx *bbolt.Tx) error {
			n = tx.Bucket(bucketMeters).
				Stats().KeyN
			return nil
		}))
		return n
	}
	require.Equal(t, 2, meters())
	r.pass(time.Hour)
	elsewhere := r.request("", "GET", "/time", "")
	elsewhere.RemoteAddr = "10.0.0.9:1"
	r.do(elsewhere).ok(t)
	require.Equal(t, 2, meters(), "alice and the new address")
}

func TestAnExchangeThatCannotWriteAnswersNothingMore(t *testing.T) {
	r := newKeptRig(t)
	r.send("alice", "POST", "/order", someOrder).ok(t)
	before := r.send("alice", "GET", "/balance", "").ok(t).body
	require.NoError(t, r.ex.Err())
	require.NoError(t, r.ex.store.db.Close())
	r.send("alice", "POST", "/order",
		`{"market":"BTC-EUR","operatorId":1,"side":"buy","orderType":"limit","amount":"0.25","price":"90000"}`).
		refused(t, 500, 101)
	r.send("alice", "GET", "/balance", "").refused(t, 503, 111)
	r.send("alice", "DELETE", "/orders?operatorId=1", "").refused(t, 503, 111)
	r.get("/time").refused(t, 503, 111)
	r.ex.Advance()
	require.ErrorContains(t, r.ex.Err(),
		"exchange.db is no longer kept, and nothing more is answered; remove the cause and start the exchange again: "+
			"database not open")
	require.ErrorContains(t, r.ex.Close(), "no longer kept")
	require.NoError(t, r.reopen())
	require.Equal(t, before, r.send("alice", "GET", "/balance", "").body,
		"the order that was not answered is not there")
}

// A request whose handler has a mistake may be half done in memory. In the file it is not done at
// all.
func TestAPanicLeavesTheFileWhole(t *testing.T) {
	r := newKeptRig(t)
	r.ex.onPanic = nil
	r.send("alice", "POST", "/order", someOrder).ok(t)
	before := r.send("alice", "GET", "/balance", "").ok(t).body
	c := &api.Call{Account: 1, Endpoint: &api.Endpoint{Method: http.MethodPost, Do: func(*api.Call) *exchange.Error {
		ex := r.ex
		require.NoError(t, ex.bank.transfer(0, 1, -1000))
		ex.store.markAccount(ex.accounts[0])
		panic("half of it is done")
	}}}
	require.Equal(t, 101, r.ex.callEndpoint(c).Code)
	r.send("alice", "GET", "/balance", "").refused(t, 503, 111)
	require.ErrorContains(t, r.ex.Err(), "half of it is done")
	require.NoError(t, r.ex.store.db.Close())
	require.NoError(t, r.reopen())
	require.Equal(t, before, r.send("alice", "GET", "/balance", "").body)
}

func TestAClosedExchangeAnswersNothing(t *testing.T) {
	r := newKeptRig(t)
	r.send("alice", "POST", "/order", someOrder).ok(t)
	require.NoError(t, r.ex.Close())
	require.NoError(t, r.ex.Close(), "once more does no harm")
	r.send("alice", "GET", "/balance", "").refused(t, 503, 111)
	require.ErrorIs(t, r.ex.Err(), errClosed)
	require.NoError(t, newRig(t).ex.Close(), "one without a state file")
}

func TestTwoExchangesDoNotShareAState(t *testing.T) {
	r := newKeptRig(t)
	require.ErrorContains(t, r.reopen(),
		"exchange.db: it is in use by another exchange; stop that one, or name another file")
	r.send("alice", "POST", "/order", someOrder).ok(t)
}

// The exchange's time never goes back: not where the clock of the machine was set back, nor where
// the operator had moved it.
func TestTheClockGoesOnFromTheTimeThatWasReached(t *testing.T) {
	r := newKeptRig(t)
	require.Contains(t, r.operate("POST", "/clock", `{"advance":"36h"}`), " 200 ")
	told := r.get("/time").ok(t).body
	r.kill()
	require.NoError(t, r.reopen(func(c *Config) { c.Clock = ManualClock(rigStart) }))
	require.Equal(t, told, r.get("/time").ok(t).body)
}

func TestAStateMustFitTheConfig(t *testing.T) {
	r := newKeptRig(t)
	require.NoError(t, r.ex.Close())
	for want, change := range map[string]func(*Config){
		`asset BTC is there and not in the config; give the exchange what it began with, or another file`: func(c *Config) {
			c.Assets[1].Symbol, c.Markets[0].Name = "XBT", "XBT-EUR"
		},
		`asset ETH has 8 decimals there and 18 in the config`: func(c *Config) { c.Assets[2].Decimals = 18 },
		`asset DOGE is in the config and not there`: func(c *Config) {
			c.Assets = append(c.Assets,
				Asset{Symbol: "DOGE"})
		},
		`market ADA-EUR is there and not in the config`: func(c *Config) { c.Markets = c.Markets[:2] },
		`prices of ADA-EUR have 5 decimals there and 4 in the co`: func(c *Config) {
			c.Markets[2].PriceDigits,
				c.Markets[2].TickSize = 4, "0.0001"
		},
	} {
		err := r.reopen(change)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, r.ex.config.State)
	}
	require.NoError(t, r.reopen(), "none of that has changed it")
}

// The order in the config is free: a bot on paper that starts when a market has gone names it last.
func TestAStateHoldsItsMarketsInAnyOrderOfTheConfig(t *testing.T) {
	r := newKeptRig(t)
	r.send("alice", "POST", "/order", someOrder).ok(t)
	before := r.send("alice", "GET", "/ordersOpen", "").ok(t).body
	balances := r.send("alice", "GET", "/balance", "").ok(t).body
	require.NoError(t, r.ex.Close())
	require.NoError(t, r.reopen(func(c *Config) {
		slices.Reverse(c.Assets)
		slices.Reverse(c.Markets)
	}))
	require.Equal(t, before, r.send("alice", "GET", "/ordersOpen", "").ok(t).body)
	require.Equal(t, balances, r.send("alice", "GET", "/balance", "").ok(t).body)
}

func TestAccountsComeAndGoInTheConfig(t *testing.T) {
	r := newKeptRig(t)
	r.send("alice", "POST", "/order", someOrder).ok(t)
	require.NoError(t, r.ex.Close())
	others := func(c *Config) { c.Accounts = []Account{rigAccount("carol"), rigAccount("bob")} }
	require.NoError(t, r.reopen(others))
	r.send("alice", "GET", "/balance", "").refused(t, 403, 305)
	r.send("bob", "POST", "/order",
		`{"market":"BTC-EUR","operatorId":1,"side":"sell","orderType":"market","amount":"0.1"}`).ok(t).
		says(t, `"price":"90000"`)
	r.send("carol", "POST", "/order",
		`{"market":"BTC-EUR","operatorId":1,"side":"sell","orderType":"market","amount":"0.1"}`).ok(t).
		says(t, `"price":"90000"`)
	r.send("carol", "GET", "/balance?symbol=BTC", "").says(t, `"available":"999.9"`)
	ledger := r.operate("GET", "/ledger", "")
	require.Contains(t, ledger, `"accounts":"3000","liquidity":"0","transferred":"3000"`)
	require.NoError(t, r.ex.Close())
	all := func(c *Config) { c.Accounts = []Account{rigAccount("carol"), rigAccount("bob"), rigAccount("alice")} }
	require.NoError(t, r.reopen(all))
	r.send("alice", "GET", "/balance?symbol=BTC", "").says(t, `"available":"1000.2"`)
	r.send("alice", "GET", "/ordersOpen", "").says(t, `"amountRemaining":"0.3"`)
	require.Equal(t, ledger, r.operate("GET", "/ledger", ""))
	require.NoError(t, r.ex.Close())
	require.ErrorContains(t, r.reopen(func(c *Config) { c.Accounts = []Account{rigAccount("bob"), rigAccount("bob")} }),
		"every account needs a name of its own")
}

// A rule that the operator has changed stays so; the others are those of the config, which may
// change between two runs.
func TestChangedRulesOutliveARestart(t *testing.T) {
	r := newKeptRig(t)
	require.Contains(t, r.operate("POST", "/rules", `{"market":"BTC-EUR","tickSize":"0.5","maxOpenOrders":7}`), " 200 ")
	require.Contains(t, r.operate("POST", "/status", `{"market":"ETH-EUR","status":"halted"}`), " 200 ")
	require.NoError(t, r.ex.Close())
	config := func(c *Config) { c.Markets[0].TickSize, c.Markets[0].MinOrderInQuote = "0.1", "25" }
	for range 2 {
		require.NoError(t, r.reopen(config))
		r.get("/markets?market=BTC-EUR").says(t, `"tickSize":"0.50"`).says(t, `"maxOpenOrders":7`).
			says(t, `"minOrderInQuoteAsset":"25.00"`)
		r.get("/markets?market=ETH-EUR").says(t, `"status":"halted"`)
		r.get("/markets?market=ADA-EUR").says(t, `"status":"trading"`)
		r.kill()
	}
}

func TestAFileThatIsNoStateSaysSo(t *testing.T) {
	r := newKeptRig(t)
	r.send("alice", "POST", "/order", someOrder).ok(t)
	require.NoError(t, r.ex.Close())
	path := r.ex.config.State
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	spoil := func(do func(tx *bbolt.Tx) error) func() {
		return func() {
			db, err := bbolt.Open(path, 0o600, nil)
			require.NoError(t, err)
			require.NoError(t, db.Update(do))
			require.NoError(t, db.Close())
		}
	}
	put := func(bucket, key []byte, text string) func() {
		return spoil(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(key, []byte(text)) })
	}
	for want, make := range map[string]func(){
		"not the state of an exchange: it holds \"meta\"": func() {
			require.NoError(t, os.Remove(path))
			spoil(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("meta")); return err })()
		},
		`corrupt, or not the state of an exchange`: func() {
			require.NoError(t,
				os.WriteFile(path, []byte(strings.Repeat("candles\n", 10_000)), 0o600))
		},
		`it has version 2, and this program knows 1 at most; start`: put(bucketAbout, keyAbout,
			`{"Format":"tidemark exchange","Version":2}`),
		`this is not the state of an exchange but "tidemark candles"`: put(bucketAbout, keyAbout,
			`{"Format":"tidemark candles","Version":1}`),
		`corrupt: record 6c696665: unexpected end of JSON input`:    put(bucketAbout, keyLife, ``),
		`corrupt: record 000000000000000100000000000000ff: invalid`: put(bucketOrders, keyOf(1, 255), `what`),
		`corrupt: runtime error: index out of range [9] with length 4`: put(bucketOrders, keyOf(9, 255),
			`{"Account":0,"Order":{"ID":5}}`),
		`corrupt: restore order 5: nothing of it is left`: put(bucketOrders, keyOf(1, 255),
			`{"Account":0,"Order":{"ID":5,"Market":1,"Side":"buy","Type":"limit","Status":"new","Price":1}}`),
		`corrupt: record 01: the key has 1 bytes, not 16`: put(bucketTape, []byte{1}, `{}`),
		`corrupt: account alice: `: put(bucketAccounts, keyOf(0),
			`{"Name":"alice","Balances":{"EUR":-5}}`),
		`corrupt: a transfer of BTC has status 77`: put(bucketTransfers, keyOf(1),
			`{"Asset":2,"Status":77}`),
	} {
		require.NoError(t, os.WriteFile(path, good, 0o600))
		make()
		err := r.reopen()
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "sandbox: state "+path)
	}
	for _, size := range []int{1000, 4096, 8192, 16384, 20000} {
		require.NoError(t, os.WriteFile(path, good[:size], 0o600))
		require.ErrorContains(t, r.reopen(), path, "%d of %d bytes", size, len(good))
	}
	for page := 2; page < len(good)/4096 && page < 40; page++ { // most pages are needed
		bad := bytes.Clone(good)
		copy(bad[page*4096:], bytes.Repeat([]byte{0xa5}, 4096))
		broken := filepath.Join(t.TempDir(), "exchange.db") // a file whose opening fails in the middle stays locked
		require.NoError(t, os.WriteFile(broken, bad, 0o600))
		if err := r.reopen(func(c *Config) { c.State = broken }); err != nil {
			require.ErrorContains(t, err, broken)
			continue
		}
		require.NoError(t, r.ex.Close())
	}
	require.NoError(t, os.WriteFile(path, good, 0o600))
	require.NoError(t, r.reopen())
	r.send("alice", "GET", "/ordersOpen", "").says(t, `"amount":"0.5"`)
}

func TestAFolderIsNoStateFile(t *testing.T) {
	r := newKeptRig(t)
	folder := t.TempDir()
	require.ErrorContains(t, r.reopen(func(c *Config) { c.State = folder }),
		"this is a folder; name a file in it, like "+filepath.Join(folder, "exchange.db"))
	require.ErrorContains(t, r.reopen(func(c *Config) { c.State = filepath.Join(folder, "no", "where") }),
		"no such file or directory")
}

// Whatever an order or a fill has is in the file: every field of them is set here.
func TestEveryFieldOfAnOrderAndOfAFillIsStored(t *testing.T) {
	var set func(value reflect.Value)
	set = func(value reflect.Value) {
		for i := range value.NumField() {
			switch f := value.Field(i); f.Kind() {
			case reflect.Bool:
				f.SetBool(true)
			case reflect.String:
				f.SetString("word")
			case reflect.Int, reflect.Int64:
				f.SetInt(int64(1000 + i))
			case reflect.Uint8, reflect.Uint16:
				f.SetUint(1)
			case reflect.Array:
				f.Index(3).SetUint(uint64(i + 1))
			case reflect.Struct:
				if value.Type().Field(i).Anonymous {
					set(f)
				}
			}
		}
	}
	fields := func(v any) { set(reflect.ValueOf(v).Elem()) }
	var o market.Order
	fields(&o)
	o.FilledAmountQuote, o.FeePaid, o.Bracket = market.ValueOf(-7), market.ValueOf(8), market.Bracket{Stop: 1,
		Target: 2, Keep: market.KeepTarget}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(o)) {
		require.False(t, reflect.ValueOf(o).FieldByIndex(f.Index).IsZero(), f.Name)
	}
	text, err := json.Marshal(&storedRecord{Order: o})
	require.NoError(t, err)
	var stored storedRecord
	require.NoError(t, json.Unmarshal(text, &stored))
	require.Equal(t, o, stored.Order)
	f := fill{Due: 12345}
	fields(&f.Fill)
	f.Fee = market.ValueOf(9)
	text, err = json.Marshal(&f)
	require.NoError(t, err)
	var kept fill
	require.NoError(t, json.Unmarshal(text, &kept))
	require.Equal(t, f, kept)
}

func TestShorterListsBeginWithTheNextStart(t *testing.T) {
	r := newKeptRig(t)
	for range 4 {
		r.send("bob", "POST", "/order",
			`{"market":"BTC-EUR","operatorId":1,"side":"sell","orderType":"limit","amount":"0.01","price":"90000"}`).
			ok(t)
		r.send("alice", "POST", "/order",
			`{"market":"BTC-EUR","operatorId":1,"side":"buy","orderType":"market","amount":"0.01"}`).ok(t)
	}
	r.kill()
	short := func(c *Config) { c.Retention = Retention{Orders: 2, Trades: 2, Transactions: 2} }
	for range 2 {
		require.NoError(t, r.reopen(short))
		for _, path := range []string{"/orders?market=BTC-EUR", "/trades?market=BTC-EUR"} {
			var rows []struct{ OrderID string }
			r.send("alice", "GET", path, "").json(t, &rows)
			require.Len(t, rows, 2, path)
			require.Equal(t, "00000000-0000-0001-0100-000000000008", rows[0].OrderID, path)
		}
		require.NoError(t, r.ex.Close())
	}
	require.NoError(t, r.reopen())
	r.send("alice", "GET", "/orders?market=BTC-EUR", "").says(t, "000000000008").says(t, "000000000006")
}

package sandbox

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
)

var steady = flag.Duration("steady", 0,
	"how long TestMemoryStaysFlatUnderSteadyLoad loads the exchange; 0: a short while, counted in requests")

// TestMemoryStaysFlatUnderSteadyLoad places, updates, cancels and reads without end at an exchange
// that remembers little, with prices that move and a house. Once its memories are full it grows no
// more. Ten minutes of it:
//
//	go test -timeout 15m -run SteadyLoad -v ./exchange/sandbox -steady 10m
func TestMemoryStaysFlatUnderSteadyLoad(t *testing.T) {
	if raced {
		t.Skip("the race detector keeps a shadow of the memory, and the requests come one after another")
	}
	r := newRig(t, func(c *Config) {
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		c.Retention = Retention{Orders: 200, Trades: 200, Candles: 60, Transactions: 50}
		c.Markets[0].Source = prices.Synthetic{Price: "30000"}
		c.Markets[0].Liquidity = Liquidity{Levels: 20, HalfSpread: 10_000, Size: "0.5"}
	})
	load := &steadyLoad{r: r, chance: rand.New(rand.NewPCG(1, 1))}
	warm := 1200
	if *steady > 0 {
		warm = 3000
	}
	load.run(warm)
	began, full, requests := time.Now(), alive(), warm
	for rounds := 0; rounds < 3 || time.Since(began) < *steady; rounds++ {
		load.run(warm)
		requests += warm
		require.Less(t, float64(alive()), 1.15*float64(full), "after %d requests", requests)
	}
	t.Logf("%d requests: %.1f MB after the first %d, %.1f MB in the end", requests, float64(full)/1e6, warm,
		float64(alive())/1e6)
}

// alive is what is alive.
func alive() uint64 {
	runtime.GC()
	runtime.GC() // what pools hold survives one
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// steadyLoad is two clients with much to do.
type steadyLoad struct {
	r      *rig
	chance *rand.Rand
	open   []string // orders that may be open, with their account
}

func (l *steadyLoad) run(requests int) {
	for range requests {
		l.r.pass(200 * time.Millisecond)
		l.step([...]string{"alice", "bob"}[l.chance.IntN(2)])
	}
}

func (l *steadyLoad) step(account string) {
	if len(l.open) > 20 {
		l.open = l.open[1:]
	}
	side := [...]string{"buy", "sell"}[l.chance.IntN(2)]
	switch draw := l.chance.IntN(10); {
	case draw < 4:
		client := fmt.Sprintf("00000000-0000-4000-8000-%012x", l.chance.Uint64()&0xffffffffffff)
		price := 30_000 + 100*l.chance.IntN(11) - 500
		l.r.send(account, "POST", "/order",
			fmt.Sprintf(`{"market":"BTC-EUR","side":"%s","orderType":"limit","operatorId":1,"amount":"0.01","price":"%d","clientOrderId":"%s"}`, side, price, client))
		l.open = append(l.open, client)
	case draw < 6:
		l.r.send(account, "POST", "/order",
			fmt.Sprintf(`{"market":"BTC-EUR","side":"%s","orderType":"market","operatorId":1,"amount":"0.01"}`, side))
	case draw < 8 && len(l.open) > 0:
		l.r.send(account, "DELETE",
			"/order?market=BTC-EUR&operatorId=1&clientOrderId="+l.open[l.chance.IntN(len(l.open))], "")
	case draw == 8:
		l.r.send(account, "DELETE", "/orders?market=BTC-EUR&operatorId=1", "")
	default:
		l.r.send(account, "GET", "/orders?market=BTC-EUR&limit=50", "")
	}
}

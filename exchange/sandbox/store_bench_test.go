package sandbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"go.etcd.io/bbolt"
)

// BenchmarkStoredOrder places signed orders in an exchange that keeps them in a file, beside the
// least that a disk takes: one page written and synced. What an order costs without a file is
// BenchmarkSignedOrder's.
func BenchmarkStoredOrder(b *testing.B) {
	folder := b.TempDir()
	r := newRig(b, stateful(filepath.Join(folder, "exchange.db")),
		func(c *Config) { c.Budget = api.Budget{PerKey: -1, PerIP: -1} })
	kept := newLoad(b, r.request("alice", "POST", "/order", benchOrder).Header, r.ex)
	file, err := os.Create(filepath.Join(folder, "page"))
	require.NoError(b, err)
	page, synced := make([]byte, 4096), time.Duration(0)
	for b.Loop() {
		start := time.Now()
		_, err := file.WriteAt(page, 0)
		require.NoError(b, err)
		require.NoError(b, file.Sync())
		synced += time.Since(start)
		kept.send()
	}
	b.ReportMetric(0, "ns/op") // the time of both together says nothing
	kept.report("stored")
	b.ReportMetric(float64(synced.Microseconds())/float64(b.N), "sync-µs")
	require.NoError(b, file.Close())
	require.NoError(b, r.ex.Close())
}

// BenchmarkRecall opens an exchange of 10,000 open orders, and tells how many bytes of file each of
// them takes.
func BenchmarkRecall(b *testing.B) {
	const orders = 10_000
	path := filepath.Join(b.TempDir(), "exchange.db")
	free := func(c *Config) {
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		c.Markets[0].MaxOpenOrders = 0
	}
	r := newRig(b, free)
	r.ex.config.State = path
	require.NoError(b, r.ex.openStore())
	require.NoError(b, r.ex.openState())
	post, _ := route("POST", "/order")
	for n := range orders {
		c := &api.Call{Account: 1, Now: r.ex.reached, Endpoint: post}
		require.Nil(b, r.ex.door.Decode(c, "", "",
			[]byte(fmt.Sprintf(`{"market":"BTC-EUR","operatorId":1,"side":"buy","orderType":"limit","amount":"0.001","price":"%d"}`, 10_000+n%500))))
		require.Nil(b, r.ex.postOrder(c))
	}
	require.NoError(b, r.ex.Close())
	info, err := os.Stat(path)
	require.NoError(b, err)
	for b.Loop() {
		require.NoError(b, r.reopen(free))
		require.Equal(b, orders, r.ex.accounts[0].orders[1].open.length)
		require.NoError(b, r.ex.Close())
	}
	b.ReportMetric(float64(info.Size())/orders, "bytes/order")
}

// BenchmarkStoredOrders places signed orders over several connections at a time in an exchange that
// keeps them in a file: those that wait for the disk share a commit.
func BenchmarkStoredOrders(b *testing.B) {
	for _, connections := range []int{1, 4, 8, 16} {
		b.Run(fmt.Sprint(connections), func(b *testing.B) {
			r := newRig(b, stateful(filepath.Join(b.TempDir(), "exchange.db")), func(c *Config) {
				c.Budget = api.Budget{PerKey: -1, PerIP: -1}
				c.Markets[0].MaxOpenOrders = 0
			})
			header := r.request("alice", "POST", "/order", benchOrder).Header
			server := httptest.NewServer(r.ex)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
			var sent atomic.Int64
			var sending sync.WaitGroup
			commits := func() (id int) {
				require.NoError(b, r.ex.store.db.View(func(tx *bbolt.Tx) error { id = tx.ID(); return nil }))
				return id
			}
			before := commits()
			b.ResetTimer()
			for range connections {
				sending.Go(func() {
					l := &load{b: b, client: client, url: server.URL + api.Version + "/order", header: header}
					for sent.Add(1) <= int64(b.N) {
						l.send()
					}
				})
			}
			sending.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
			b.ReportMetric(float64(b.N)/float64(commits()-before), "orders/commit")
			client.CloseIdleConnections()
			server.Close()
			require.NoError(b, r.ex.Close())
		})
	}
}

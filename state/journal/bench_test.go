package journal

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// median of numbers; they are sorted in place.
func median[T ~int64 | ~float64](numbers []T) float64 {
	slices.Sort(numbers)
	return float64(numbers[len(numbers)/2])
}

// addIntent puts the intent of a new order into a batch: what one step of the live loop makes
// durable before it sends.
func addIntent(b *Batch, o *state.Order, intent *Intent, id market.OrderID) {
	o.ID, o.ClientOrderID = id, market.ClientOrderID(testRun, id)
	intent.Command.Order = o.Order
	b.Journal(market.Time(id), intent)
	b.Order(o)
}

// end closes an order, so that few are open at a time, as in life.
func end(b *testing.B, s *Store, batch *Batch, o *state.Order) {
	ended := *o
	ended.State = state.Filled
	batch.Order(&ended)
	require.NoError(b, s.Commit(batch))
}

// BenchmarkIntentDurable commits one order's intent, with its row and indexes, beside a bare bbolt
// Update that puts the same number of bytes under one key in a row of keys, with the options that
// bbolt has by itself: its list of free pages is written at each commit, ours is not. Medians of
// alternating commits; xfloor is the median of the ratios of neighbours, which a disk that is busy
// with other work disturbs less.
func BenchmarkIntentDurable(b *testing.B) {
	s := botStore(b)
	batch, o := s.NewBatch(), ownOrder(1)
	intent := intentOf(o)
	bare, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, &bbolt.Options{InitialMmapSize: 256 << 20})
	require.NoError(b, err)
	defer bare.Close()
	bare.AllocSize = s.db.AllocSize
	addIntent(batch, o, intent, 1)
	payload := make([]byte, len(batch.enc.Buf))
	batch.Reset()
	var store, floor []time.Duration
	id := market.OrderID(0)
	for b.Loop() {
		id++
		floor = append(floor, elapsed(func() {
			err := bare.Update(func(tx *bbolt.Tx) error {
				bucket, err := tx.CreateBucketIfNotExists(bucketJournal)
				if err != nil {
					return err
				}
				return bucket.Put(binary.BigEndian.AppendUint64(nil, uint64(id)), payload)
			})
			require.NoError(b, err)
		}))
		store = append(store, elapsed(func() {
			addIntent(batch, o, intent, id)
			require.NoError(b, s.Commit(batch))
		}))
		end(b, s, batch, o)
	}
	ratios := make([]float64, len(store))
	for i := range ratios {
		ratios[i] = float64(floor[i]) / float64(store[i])
	}
	b.ReportMetric(median(ratios), "xfloor")
	b.ReportMetric(median(floor)/1e3, "floor-µs")
	b.ReportMetric(median(store)/1e3, "µs/intent")
	b.ReportMetric(float64(len(payload)), "B")
}

// BenchmarkIntentsDrained commits 64 intents together, beside one at a time, in turn.
func BenchmarkIntentsDrained(b *testing.B) {
	const drained = 64
	s := botStore(b)
	batch, o := s.NewBatch(), ownOrder(1)
	intent := intentOf(o)
	var single, group []time.Duration
	id := market.OrderID(0)
	for b.Loop() {
		for range 8 {
			single = append(single, elapsed(func() {
				id++
				addIntent(batch, o, intent, id)
				require.NoError(b, s.Commit(batch))
			}))
			end(b, s, batch, o)
		}
		group = append(group, elapsed(func() {
			for range drained {
				id++
				addIntent(batch, o, intent, id)
			}
			require.NoError(b, s.Commit(batch))
		}))
	}
	b.ReportMetric(median(single)/1e3, "single-µs")
	b.ReportMetric(median(group)/drained/1e3, "µs/intent")
	b.ReportMetric(median(single)*drained/median(group), "xsingle")
}

// BenchmarkBlobInACommit commits the intent of an order with a blob of nine bytes, the number of
// the recording's next record, beside the same commit without it, in turn. xfloor is the median of
// the ratios of neighbours.
func BenchmarkBlobInACommit(b *testing.B) {
	s := botStore(b)
	batch, o := s.NewBatch(), ownOrder(1)
	intent := intentOf(o)
	var took [2][]time.Duration // without and with
	id, value := market.OrderID(0), make([]byte, 9)
	for b.Loop() {
		for with := range took {
			id++
			took[with] = append(took[with], elapsed(func() {
				addIntent(batch, o, intent, id)
				if with == 1 {
					binary.BigEndian.PutUint64(value, uint64(id))
					batch.Blob("recording", value)
				}
				require.NoError(b, s.Commit(batch))
			}))
			end(b, s, batch, o)
		}
	}
	ratios := make([]float64, len(took[0]))
	for i := range ratios {
		ratios[i] = float64(took[1][i]) / float64(took[0][i])
	}
	b.ReportMetric(median(ratios), "xfloor")
	b.ReportMetric((median(took[1])-median(took[0]))/1e3, "µs/blob")
	b.ReportMetric(median(took[1])/1e3, "µs/commit")
}

// BenchmarkBatch is the part of a commit that is not bbolt's: encoding an intent and its order.
func BenchmarkBatch(b *testing.B) {
	s := botStore(b)
	batch, o := s.NewBatch(), ownOrder(1)
	intent := intentOf(o)
	b.ReportAllocs()
	for b.Loop() {
		batch.Journal(1, intent)
		batch.Order(o)
		batch.Reset()
	}
}

func TestAddingToABatchDoesNotAllocate(t *testing.T) {
	s := botStore(t)
	b, o := s.NewBatch(), ownOrder(1)
	intent, report := intentOf(o), &ReportEntry{Report: market.ReportOf(&o.Order, market.ExecNew),
		Fills: []market.Fill{fillOf(o, 1, 1, 1)}}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		b.Journal(1, intent)
		b.Order(o)
		b.Journal(1, report)
		b.Fill(&report.Fills[0])
		b.Cursor(1, "candles", o.ClientOrderID[:])
		b.Reset()
	}))
}

func elapsed(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}

package market_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

func TestIndexDoesWhatAMapDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var index market.Index[int]
		twin := map[market.OrderID]*int{}
		stride := rapid.SampledFrom([]market.OrderID{1, 1, 3, 8, 16, 64}).Draw(t, "stride") // 8 and above collide
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			id := stride * market.OrderID(rapid.IntRange(1, 40).Draw(t, "id"))
			if rapid.Bool().Draw(t, "put") {
				what := new(int)
				index.Put(id, what)
				twin[id] = what
			} else {
				index.Delete(id)
				delete(twin, id)
			}
			require.Equal(t, len(twin), index.Len())
			for n := market.OrderID(0); n <= 41; n++ {
				require.Same(t, twin[n*stride], index.Get(n*stride))
			}
		}
	})
}

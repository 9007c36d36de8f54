package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whenever a viewer comes and however often it looks, it has the texts of the latest answers after
// each event.
func TestEachViewerHasTheLatestTextsAfterAnEvent(t *testing.T) {
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 1))
	beat, docs := &beats{}, madeUp()
	docs.Risk = madeUpRisk()
	type seer struct {
		told uint64
		has  map[string]string
	}
	viewers := make([]seer, 6)
	for range 400 {
		if chance.IntN(2) == 0 {
			next, status := *docs, *docs.Status
			status.Equity = fmt.Sprint(chance.IntN(5))
			status.OpenOrders = chance.IntN(3)
			next.Status = &status
			docs = &next
		}
		v := &viewers[chance.IntN(len(viewers))]
		if chance.IntN(9) == 0 {
			*v = seer{} // it loads the page anew
		}
		event, data := beat.tell(docs, &v.told)
		if data != "" {
			require.Equal(t, "cells", event)
			var cells map[string]string
			require.NoError(t, json.Unmarshal([]byte(data), &cells))
			if v.has == nil {
				v.has = map[string]string{}
			}
			maps.Copy(v.has, cells)
		}
		require.Equal(t, textsOf(docs), v.has, "seed %d", seed)
	}
}

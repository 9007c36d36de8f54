package state

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// fillNumber is a fill whose id is made of a number.
func fillNumber(n int) *market.Fill {
	f := &market.Fill{}
	binary.BigEndian.PutUint64(f.ID[:], uint64(n)+1)
	return f
}

// Few fills are searched one by one, many by an index that is made when it is needed: both find the
// same.
func TestAFillIsFoundAmongFewAndAmongMany(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	o := &Order{}
	for n := range 500 {
		o.addMark(fillNumber(n))
		some := chance.IntN(n + 1)
		require.Same(t, &o.fills[some], o.markOf(fillNumber(some)), "fill %d of %d", some, n+1)
		require.Nil(t, o.markOf(fillNumber(n+1)))
	}
	require.NotNil(t, o.index)
}

// An order's memory is used again for another order, which knows none of its fills.
func TestAnOrderKnowsNoFillsOfTheOneBeforeIt(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 1000*eur)
	first := d.send(market.Buy, btc, 10*at1, 10*eur)
	for n := range 100 {
		first.addMark(fillNumber(n))
	}
	require.NotNil(t, first.markOf(fillNumber(7)))
	d.tell(d.report(first, market.ExecCanceled, market.StatusCanceled))
	d.deposit(1, d.m.Quote, eur) // its memory is free from the next event on
	second := d.send(market.Buy, btc, 10*at1, 10*eur)
	require.Same(t, first, second)
	for n := range 40 {
		second.addMark(fillNumber(1000 + n))
	}
	require.Nil(t, second.markOf(fillNumber(7)))
}

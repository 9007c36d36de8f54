package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/rerun/orders"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/osfile"
	"github.com/tidemark-trading/tidemark/strategy"
)

// lockWatch is a context that notes whether a file is held each time that it is asked whether it
// has ended.
type lockWatch struct {
	context.Context
	path string
	held error // when it was asked last; nil: the file was not held
}

// Err is of context.Context.
func (w *lockWatch) Err() error {
	file, err := os.OpenFile(w.path, os.O_RDWR, 0)
	if err == nil {
		w.held = osfile.TryLock(file)
		err = file.Close()
	}
	if err != nil {
		panic(err)
	}
	return w.Context.Err()
}

// The order log of a bot says of each order what the exchange says, and names the time in which the
// bot did not run.
func TestTheOrderLogSaysWhatTheExchangeSays(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		p := s.start()
		time.Sleep(2 * time.Minute)
		p.kill()
		p.bury()
		time.Sleep(time.Minute)
		p = s.start()
		time.Sleep(2 * time.Minute)
		require.NoError(t, p.end())
		watched := &lockWatch{Context: context.Background(), path: filepath.Join(s.Folder, statedir.StateFile)}
		log, err := orders.Read(watched, s.Folder, orders.Options{})
		require.NoError(t, err)
		require.NoError(t, watched.held, "a bot can start while the recording is read")
		require.Len(t, log.Runs, 2)
		require.Zero(t, log.Runs[0].Ended)
		require.NotZero(t, log.Runs[1].Ended)
		require.Len(t, log.Gaps, 1)
		require.Contains(t, log.Gaps[0].Text, "the bot did not run")
		// a kill loses the last records too
		require.GreaterOrEqual(t, log.Gaps[0].To.Sub(log.Gaps[0].From), time.Minute)

		theirs := s.OrdersAtTheExchange()
		whole, took, rested, touched := 0, 0, 0, 0
		for _, o := range log.Orders {
			record, there := theirs[o.ClientID]
			delete(theirs, o.ClientID)
			if !there {
				require.Equal(t, state.Rejected, o.State)
				require.Zero(t, o.Accepted)
				continue
			}
			of := &record.Order
			filled := market.Qty(0)
			for i := range o.Fills {
				filled += o.Fills[i].Amount
			}
			require.Equal(t, of.FilledAmount, filled)
			require.Equal(t, of.Done(), o.State.Terminal())
			if of.Done() {
				require.Equal(t, of.Updated, market.FloorTo(o.Ended, 1000))
			}
			if len(o.Lacks) > 0 {
				continue
			}
			whole++
			place := o.Place()
			require.Equal(t, of.Created, market.FloorTo(o.Accepted, 1000))
			require.LessOrEqual(t, place.Decided, place.Sent)
			require.Less(t, place.Sent, o.Accepted)
			require.Less(t, o.Accepted, place.Answered)
			require.LessOrEqual(t, o.Decision.At, place.Decided)
			if place.Cause.Kind == market.KindTicker {
				require.Equal(t, place.Cause.At, o.Decision.At)
			}
			require.LessOrEqual(t, o.Arrival.At, o.Accepted)
			require.Equal(t, o.Took, slices.ContainsFunc(o.Fills,
				func(f market.Fill) bool { return f.Taker && f.Time/1e6 == o.Accepted/1e6 }))
			for i := range o.Rests {
				rested, touched = rested+1, touched+len(o.Rests[i].Touches)
				require.LessOrEqual(t, o.Rests[i].Known, o.Rests[i].To)
			}
			// an order that ends as it arrives, because of postOnly, never rests
			if took += len(o.Fills); !o.Took && of.Type == market.TypeLimit && of.Created != of.Updated {
				require.NotEmpty(t, o.Rests)
				require.Equal(t, o.Accepted, o.Rests[0].From)
				require.Equal(t, o.Ended, o.Rests[len(o.Rests)-1].To)
			}
		}
		require.Empty(t, theirs)
		require.Greater(t, whole, len(log.Orders)*3/4)
		require.Greater(t, took, 5)
		require.Greater(t, rested, 30)
		require.Greater(t, touched, 5)
	})
}

// takerKind buys and sells at the market in turn, and rests an order a little away.
var takerKind = scripted("taker", func() onTicker {
	var tickers int
	return func(d *strategy.Desk, t market.Ticker) {
		const hundredth = market.Qty(1_000_000)
		switch tickers++; tickers % 4 {
		case 1:
			_, _ = d.In(t.Market).Buy(strategy.Amount(hundredth))
		case 3:
			_, _ = d.In(t.Market).Sell(strategy.Amount(hundredth))
		}
	}
})

// What a bot's orders say about the exchange is what the exchange is set to, and the section that
// holds it is one of a backtest.
func TestAssumptionsAreMeasuredFromTheOrdersOfABot(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		s.kinds = append(s.kinds, takerKind)
		s.config = strings.NewReplacer("strategies.restless", "strategies.taker", `"restless"`, `"taker"`,
			"params.seed = 4\n", "", "max_daily_loss = \"4000\"", "max_daily_loss = \"0\"").Replace(s.config)
		p := s.start()
		time.Sleep(3 * time.Minute)
		require.NoError(t, p.end())
		file := filepath.Join(t.TempDir(), "measured.toml")
		printed := s.told(nil, "gap", "--write-assumptions", file)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		c, err := config.LoadBacktest(&config.Source{File: file, Text: string(text)})
		require.NoError(t, err)
		b := &c.Backtest
		require.Greater(t, b.Measured.Orders, int64(40))
		require.Equal(t, b.Measured.HalfSpreadBPS, b.HalfSpreadBPS)
		half, err := strconv.ParseFloat(b.HalfSpreadBPS.String(), 64)
		require.NoError(t, err)
		require.InDelta(t, 0.7, half, 0.1) // two of some 28,000 euros
		slipped, err := strconv.ParseFloat(b.SlippageBPS.String(), 64)
		require.NoError(t, err)
		require.InDelta(t, 0, slipped, 3) // the house quotes without end; prices move until they are heard
		require.InDelta(t, 7.5, time.Duration(b.Measured.Latency).Seconds()*1000, 3)
		require.Zero(t, b.Latency)
		require.Contains(t, printed, "half spread at arrival")
	})
}

package runner

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// lateParams are the parameters of lateKind.
type lateParams struct {
	After  int64 `toml:"after" default:"0" min:"0" doc:"seconds after its first ticker"`
	Amount int64 `toml:"amount" default:"1" min:"0" doc:"of its purchase"`
}

// lateKind buys once, at a time, with a stop.
var lateKind = strategy.Define("late", "buys once, at a time",
	func(lateParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p lateParams, _ strategy.Setup) (strategy.Strategy, error) { return &late{params: p}, nil })

type late struct {
	strategy.Base
	params lateParams
	began  market.Time
	bought bool
}

func (s *late) OnTicker(d *strategy.Desk, t market.Ticker) {
	if s.began == 0 {
		s.began = d.Now()
	}
	if s.bought || d.Now() < s.began.Add(market.Duration(s.params.After)*market.Duration(time.Second)) {
		return
	}
	_, err := d.In(t.Market).Buy(strategy.Amount(market.Qty(s.params.Amount)), strategy.StopAt(t.Last-5_000_00))
	s.bought = err == nil
}

const lateStrategies = `
[strategies.first]
kind = "late"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "4000"
operator_id = 7
params.after = 60
params.amount = 1000000
[strategies.second]
kind = "late"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "4000"
operator_id = 8
params.amount = 2000000
`

// lateStage is a stage of two strategies in one market, of which the second buys first. The account
// has coins of the owner.
func lateStage(t *testing.T) *stage {
	s := newStage(t, 7, func(c *sandbox.Config) { c.Markets[0].Source = prices.Fixed("30000") })
	s.kinds = append(s.kinds, lateKind)
	s.config = fmt.Sprintf(lifeHead+lateStrategies, false)
	return s
}

// sellsFor is a switch that sells for strategies, in their order, and may cancel their exits first.
func (s *stage) sellsFor(cancels bool, wants ...killswitch.Want) {
	client, units := s.client(bottest.AuditorKey, "secret of the auditor")
	log, err := OpenSwitchLog(filepath.Join(s.Folder, killswitch.LogFile))
	require.NoError(s.T, err)
	w := &killswitch.Switch{Exchange: client, Catalog: units, Log: log, Operator: 7,
		Own: func(*market.Order) bool { return true }, Say: func(string, ...any) {}}
	require.NoError(s.T, w.Begin("bot cancel-all --direct --flatten", true))
	if cancels {
		require.NoError(s.T, w.Cancel(context.Background()))
	}
	require.NoError(s.T, w.Sell(context.Background(), wants))
	report, err := w.End()
	require.NoError(s.T, err)
	require.True(s.T, report.Done)
	require.NoError(s.T, log.Close())
}

// both is what the two strategies hold, and how many brackets lack an exit. Nothing is in flight.
func (s *stage) both(p *process) (first, second market.Qty, bare int) {
	var flaw error
	var inFlight []market.OrderID
	p.look(func() {
		first, second = p.account.Position(1, 1).Amount, p.account.Position(2, 1).Amount
		bare, flaw = len(p.engine.Brackets().Bare()), p.account.Check()
		for _, o := range p.account.Pending(nil) {
			if o.InFlight != 0 {
				inFlight = append(inFlight, o.ID)
			}
		}
	})
	require.NoError(s.T, flaw)
	require.Empty(s.T, inFlight)
	return first, second, bare
}

// The kill switch sells for two strategies, first for the one of which a restored copy does not
// know the purchase. The start with the copy takes nothing from the other, whose sale is still to
// be booked.
func TestASaleOfTheKillSwitchTakesNothingThatALaterOneHasSold(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := lateStage(t)
		p := s.start()
		time.Sleep(30 * time.Second)
		file := p.copyState()
		time.Sleep(time.Minute)
		p.kill()
		p.bury()
		s.sellsFor(true, killswitch.Want{Strategy: "first", Market: 1, Amount: 1_000_000, Operator: 7},
			killswitch.Want{Strategy: "second", Market: 1, Amount: 2_000_000, Operator: 8})
		s.putBack(file)
		p = s.start()
		time.Sleep(3 * time.Minute)
		first, second, bare := s.both(p)
		require.Zero(t, first)
		require.Zero(t, second)
		require.Zero(t, bare)
		require.Empty(t, s.OpenAtTheExchange())
		require.NoError(t, p.end())
	})
}

// The kill switch sells for a strategy what that does not hold, beside a running bot. What the exit
// of another strategy holds is not that, and stays. Where its exit is refused, its base is, and the
// next exit is smaller.
func TestASaleOfTheKillSwitchTakesWhatNoExitHolds(t *testing.T) {
	bottest.Unraced(t)
	for name, refuses := range map[string]bool{"its exit rests": false, "its exit is refused": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, left := lateStage(t), market.Qty(2_000_000)
				s.edit("params.after = 60", "params.after = 6000000")
				if refuses {
					left = 1_500_000
					s.wrap = func(next http.RoundTripper) http.RoundTripper { return &stopless{next: next} }
				}
				p := s.start()
				time.Sleep(30 * time.Second)
				following, end := context.WithCancel(t.Context())
				go p.direct.follow(following, p.loop)
				s.sellsFor(false, killswitch.Want{Strategy: "first", Market: 1, Amount: 500_000, Operator: 7})
				time.Sleep(3 * time.Minute)
				first, second, bare := s.both(p)
				require.Zero(t, first)
				require.Equal(t, left, second)
				require.Equal(t, refuses, bare == 1)
				if !refuses {
					require.Equal(t, left, s.resting().AmountRemaining)
				}
				end()
				require.NoError(t, p.end())
			})
		})
	}
}

package runner

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/internal/lives"
	"github.com/tidemark-trading/tidemark/market"
)

// sellsDirectly does what bot cancel-all --direct --flatten does, step by step.
func (p *player) sellsDirectly(*lives.Event) {
	p.mu.Lock()
	p.around.with(func(a *around) { a.uncover = true })
	p.handOn()
	folder := p.Folder
	p.mu.Unlock()
	p.switching.Add(1)
	p.done.Go(func() {
		defer p.switching.Add(-1)
		holdings, err := killswitch.ReadHoldings(folder)
		if err != nil || holdings == nil {
			p.says("bot cancel-all --direct --flatten: %v", err)
			return
		}
		log, err := OpenSwitchLog(filepath.Join(folder, killswitch.LogFile))
		if errors.Is(err, killswitch.ErrBusy) {
			return // another switch is at work
		}
		require.NoError(p.T, err)
		names := killswitch.NewNames(holdings, log.Lines())
		s := &killswitch.Switch{Exchange: p.Auditor, Catalog: p.Units, Log: log, Operator: 7, Say: p.says,
			Confirmed: names.Confirmed(p.Units), Own: func(o *market.Order) bool { return names.Own(o.ClientOrderID) }}
		err = p.sellsOut(s, holdings)
		report, ended := s.End()
		p.says("bot cancel-all --direct --flatten: %v %+v", errors.Join(err, ended), report)
		require.NoError(p.T, log.Close())
	})
}

func (p *player) sellsOut(s *killswitch.Switch, holdings *killswitch.Holdings) error {
	ctx, names := context.Background(), killswitch.NewNames(holdings, s.Log.Lines())
	operator := func(string) int64 { return 7 }
	if err := s.Begin("bot cancel-all --direct --flatten", true); err != nil {
		return err
	}
	held, err := s.Held(names, operator)
	if err != nil {
		return err
	}
	defer s.Leave(held)
	s.KeepExits(ctx, held)
	if err := s.Cancel(ctx); err != nil {
		return err
	}
	time.Sleep(15 * time.Second) // the window of the bot's last request
	if err := s.Cancel(ctx); err != nil {
		return err
	}
	unknown, err := s.Settle(ctx)
	if err != nil {
		return err
	}
	wants, err := s.Wants(ctx, killswitch.NewNames(holdings, s.Log.Lines()), operator)
	if err != nil {
		return s.Fail(err)
	}
	for i := range wants {
		if m := s.Catalog.Market(wants[i].Market); holdings.AtMS == p.newer {
			l := p.reads()[m.Name]
			p.guard.Knows(m.Name, int64(wants[i].Amount), &l)
		}
	}
	return s.Sell(ctx, slices.DeleteFunc(wants, func(w killswitch.Want) bool {
		return unknown[s.Catalog.Market(w.Market).Name] || w.Amount <= 0
	}))
}

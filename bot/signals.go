package bot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/door"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/state/signals"
)

// lateEar is the ear of a bot that may still start: then it hears nothing.
type lateEar struct{ of atomic.Pointer[signals.Ear] }

// errStarts is what a door hears of a bot that has no ear yet.
var errStarts = errors.New("the bot starts")

// Hear is of signals.Ear.
func (e *lateEar) Hear(ctx context.Context, a signals.Arrival) (signals.Heard, error) {
	of := e.of.Load()
	if of == nil {
		return signals.Heard{}, errStarts
	}
	return (*of).Hear(ctx, a)
}

// open makes a bot hear.
func (e *lateEar) open(of signals.Ear) { e.of.Store(&of) }

// hearing are the ways in which signals come to a bot: its companions.
func (a *app) hearing(p *plan.Live, ear signals.Ear, log zerolog.Logger) (all []companion, err error) {
	c := door.Config{Ear: ear, Proxied: p.Config.Signals.Door.BehindProxy, Allow: p.Door.Allow,
		Certificate: p.Door.Certificate, Clients: p.Door.Clients, Log: log}
	for _, name := range slices.Sorted(maps.Keys(p.Config.Signals.Sources)) {
		s := p.Config.Signals.Sources[name]
		o, err := p.SignalOptions(name)
		if err != nil {
			return nil, fmt.Errorf("signals %s: %w", name, err)
		}
		lines := func(proof string) door.Lines {
			return door.Lines{Source: name, Sender: signals.NewSender(name, o), Ear: ear, Proof: proof, Log: log}
		}
		switch s.Live {
		case config.LiveFile:
			all = append(all, companion{"file of signals " + s.File, func(ctx context.Context) error {
				f := door.File{Lines: lines(signals.ProofFile), Path: s.File,
					Place: filepath.Join(p.Config.Bot.State, url.PathEscape(name)+statedir.PlaceExt)}
				return f.Run(ctx)
			}})
		case config.LiveStdin:
			all = append(all, companion{"standard input with signals", func(ctx context.Context) error {
				return (&door.Pipe{Lines: lines(signals.ProofStdin), From: a.Stdin}).Run(ctx)
			}})
		}
		for _, one := range p.Door.Sources {
			if one.Name == name {
				one.Sender = signals.NewSender(name, o)
				c.Sources = append(c.Sources, one)
			}
		}
	}
	if len(c.Sources) > 0 {
		all = append(all, companion{"door of signals", func(ctx context.Context) error {
			return openDoor(ctx, &p.Config.Signals.Door, &c)
		}})
	}
	return all, nil
}

// openDoor answers at the door of signals until ctx ends. The log names the address, no secret.
func openDoor(ctx context.Context, s *config.DoorSection, c *door.Config) error {
	on, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("door of signals: %s is in use by another program; stop that one, or choose another "+
			"signals.door.listen", s.Listen)
	} else if err != nil {
		return fmt.Errorf("door of signals: %w", err)
	}
	scheme := "http"
	if c.Certificate != nil {
		scheme = "https"
	}
	names := make([]string, len(c.Sources))
	for i := range c.Sources {
		names[i] = c.Sources[i].Name
	}
	c.Log.Info().Str("address", scheme+"://"+on.Addr().String()+"/signal").Strs("sources", names).
		Msg("the door of signals listens")
	return door.New(*c).Serve(ctx, on)
}

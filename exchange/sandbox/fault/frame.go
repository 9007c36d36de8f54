package fault

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Frame is a frame that is about to leave on a socket, or a subscription that is about to begin.
type Frame struct {
	Channel string // of Channels
	Market  string // of an event; "": of several, or of none
	Account int    // that the socket is authenticated as; 0: none
}

// FrameEffect is the effect of a script's faults on a frame. The zero value lets it pass.
type FrameEffect struct {
	End, Cut, Twice, Skip, Swap, Silence bool
	Delay                                market.Duration
	Over                                 chan struct{} // ends the delay
}

// Strike returns the effect of the faults on a frame that leaves at a time.
func (s *Script) Strike(one Frame, at market.Time) (e FrameEffect) {
	e.Over = s.over
	s.each(one, at, func(f *Rule) {
		switch f.Kind {
		case DropSocket:
			e.End = true
		case CutFrame:
			e.End, e.Cut = true, true
		case DelayFrame:
			e.Delay += f.Delay
		case DuplicateFrame:
			e.Twice = true
		case SkipFrame:
			e.Skip = true
		case SwapFrames:
			e.Swap = true
		case Silence:
			e.Silence = true
		}
	}, DropSocket, Silence)
	return e
}

// Refuses reports whether the faults refuse a handshake.
func (s *Script) Refuses(at market.Time) (refused bool) {
	s.each(Frame{}, at, func(*Rule) { refused = true }, RefuseSocket, RefuseSocket)
	return refused
}

// Mutes reports whether the faults keep a subscription from getting events.
func (s *Script) Mutes(one Frame, at market.Time) (muted bool) {
	s.each(one, at, func(*Rule) { muted = true }, Mute, Mute)
	return muted
}

// each calls strike for each fault of some kinds that strikes a frame.
func (s *Script) each(one Frame, at market.Time, strike func(*Rule), from, to Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		passed := at.Sub(s.start)
		switch {
		case f.Kind < from, f.Kind > to, passed < f.After, f.Until != 0 && passed >= f.Until:
		case f.Channel != "" && f.Channel != one.Channel, f.Market != "" && f.Market != one.Market:
		case f.account != 0 && f.account != one.Account:
		case f.strikes():
			f.fired++
			strike(f)
		}
	}
}

// MeetsSockets reports whether any fault waits for sockets.
func (s *Script) MeetsSockets() bool {
	return slices.ContainsFunc(s.faults, func(f *Rule) bool { return f.Kind.OfSocket() })
}

package sandbox

import (
	"sync"

	"github.com/tidemark-trading/tidemark/market"
)

// pump carries out due events while sockets are open: their clients do not ask.
type pump struct {
	mu      sync.Mutex // guards everything below; it may be taken while the exchange's lock is held
	sockets int
	stop    chan struct{} // of the running pump
	woken   chan struct{} // closed when something may be due earlier; nil: it has been
}

// enter notes a socket, and starts the pump with the first.
func (p *pump) enter(ex *Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sockets++; p.sockets == 1 {
		p.stop, p.woken = make(chan struct{}), make(chan struct{})
		go p.run(ex, p.stop)
	}
}

// leave notes the end of a socket.
func (p *pump) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sockets--; p.sockets == 0 {
		close(p.stop)
		p.wake()
	}
}

// nudge lets the pump look again when the next event is due.
func (p *pump) nudge() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wake()
}

func (p *pump) wake() {
	if p.woken != nil {
		close(p.woken)
		p.woken = nil
	}
}

// renew returns a channel for the next nudge.
func (p *pump) renew() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.woken == nil {
		p.woken = make(chan struct{})
	}
	return p.woken
}

func (p *pump) run(ex *Exchange, stop <-chan struct{}) {
	for {
		woken := p.renew()
		select {
		case <-stop:
			return
		default:
		}
		ex.Advance()
		ex.clock.wait(ex.nextDue(), woken)
	}
}

// nextDue is when the next scheduled event is due.
func (ex *Exchange) nextDue() market.Time {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	next := never - 1
	for _, d := range ex.schedule {
		next = min(next, d.due())
	}
	return next
}

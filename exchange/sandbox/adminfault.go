package sandbox

import (
	"github.com/tidemark-trading/tidemark/exchange"
)

// faultReport is a fault of the script at work with what it has met.
type faultReport struct {
	faultText
	Chosen int `json:"chosen"`
	Fired  int `json:"fired"`
}

// scriptReport is the answer of the endpoints of faults.
type scriptReport struct {
	Seed   uint64        `json:"seed"`
	Start  int64         `json:"start"` // Unix ms
	Faults []faultReport `json:"faults"`
}

// report writes down a script with what it has met so far.
func (s *faultScript) report() scriptReport {
	r := scriptReport{Seed: s.seed, Start: s.start.Millis(), Faults: []faultReport{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		r.Faults = append(r.Faults, faultReport{f.text(), f.chosen, f.fired})
	}
	return r
}

// adminFaults answers GET /admin/faults.
func (ex *Exchange) adminFaults(c *call) *exchange.Error {
	answerJSON(c, ex.script.report())
	return nil
}

// adminPutFaults answers PUT /admin/faults. A script with a mistake leaves the one before as it is.
func (ex *Exchange) adminPutFaults(c *call) *exchange.Error {
	faults, err := parseFaultList(c.text("faults"))
	if err != nil {
		return invalid(err)
	}
	seed := ex.config.Seed
	if c.has("seed") {
		seed = uint64(c.integer("seed", 0))
	}
	script, err := ex.loadFaults(faults, seed, c.now)
	if err != nil {
		return invalid(err)
	}
	ex.install(script)
	ex.advance(c.now) // what is scheduled for the beginning
	return ex.adminFaults(c)
}

// adminDeleteFaults answers DELETE /admin/faults. What has happened stays as it is: statuses, tick sizes, orders that come late.
func (ex *Exchange) adminDeleteFaults(c *call) *exchange.Error {
	ex.install(&faultScript{seed: ex.config.Seed, start: c.now, over: make(chan struct{})})
	return ex.adminFaults(c)
}

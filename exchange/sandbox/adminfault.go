package sandbox

import (
	"github.com/tidemark-trading/tidemark/exchange"
)

// adminFaults answers GET /admin/faults.
func (ex *Exchange) adminFaults(c *call) *exchange.Error {
	answerJSON(c, ex.script.report())
	return nil
}

// adminPutFaults answers PUT /admin/faults. A script with a mistake leaves the one before as it is.
func (ex *Exchange) adminPutFaults(c *call) *exchange.Error {
	faults, err := parseFaultList(c.text("faults"), isEndpoint)
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
	ex.install(&loadedScript{faultScript: newFaultScript(ex.front.table, ex.config.Seed, c.now)})
	return ex.adminFaults(c)
}

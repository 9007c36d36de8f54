package sandbox

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
)

// adminFaults answers GET /admin/faults.
func (ex *Exchange) adminFaults(c *api.Call) *exchange.Error {
	answerJSON(c, ex.script.Report())
	return nil
}

// adminPutFaults answers PUT /admin/faults. A script with a mistake leaves the one before as it is.
func (ex *Exchange) adminPutFaults(c *api.Call) *exchange.Error {
	faults, err := fault.ParseJSON(c.Text("faults"), isEndpoint)
	if err != nil {
		return invalid(err)
	}
	seed := ex.config.Seed
	if c.Has("seed") {
		seed = uint64(c.Integer("seed", 0))
	}
	script, err := ex.loadFaults(faults, seed, c.Now)
	if err != nil {
		return invalid(err)
	}
	ex.install(script)
	ex.advance(c.Now) // faults that are due at once
	return ex.adminFaults(c)
}

// adminDeleteFaults answers DELETE /admin/faults. What has happened stays as it is: statuses, tick
// sizes, orders that come late.
func (ex *Exchange) adminDeleteFaults(c *api.Call) *exchange.Error {
	ex.install(&loadedScript{Script: fault.NewScript(ex.door.Table, ex.config.Seed, c.Now)})
	return ex.adminFaults(c)
}

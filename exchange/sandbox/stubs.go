package sandbox

import "github.com/tidemark-trading/tidemark/exchange"

// Fault is a fault on demand.
type Fault struct{}

func (ex *Exchange) getBookReport(c *call) *exchange.Error   { return exchange.ErrCode(400) }
func (ex *Exchange) getTradesReport(c *call) *exchange.Error { return exchange.ErrCode(400) }

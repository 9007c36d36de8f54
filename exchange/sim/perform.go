package sim

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

func (v *Venue) Perform(a AccountID, at market.Time, c *market.Command) (refused *exchange.Error, err error) {
	panic("being written")
}
func (v *Venue) AppendDepth(id market.ID, levels int, bids, asks []market.Level) ([]market.Level, []market.Level) {
	panic("being written")
}
func (v *Venue) Best(id market.ID) (bid, ask market.Level) { panic("being written") }

func (v *Venue) NextTradeID(id market.ID) uuid.UUID { panic("being written") }

package bracket

import (
	"errors"
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// reportRefused reports a refusal by the gate.
func (s *brackets) reportRefused(b *bracket, cause strategy.Cause, err error) {
	var why *risk.Refusal
	code := 0
	if errors.As(err, &why) {
		code = why.Code
	}
	if haltCode(code) {
		cause = strategy.CauseHalted
	}
	s.report(b, cause, code, err.Error())
}

// haltCode reports whether an exchange's code means that the market takes no orders now.
func haltCode(code int) bool {
	switch code {
	case exchange.CodeHalted, exchange.CodeCancelOnly, exchange.CodeAuction, exchange.CodeAuctionMatching,
		exchange.CodeNotTrading:
		return true
	}
	return false
}

// endCause is why an ended exit without a fill protects no more.
func endCause(o *state.Order) strategy.Cause {
	switch {
	case o.State == state.Expired:
		return strategy.CauseExpired
	case o.State != state.Rejected:
		return strategy.CauseCancelled
	case haltCode(o.Code):
		return strategy.CauseHalted
	}
	return strategy.CauseRefused
}

// endText says how the exchange ended an order. what names it in the text, such as "the exit".
func endText(o *state.Order, what string) string {
	switch {
	case o.State == state.Expired && o.FilledAmount > 0:
		return fmt.Sprintf("%s %d found too few buyers", what, o.ID)
	case o.State == state.Expired:
		return fmt.Sprintf("%s %d found no buyers", what, o.ID)
	case o.State == state.Rejected && o.Code != 0:
		return fmt.Sprintf("the exchange refused %s %d: %s", what, o.ID, exchange.ErrCode(o.Code))
	case o.State == state.Rejected:
		return fmt.Sprintf("%s %d did not come to the exchange", what, o.ID)
	case o.RestatementReason != 0:
		return fmt.Sprintf("the exchange cancelled %s %d: %s", what, o.ID, o.RestatementReason)
	}
	return fmt.Sprintf("%s %d was cancelled", what, o.ID)
}

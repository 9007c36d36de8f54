package audit

// Rule names what an answer about an own order must keep. The names stand in the log, in the
// journal, in the metric and in docs/running.md.
type Rule string

// The rules about the order itself.
const (
	RuleMarket        Rule = "market"        // the order's
	RuleOrderID       Rule = "orderId"       // as known; at first one that no other own order of the market has
	RuleClientOrderID Rule = "clientOrderId" // as sent
	RuleSide          Rule = "side"          // as sent
	RuleType          Rule = "orderType"     // as sent
	// as sent or as the change makes it; less after self-trade prevention
	RuleAmount      Rule = "amount"
	RuleAmountQuote Rule = "amountQuote"         // the same
	RulePrice       Rule = "price"               // as sent or as the change makes it
	RuleTrigger     Rule = "triggerAmount"       // the same
	RuleReference   Rule = "triggerReference"    // as sent
	RuleTimeInForce Rule = "timeInForce"         // as sent or as the change makes it
	RuleSelfTrade   Rule = "selfTradePrevention" // the same
	RulePostOnly    Rule = "postOnly"            // the same
	RuleStatus      Rule = "status"              // fits the amounts
	RuleRemaining   Rule = "amountRemaining"     // of an open order amount − filledAmount
	// at most what the rest can cost, at least what it costs without a fee
	RuleHold         Rule = "onHold"
	RuleHoldCurrency Rule = "onHoldCurrency"    // quote for a buy, base for a sell
	RuleFilled       Rule = "filledAmount"      // the sum of the fills, at most amount, and never less than before
	RuleFilledQuote  Rule = "filledAmountQuote" // the value of the fills, at most amountQuote with the fees
	RuleFeePaid      Rule = "feePaid"           // the sum of the fees
	RuleFeeCurrency  Rule = "feeCurrency"       // the quote (venue-facts 3.6)
	RuleTime         Rule = "time"              // not before the order; the future counts as now
)

// The rules about a fill.
const (
	RuleFillMarket  Rule = "fill market"  // the order's
	RuleFillSide    Rule = "fill side"    // the order's
	RuleFillID      Rule = "fill id"      // new in the market, or this order's
	RuleFillChanged Rule = "fill changed" // of a known fill only a fee may come, once
	RuleFillAmount  Rule = "fill amount"  // above 0
	// above 0, not worse than the limit, within the bound around the known prices
	RuleFillPrice    Rule = "fill price"
	RuleFillFee      Rule = "fill fee"         // between the tier's rates, and what rounding adds
	RuleFillCurrency Rule = "fill feeCurrency" // the quote
	RuleFillTime     Rule = "fill timestamp"   // not before the order; the future counts as now
	RuleFillCount    Rule = "fill count"       // at most amount ÷ smallest step
	// a record of this order that can be read: no negative amounts, no unknown assets
	RuleRecord Rule = "record"
	RuleRange  Rule = "range" // sums stay within what can be counted
)

// Counts reports whether breaking the rule counts towards a halt. Times do not: this machine's
// clock can be the one that is wrong, after a sleep say, until it has been measured again.
func (r Rule) Counts() bool { return r != RuleTime && r != RuleFillTime }

// Broken is a rule that an answer does not keep, with both values as a person reads them.
type Broken struct {
	Rule         Rule
	Wanted, Seen string
}

// String is the rule with both values.
func (b Broken) String() string { return string(b.Rule) + ": want " + b.Wanted + ", got " + b.Seen }

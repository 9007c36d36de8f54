package verify

// Rule names a rule that an answer about an own order must keep. The names appear in the log, the
// journal, the metric and docs/recovery.md.
type Rule string

// The rules about the order itself.
const (
	RuleMarket        Rule = "market"        // the order's
	RuleOrderID       Rule = "orderId"       // as known; a new one must belong to no other own order of the market
	RuleClientOrderID Rule = "clientOrderId" // as sent
	RuleSide          Rule = "side"          // as sent
	RuleType          Rule = "orderType"     // as sent
	// RuleAmount: as sent or as after the change; less after self-trade prevention.
	RuleAmount      Rule = "amount"
	RuleAmountQuote Rule = "amountQuote"         // the same
	RulePrice       Rule = "price"               // as sent or as after the change
	RuleTrigger     Rule = "triggerAmount"       // the same
	RuleReference   Rule = "triggerReference"    // as sent
	RuleTimeInForce Rule = "timeInForce"         // as sent or as after the change
	RuleSelfTrade   Rule = "selfTradePrevention" // the same
	RulePostOnly    Rule = "postOnly"            // the same
	RuleStatus      Rule = "status"              // fits the amounts
	RuleRemaining   Rule = "amountRemaining"     // of an open order amount − filledAmount
	// RuleHold: at most what the rest can cost, at least what it costs without a fee.
	RuleHold         Rule = "onHold"
	RuleHoldCurrency Rule = "onHoldCurrency"    // maxQuote for a buy, base for a sell
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
	// RuleFillPrice: above 0, not worse than the limit, within Bound of the known prices.
	RuleFillPrice    Rule = "fill price"
	RuleFillFee      Rule = "fill fee"         // between the tier's rates, rounding included
	RuleFillCurrency Rule = "fill feeCurrency" // the quote
	RuleFillTime     Rule = "fill timestamp"   // not before the order; the future counts as now
	RuleFillCount    Rule = "fill count"       // at most amount ÷ smallest step
	// RuleRecord: a readable record of this order, without negative amounts and unknown assets.
	RuleRecord Rule = "record"
	RuleRange  Rule = "range" // sums do not overflow
)

// Counts reports whether breaking the rule counts towards a halt. Times do not count: this
// machine's clock may be wrong, after a sleep for example, until it is measured again.
func (r Rule) Counts() bool { return r != RuleTime && r != RuleFillTime }

// Broken is a rule that an answer breaks, with both values formatted for a person.
type Broken struct {
	Rule         Rule
	Wanted, Seen string
}

// String is the rule with both values.
func (b Broken) String() string { return string(b.Rule) + ": want " + b.Wanted + ", got " + b.Seen }

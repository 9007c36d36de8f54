// Package market holds the nouns of the trade: Market, Order, Fill, Candle, OrderBook, Ticker,
// Trade, Event and Command, and the fixed-point numbers they are made of. It never decides anything
// and imports nothing else of this project. Start at Market for the units, at Event and Command for
// what flows through the engine.
//
// # Decisions
//
//   - Units of amounts. A market's AmountDigits are the decimals of its base asset, so a Qty is the
//     same number as the balance that it comes from. The decimals that an order may have
//     (QuantityDecimals) are a rule and no unit. Price: an asset whose markets disagree takes the
//     finest unit.
//   - One order, one set of rules. OrderState is embedded in Order and Report, Rules in Market:
//     taking over a report copies a struct. Price: a literal of an order names the embedded struct,
//     and the saved account and the sandbox's file share one spelling of JSON names.
//   - Values are 128 bits wide. Price × amount, fees and costs are exact Values. Only settlement
//     rounds, in functions whose name says which way. Floats appear in indicators and statistics
//     alone.
package market

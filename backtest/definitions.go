package backtest

// definitions returns the formulas of the figures. E is equity at candle closes in the account's
// currency, S the start equity, D the span in days.
func definitions() []Definition {
	return []Definition{
		{"return", "E(last) ÷ S − 1; after its start a backtest has no deposits and withdrawals, so that no figure " +
			"needs weights by time"},
		{"cagr", "(E(last) ÷ S)^(365.25 ÷ D) − 1, D from the start of the first candle to the end of the last; " +
			"undefined for D < 1"},
		{"daily return", "r = E(last close of a UTC day) ÷ E(last close of the day before) − 1, of the first " +
			"day ÷ S; a day without a candle carries equity forward; a close at midnight belongs to the day that it " +
			"ends; product of 1 + r is E(last) ÷ S"},
		{"volatility", "std(r) × √365, std with n − 1"},
		{"sharpe", "mean(r) ÷ std(r) × √365, risk-free rate 0"},
		{"sortino", "mean(r) ÷ √(Σ min(r, 0)² ÷ n) × √365 over all n days"},
		{"beta", "Σ (r − mean(r)) × (h − mean(h)) ÷ Σ (h − mean(h))², h the daily return of buy and hold, over the " +
			"days that both have; of one market h is without costs"},
		{"alpha", "(mean(r) − beta × mean(h)) × 365: what the return of a year has that beta does not explain"},
		{"max drawdown", "largest (peak − E) ÷ peak at candle closes, peak the highest E before; length from " +
			"when the peak was first reached to the first close at or above it, or to the end"},
		{"calmar", "cagr ÷ max drawdown"},
		{"time in the market (exposure)", "share of candle closes with a position, however large it is"},
		{"turnover", "Σ value of all fills at the exchange ÷ S"},
		{"fees", "Σ value of each fill × the rate of its side, maker or taker"},
		{"rounding", "Σ of what the fills were charged − fees: amounts are rounded to the currency's unit " +
			"against the account, and what an amount in quote does not buy is kept"},
		{"round trip", "what one closing order sold of a position: proceeds − average cost − share of the entry fees " +
			"− exit fees"},
		{"position", "from the first buy until flat (dust that no order could sell aside), with any number of exits; " +
			"open ones are not counted"},
		{"win rate", "of positions: those with Σ pnl of their trips > 0 ÷ all that ended; of round trips: those with " +
			"pnl > 0 ÷ all"},
		{"profit factor", "Σ pnl of winning trips ÷ |Σ pnl of losing trips|; undefined without a loss"},
		{"sqn", "√trips × mean(pnl) ÷ std(pnl) of the trips, std with n − 1"},
		{"kelly", "win rate of trips − (1 − win rate) ÷ (average win ÷ average loss): the part of the equity that a " +
			"gambler with these odds would stake; undefined without a win and a loss"},
		{"expectancy", "Σ pnl ÷ trips"},
		{"losing run", "most trips in a row with pnl < 0, in the order in which they were closed"},
		{"buy and hold", "of one market: S × close(last) ÷ (open(first) with half the spread and the slippage × " +
			"(1 + taker fee)), from the first open at which a strategy could trade; its other figures from the " +
			"closes since. Of several: an equal part of S in each, cash until it has a price, never rebalanced; all " +
			"figures from the first close of each day"},
		{"drawdowns", "the five deepest falls of E below an earlier peak, each from its peak to the first close at " +
			"or above it"},
		{"trip's return", "pnl ÷ cost of what was sold, fees left out"},
		{"mae, mfe", "furthest price below and above the average entry while the position was held, as a part of it: " +
			"of whole candles their low and high, of the candle of the entry its close, of the candle of the exit " +
			"the exit's price"},
		{"partial", "trips that sold a part of a position"},
		{"rolling figures", "sharpe and volatility of the last 90 daily returns, of 30 where there are fewer than 180"},
		{"unprotected", "time, over all brackets, during which a position or a part of it that was to have an exit " +
			"at the venue had none, and why: the exit was arriving, or was swapped for the other; it was too small, " +
			"refused, cancelled, expired without buyers; the market was halted"},
	}
}

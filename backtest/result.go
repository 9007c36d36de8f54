package backtest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// Format is the version of result.json. It rises when a field changes its meaning or goes away, not
// when one is added. Results before version 1 have none.
const Format = 1

// Result is the outcome of a run, and the content of result.json. It contains no wall-clock time
// and no map, so that the same inputs give the same bytes. A Result is complete when Run has
// returned it.
//
// Known limitation: CAGR and Calmar need math.Pow, whose last digit may differ between processor
// architectures; everything else uses operations that IEEE 754 fixes.
type Result struct {
	Format      int            `json:"format"`
	Title       string         `json:"title"`
	Synthetic   bool           `json:"synthetic_data"`
	Warnings    []string       `json:"warnings"`
	Run         RunInfo        `json:"run"`
	From        Moment         `json:"from"`
	To          Moment         `json:"to"`
	Currency    string         `json:"currency"`
	Strategies  []StrategyInfo `json:"strategies"`
	Data        []DataInfo     `json:"data"`
	Rules       []Rules        `json:"markets"`
	Performance Performance    `json:"performance"`
	Drawdowns   []Drawdown     `json:"drawdowns"` // the deepest, at most five; the deepest first
	Hold        Hold           `json:"buy_and_hold"`
	Trips       TripFigures    `json:"trips"`
	Orders      OrderFigures   `json:"orders"`
	Months      []Month        `json:"months"`
	Envelope    []PathEnd      `json:"envelope"`
	Refusals    []Count        `json:"refusals"`
	Candles     CandleFigures  `json:"candles"`
	Unprotected Seconds        `json:"unprotected_seconds"`

	UnprotectedBy []CauseSeconds `json:"unprotected_by"` // the same by cause; causes that did not occur are left out

	OneCandle *OneCandleExits  `json:"one_candle_exits,omitempty"` // nil: none
	Queue     *sim.QueueCounts `json:"queue,omitempty"`            // nil: limit_fill is not "queue"

	Universes []Universe  `json:"universes,omitempty"`
	Delisted  []Delisting `json:"delisted,omitempty"`  // in the order of their ends
	Hindsight []Late      `json:"hindsight,omitempty"` // by delay; none: no strategy hears signals, or Options.Late is not set

	Assumptions []string     `json:"assumptions"`
	Definitions []Definition `json:"definitions"`
	Files       []string     `json:"files"` // names within Dir

	Trades []RoundTrip `json:"-"` // in the order of their ends; with Options.Keep
	Fills  []Fill      `json:"-"` // in their order; with Options.Keep

	Tries []string `json:"-"` // what Options.Tried said
	Dir   string   `json:"-"` // the folder of the files
	curve []sample // for the chart of the summary; nil when the recorder kept none
}

// RunInfo identifies the run and its inputs.
type RunInfo struct {
	ID          string `json:"id"`
	CodeVersion string `json:"code_version"`
	ConfigHash  string `json:"config_hash"`
	DataHash    string `json:"data_hash"`
	Seed        uint64 `json:"seed"`
}

// StrategyInfo is a strategy of the run with its parameters, in the order in which they are
// declared.
type StrategyInfo struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Markets  []string `json:"markets"`
	Interval string   `json:"interval"`
	Params   []Param  `json:"params"`
	Began    []Began  `json:"began"` // by place in Markets
	// AskedEarly counts the asks of the warm-up, which are no Refusals.
	AskedEarly int64 `json:"asked_in_warmup,omitempty"`
	// Notes are what the strategy has to tell, a sentence each: see strategy.Noter.
	Notes []string `json:"notes,omitempty"`
	// Scaled counts the orders that volatility_target made smaller.
	Scaled int64 `json:"scaled_orders,omitempty"`
}

// Param is a parameter of a strategy as text.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// DataInfo is one series of candles that the run read.
type DataInfo struct {
	Market   string `json:"market"`
	Interval string `json:"interval"`
	Candles  int64  `json:"candles"`
	NoTrade  int64  `json:"no_trade"` // intervals without a candle, known to have had no trade
	Missing  int64  `json:"missing"`  // intervals without a candle, for an unknown reason
}

// Rules are the rules of a market that the run used: today's rules, also for the past.
type Rules struct {
	Market           string `json:"market"`
	Status           string `json:"status"`
	PriceDigits      uint8  `json:"price_digits"`
	TickSize         string `json:"tick_size"`
	AmountDigits     uint8  `json:"amount_digits"`
	QuantityDecimals uint8  `json:"quantity_decimals"`
	NotionalDecimals uint8  `json:"notional_decimals"`
	MinOrderInBase   string `json:"min_order_in_base"`
	MinOrderInQuote  string `json:"min_order_in_quote"`
	MaxOrderInBase   string `json:"max_order_in_base"`  // "0": no maximum
	MaxOrderInQuote  string `json:"max_order_in_quote"` // "0": no maximum
	MaxOpenOrders    int    `json:"max_open_orders"`
	FeeCategory      string `json:"fee_category"`
}

// Performance is the result of the account.
type Performance struct {
	Start Amount `json:"start_equity"`
	Final Amount `json:"final_equity"`
	Gain  Amount `json:"gain"`
	Fees  Amount `json:"fees"` // by the rates; since schema 2 without the rounding
	// taken beside the fees, where amounts are rounded to the currency's unit against the account
	Rounding Amount `json:"rounding"`
	Traded   Amount `json:"traded"` // sum of the value of all fills at the exchange
	Turnover Figure `json:"turnover"`
	Exposure Figure `json:"exposure"`
	// Against the days of buy and hold.
	Alpha Figure `json:"alpha"`
	Beta  Figure `json:"beta"`
	Ratios
}

// Ratios are the figures that describe any curve of equity.
type Ratios struct {
	Return     Figure   `json:"return"`
	CAGR       Figure   `json:"cagr"`
	Volatility Figure   `json:"volatility"`
	Sharpe     Figure   `json:"sharpe"`
	Sortino    Figure   `json:"sortino"`
	Calmar     Figure   `json:"calmar"`
	Drawdown   Drawdown `json:"max_drawdown"`
	Days       int64    `json:"daily_returns"`
}

// Drawdown is the deepest fall below an earlier peak, measured at candle closes. Without any fall
// Depth is zero and the times are null.
type Drawdown struct {
	Depth     Figure  `json:"depth"`
	Start     Moment  `json:"start"`     // the peak
	Bottom    Moment  `json:"bottom"`    // the lowest close
	Recovered Moment  `json:"recovered"` // the first close at or above the peak; null: not until the end
	Length    Seconds `json:"length_seconds"`
}

// Hold is the result of buying the markets of the strategies with equal parts of the start equity
// and holding them. Market is the name of the only one, or "3 markets"; it is empty where no
// strategy could trade.
type Hold struct {
	Market  string   `json:"market"`
	Markets []string `json:"markets"`
	From    Moment   `json:"from"` // when a strategy could first trade
	Final   Amount   `json:"final_equity"`
	Ratios
}

// FewestTrips is the least number of round trips about which anything can be said.
const FewestTrips = 10

// TripFigures sum up the round trips: the rows of trades.csv.
type TripFigures struct {
	// Positions are those that ended, from the first buy until flat. One of them may end in several
	// trips.
	Positions    int64  `json:"positions"`
	PositionsWon int64  `json:"positions_won"` // with a profit over all of their trips
	PositionRate Figure `json:"position_win_rate"`
	Count        int64  `json:"count"`
	Won          int64  `json:"won"`
	Lost         int64  `json:"lost"`
	Open         int64  `json:"positions_open_at_end"`
	Untracked    int64  `json:"sells_without_known_entry"`
	Partial      int64  `json:"partial"` // trips that sold a part of a position
	LosingRun    int64  `json:"longest_losing_run"`
	WinRate      Figure `json:"win_rate"`
	ProfitFactor Figure `json:"profit_factor"`
	SQN          Figure `json:"sqn"`
	Kelly        Figure `json:"kelly"`
	Net          Amount `json:"net_pnl"`
	Expectancy   Amount `json:"expectancy"`
	AverageWin   Amount `json:"average_win"`
	AverageLoss  Amount `json:"average_loss"`
	LargestWin   Amount `json:"largest_win"`
	LargestLoss  Amount `json:"largest_loss"`
}

// OrderFigures count the orders of the run by their end.
type OrderFigures struct {
	Orders   int64 `json:"orders"`
	Filled   int64 `json:"filled"`
	Canceled int64 `json:"canceled"`
	Expired  int64 `json:"expired"`
	Rejected int64 `json:"rejected"`    // refused by the exchange
	Open     int64 `json:"open_at_end"` // or not yet answered
	Fills    int64 `json:"fills"`
	Taker    int64 `json:"taker_fills"`
}

// Month is the return of one calendar month, UTC.
type Month struct {
	Year   int    `json:"year"`
	Month  int    `json:"month"`
	Equity Amount `json:"equity"` // at the last close of the month
	Return Figure `json:"return"`
}

// PathEnd is the result of the run under one order of the prices within a candle.
type PathEnd struct {
	Path   string `json:"path"`
	Chosen bool   `json:"chosen"`
	Final  Amount `json:"final_equity"`
	Return Figure `json:"return"`
}

// Count is how often something happened.
type Count struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// CandleFigures measure how reliable the candles are.
type CandleFigures struct {
	Groups         int64  `json:"groups"`    // instants at which candles closed
	Ambiguous      int64  `json:"ambiguous"` // candles in which own orders could have filled in either order
	AmbiguousShare Figure `json:"ambiguous_share"`
	NoTrade        int64  `json:"no_trade"`
	Missing        int64  `json:"missing"`
}

// Definition is the formula of a figure, in words.
type Definition struct {
	Name    string `json:"name"`
	Formula string `json:"formula"`
}

// Amount is money of the account's currency with its decimals; of a RoundTrip or a Fill also a
// price or an amount of base. It is written as a decimal string. The zero Amount without decimals
// prints as "0".
type Amount struct {
	Units  market.Money
	Digits uint8
}

// String writes the amount as a plain decimal.
func (a Amount) String() string { return market.FormatFixed(int64(a.Units), a.Digits) }

// Float returns the amount, for charts.
func (a Amount) Float() float64 { return float64(a.Units) / math.Pow10(int(a.Digits)) }

// Cmp compares with a decimal such as "12.5": it is -1, 0 or 1 as the amount is below it, equal or
// above. It panics where the text is no decimal: it is for constants of tests.
func (a Amount) Cmp(decimal string) int {
	units, digits, err := market.ParseDecimal(decimal)
	if err != nil {
		panic(fmt.Sprintf("backtest: compare %s with %q: %v", a, decimal, err))
	}
	left := new(big.Int).Mul(big.NewInt(int64(a.Units)), big.NewInt(market.Pow10(digits)))
	right := new(big.Int).Mul(big.NewInt(units), big.NewInt(market.Pow10(a.Digits)))
	return left.Cmp(right)
}

// MarshalJSON writes a decimal string.
func (a Amount) MarshalJSON() ([]byte, error) { return strconv.AppendQuote(nil, a.String()), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Amount) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	units, digits, err := market.ParseDecimal(s)
	*a = Amount{market.Money(units), digits}
	return err
}

// Figure is a statistic that may be undefined: NaN or infinite, null in JSON and "–" in text.
type Figure float64

// undefined is the Figure without a value.
func undefined() Figure { return Figure(math.NaN()) }

// Defined reports whether the figure has a value.
func (f Figure) Defined() bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// Rate returns the figure as a rate, rounded to the nearest unit, so that it can be compared with
// 5*market.Percent. It is 0 where the figure is undefined, and the largest rate where it is larger.
func (f Figure) Rate() market.Rate {
	if math.IsNaN(float64(f)) {
		return 0
	}
	units := math.Round(float64(f) * float64(market.Pow10(market.RateDigits)))
	return market.Rate(min(max(units, -math.MaxInt64/2), math.MaxInt64/2))
}

// MarshalJSON writes a number, or null.
func (f Figure) MarshalJSON() ([]byte, error) {
	if !f.Defined() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Figure) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*f = undefined()
		return nil
	}
	return json.Unmarshal(text, (*float64)(f))
}

// Percent writes the figure as a percentage with the given decimals.
func (f Figure) Percent(decimals int) string {
	if !f.Defined() {
		return "–"
	}
	return numeral(float64(f)*100, decimals) + " %"
}

// Text writes the figure with the given decimals.
func (f Figure) Text(decimals int) string {
	if !f.Defined() {
		return "–"
	}
	return numeral(float64(f), decimals)
}

// Cell writes the figure so that it reads back as the same; empty: it has no value.
func (f Figure) Cell() string {
	if !f.Defined() {
		return ""
	}
	return strconv.FormatFloat(float64(f), 'g', -1, 64)
}

// Moment is a time that may be missing: zero is null in JSON and "–" in text.
type Moment market.Time

// String writes RFC 3339.
func (m Moment) String() string {
	if m == 0 {
		return "–"
	}
	return market.Time(m).String()
}

// Date writes the day.
func (m Moment) Date() string {
	if m == 0 {
		return "–"
	}
	return market.Time(m).Std().Format(time.DateOnly)
}

// MarshalJSON writes Unix milliseconds and RFC 3339, or null.
func (m Moment) MarshalJSON() ([]byte, error) {
	if m == 0 {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, `{"ms":%d,"utc":%q}`, market.Time(m).Millis(), m.String()), nil
}

// UnmarshalJSON reads what MarshalJSON wrote, to the millisecond.
func (m *Moment) UnmarshalJSON(text []byte) error {
	var both *struct {
		MS int64 `json:"ms"`
	}
	if err := json.Unmarshal(text, &both); err != nil || both == nil {
		return err
	}
	at, err := market.TimeOfMillis(both.MS)
	*m = Moment(at)
	return err
}

// Seconds is a span, written in JSON as a number of seconds.
type Seconds time.Duration

// MarshalJSON writes whole and broken seconds.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var seconds float64
	err := json.Unmarshal(text, &seconds)
	*s = Seconds(seconds * float64(time.Second))
	return err
}

// String writes days and hours, or hours and minutes where the span is shorter than two days.
func (s Seconds) String() string {
	minutes := int64(time.Duration(s) / time.Minute)
	if minutes >= 2*24*60 {
		return fmt.Sprintf("%d d %d h", minutes/(24*60), minutes/60%24)
	}
	return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
}

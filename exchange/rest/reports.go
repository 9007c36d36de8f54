package rest

import "context"

// Ticker24h are the statistics of a market's last 24 hours (venue-facts 1.2), numbers as text; ""
// without trades or orders.
type Ticker24h struct {
	Market         string `json:"market"`
	StartTimestamp Number `json:"startTimestamp"` // Unix milliseconds, like the other times
	Timestamp      Number `json:"timestamp"`
	Open           Number `json:"open"`
	OpenTimestamp  Number `json:"openTimestamp"`
	High           Number `json:"high"`
	Low            Number `json:"low"`
	Last           Number `json:"last"`
	CloseTimestamp Number `json:"closeTimestamp"`
	Bid            Number `json:"bid"`
	BidSize        Number `json:"bidSize"`
	Ask            Number `json:"ask"`
	AskSize        Number `json:"askSize"`
	Volume         Number `json:"volume"`
	VolumeQuote    Number `json:"volumeQuote"`
}

// Tickers24h returns the statistics of all markets, or of one: GET /ticker/24h (specification 1).
func (c *Client) Tickers24h(ctx context.Context, market string) ([]Ticker24h, error) {
	r := request{at: getTicker24h, all: market == "", path: to("ticker", "24h").with("market", market).String()}
	return ask(ctx, c, r, decodeList[Ticker24h])
}

// BookReport is the order book report of MiCA (venue-facts 1.2). Times are ISO 8601 with
// microseconds.
type BookReport struct {
	SubmissionTimestamp  string        `json:"submissionTimestamp"`
	AssetCode            string        `json:"assetCode"`
	AssetName            string        `json:"assetName"`
	Bids                 []ReportLevel `json:"bids"`
	Asks                 []ReportLevel `json:"asks"`
	PriceCurrency        string        `json:"priceCurrency"`
	PriceNotation        string        `json:"priceNotation"`
	QuantityCurrency     string        `json:"quantityCurrency"`
	QuantityNotation     string        `json:"quantityNotation"`
	Venue                string        `json:"venue"`
	TradingSystem        string        `json:"tradingSystem"`
	PublicationTimestamp string        `json:"publicationTimestamp"`
}

// ReportLevel is one price of a BookReport with the number of orders there.
type ReportLevel struct {
	Side      string `json:"side"` // BUYI or SELL
	Price     Number `json:"price"`
	Quantity  Number `json:"quantity"`
	NumOrders int    `json:"numOrders"`
}

// ReportTrade is one row of the trades report of MiCA (venue-facts 1.2).
type ReportTrade struct {
	TradeID              string `json:"tradeId"`
	TransactTimestamp    string `json:"transactTimestamp"`
	AssetCode            string `json:"assetCode"`
	AssetName            string `json:"assetName"`
	Price                Number `json:"price"`
	MissingPrice         string `json:"missingPrice"`
	PriceNotation        string `json:"priceNotation"`
	PriceCurrency        string `json:"priceCurrency"`
	Quantity             Number `json:"quantity"`
	QuantityCurrency     string `json:"quantityCurrency"`
	QuantityNotation     string `json:"quantityNotation"`
	Venue                string `json:"venue"`
	PublicationTimestamp string `json:"publicationTimestamp"`
	PublicationVenue     string `json:"publicationVenue"`
}

// BookReport returns the order book report of a market: GET /report/{market}/book (specification 1,
// venue-facts 1.2), depth levels of each side, 1 … 1000, 0: 1000.
func (c *Client) BookReport(ctx context.Context, market string, depth int) (BookReport, error) {
	path := to("report", market, "book").integer("depth", int64(depth)).String()
	return ask(ctx, c, request{at: getBookReport, path: path}, decode[BookReport])
}

// TradesReport returns the trades report of a market, newest first: GET /report/{market}/trades
// (specification 1, venue-facts 1.2). The page is as that of PublicTrades.
func (c *Client) TradesReport(ctx context.Context, market string, page Page) ([]ReportTrade, error) {
	path := to("report", market, "trades").page(page, "tradeIdFrom", "tradeIdTo").String()
	return ask(ctx, c, request{at: getTradesReport, path: path}, decode[[]ReportTrade])
}

package rest

import (
	"context"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Rates are the fees of an account (venue-facts 1.4), as fractions, and its volume of the last 30
// days. All are text.
type Rates struct {
	Tier   Number `json:"tier"` // "": unknown
	Volume Number `json:"volume"`
	Taker  Number `json:"taker"`
	Maker  Number `json:"maker"`
}

// Account is the state of an account (venue-facts 1.4).
type Account struct {
	Fees         Rates    `json:"fees"`
	Capabilities []string `json:"capabilities"` // "buy", "withdrawCrypto", …; none: unknown
}

// Account returns fees and capabilities: GET /account (specification 1).
func (c *Client) Account(ctx context.Context) (Account, error) {
	return ask(ctx, c, request{at: getAccount, path: version + "/account"}, decode[Account])
}

// Fees returns the fees in a market, or of a quote currency, or the account's own where both are
// empty: GET /account/fees (specification 1).
func (c *Client) Fees(ctx context.Context, market, quote string) (Rates, error) {
	path := to("account", "fees").with("market", market).with("quote", quote).String()
	return ask(ctx, c, request{at: getFees, path: path}, decode[Rates])
}

// Balance is the balance of an asset, as text. InOrder is the sum that open orders hold.
type Balance struct {
	Symbol    string `json:"symbol"`
	Available Number `json:"available"`
	InOrder   Number `json:"inOrder"`
}

// In returns the balance in the units of a catalog. It wraps market.ErrInexact where those are too
// coarse, and returns an error where the catalog lacks the asset.
func (b *Balance) In(cat *market.Catalog) (asset market.AssetID, available, inOrder market.Money, err error) {
	a := cat.AssetNamed(b.Symbol)
	if a == nil {
		return 0, 0, 0, fmt.Errorf("balance: asset %q is not in the catalog", clip([]byte(b.Symbol)))
	}
	for _, part := range [...]struct {
		text  Number
		money *market.Money
	}{{b.Available, &available}, {b.InOrder, &inOrder}} {
		if part.text == "" {
			continue
		}
		n, err := market.ParseFixed(string(part.text), a.Digits)
		if err != nil {
			return 0, 0, 0, fmt.Errorf("balance of %s: %w", a.Symbol, err)
		}
		*part.money = market.Money(n)
	}
	return a.ID, available, inOrder, nil
}

// Balances returns the balances that are not 0, or that of one asset: GET /balance (specification
// 1).
func (c *Client) Balances(ctx context.Context, symbol string) ([]Balance, error) {
	r := request{at: getBalance, all: symbol == "", path: to("balance").with("symbol", symbol).String()}
	return ask(ctx, c, r, decodeList[Balance])
}

// Staked is the staked balance of an asset, as text.
type Staked struct {
	Symbol string `json:"symbol"`
	Amount Number `json:"amount"`
}

// StakingBalances returns the staked balances: GET /stakingBalance (venue-facts 1.4).
func (c *Client) StakingBalances(ctx context.Context) ([]Staked, error) {
	return ask(ctx, c, request{at: getStakingBalance, path: version + "/stakingBalance"}, decodeList[Staked])
}

// HistoryPage narrows the account's history (venue-facts 1.4). The zero value is the first page of
// everything.
type HistoryPage struct {
	From, To market.Time // rounded down to milliseconds; 0: open
	Page     int         // from 1; 0: the first
	MaxItems int         // 1 … 100; 0: the endpoint's default
	Type     string      // "buy", "deposit", …; "": all
}

// History is one page of an account's transactions, newest first.
type History struct {
	Items       []Transaction `json:"items"`
	CurrentPage int           `json:"currentPage"`
	TotalPages  int           `json:"totalPages"`
	MaxItems    int           `json:"maxItems"`
}

// Transaction is one change of an account's balances (venue-facts 1.4). Fields that do not apply
// are "". Amounts are text.
type Transaction struct {
	TransactionID    string `json:"transactionId"`
	ExecutedAt       string `json:"executedAt"` // ISO 8601
	Type             string `json:"type"`
	PriceCurrency    string `json:"priceCurrency"`
	PriceAmount      Number `json:"priceAmount"`
	SentCurrency     string `json:"sentCurrency"`
	SentAmount       Number `json:"sentAmount"`
	ReceivedCurrency string `json:"receivedCurrency"`
	ReceivedAmount   Number `json:"receivedAmount"`
	FeesCurrency     string `json:"feesCurrency"`
	FeesAmount       Number `json:"feesAmount"`
	Address          string `json:"address"`
}

// AccountHistory returns a page of transactions: GET /account/history (specification 1).
func (c *Client) AccountHistory(ctx context.Context, p HistoryPage) (History, error) {
	path := to("account", "history").moment("fromDate", p.From).moment("toDate", p.To).integer("page", int64(p.Page)).
		integer("maxItems", int64(p.MaxItems)).with("type", p.Type).String()
	return ask(ctx, c, request{at: getHistory, path: path}, decode[History])
}

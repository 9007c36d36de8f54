package rest

import "context"

// DepositAddress is where to send an asset (venue-facts 1.4): Address of a digital one, IBAN of
// money.
type DepositAddress struct {
	Address     string `json:"address"`
	PaymentID   string `json:"paymentId"` // "": none is needed
	IBAN        string `json:"iban"`
	BIC         string `json:"bic"`
	Description string `json:"description"` // to be stated with the payment
}

// Transfer is a deposit or a withdrawal (venue-facts 1.4). Amounts are text.
type Transfer struct {
	Timestamp Number `json:"timestamp"` // Unix milliseconds
	Symbol    string `json:"symbol"`
	Amount    Number `json:"amount"`
	Fee       Number `json:"fee"`
	Status    string `json:"status"`
	Address   string `json:"address"`
	PaymentID string `json:"paymentId"`
	TxID      string `json:"txId"`
}

// Deposit returns where to send an asset: GET /deposit (specification 1).
func (c *Client) Deposit(ctx context.Context, symbol string) (DepositAddress, error) {
	path := to("deposit").with("symbol", symbol).String()
	return ask(ctx, c, request{at: getDeposit, path: path}, decode[DepositAddress])
}

// DepositHistory returns deposits of one asset, or of all, newest first: GET /depositHistory
// (specification 1). Of the page From and To do not count.
func (c *Client) DepositHistory(ctx context.Context, symbol string, page Page) ([]Transfer, error) {
	return c.transfers(ctx, getDepositHistory, "depositHistory", symbol, page)
}

// WithdrawalHistory returns withdrawals of one asset, or of all, newest first: GET
// /withdrawalHistory (specification 1). Of the page From and To do not count.
func (c *Client) WithdrawalHistory(ctx context.Context, symbol string, page Page) ([]Transfer, error) {
	return c.transfers(ctx, getWithdrawalHistory, "withdrawalHistory", symbol, page)
}

func (c *Client) transfers(ctx context.Context, at endpoint, name, symbol string, page Page) ([]Transfer, error) {
	r := request{at: at, all: symbol == "", path: to(name).with("symbol", symbol).page(page, "", "").String()}
	return ask(ctx, c, r, decode[[]Transfer])
}

package exchange

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/wire"
)

// naiveRecord is an order's record as encoding/json reads it. A json.Number takes a string, a
// number and null alike.
type naiveRecord struct {
	OrderID              string      `json:"orderId"`
	ClientOrderID        string      `json:"clientOrderId"`
	Market               string      `json:"market"`
	Created              json.Number `json:"created"`
	Updated              json.Number `json:"updated"`
	CreatedNs            json.Number `json:"createdNs"`
	UpdatedNs            json.Number `json:"updatedNs"`
	Status               string      `json:"status"`
	Side                 string      `json:"side"`
	OrderType            string      `json:"orderType"`
	Amount               json.Number `json:"amount"`
	AmountRemaining      json.Number `json:"amountRemaining"`
	AmountQuote          json.Number `json:"amountQuote"`
	AmountQuoteRemaining json.Number `json:"amountQuoteRemaining"`
	Price                json.Number `json:"price"`
	OnHold               json.Number `json:"onHold"`
	OnHoldCurrency       string      `json:"onHoldCurrency"`
	TriggerPrice         json.Number `json:"triggerPrice"`
	TriggerAmount        json.Number `json:"triggerAmount"`
	TriggerType          string      `json:"triggerType"`
	TriggerReference     string      `json:"triggerReference"`
	FilledAmount         json.Number `json:"filledAmount"`
	FilledAmountQuote    json.Number `json:"filledAmountQuote"`
	FeePaid              json.Number `json:"feePaid"`
	FeeCurrency          string      `json:"feeCurrency"`
	Fills                []naiveFill `json:"fills"`
	SelfTradePrevention  string      `json:"selfTradePrevention"`
	Visible              bool        `json:"visible"`
	TimeInForce          string      `json:"timeInForce"`
	PostOnly             bool        `json:"postOnly"`
	OperatorID           json.Number `json:"operatorId"`
	RestatementReason    string      `json:"restatementReason"`
	CodGroupID           json.Number `json:"codGroupId"`
}

type naiveFill struct {
	ID          string      `json:"id"`
	Timestamp   json.Number `json:"timestamp"`
	Amount      json.Number `json:"amount"`
	Price       json.Number `json:"price"`
	Taker       bool        `json:"taker"`
	Fee         json.Number `json:"fee"`
	FeeCurrency string      `json:"feeCurrency"`
	Settled     *bool       `json:"settled"`
}

func (n *naiveRecord) record() (o orderRecord) {
	o.text = [members]string{n.OrderID, n.ClientOrderID, n.Market, n.Created.String(), n.Updated.String(),
		n.CreatedNs.String(), n.UpdatedNs.String(), n.Status, n.Side, n.OrderType, n.Amount.String(),
		n.AmountRemaining.String(), n.AmountQuote.String(), n.AmountQuoteRemaining.String(), n.Price.String(),
		n.OnHold.String(), n.OnHoldCurrency, n.TriggerPrice.String(), n.TriggerAmount.String(), n.TriggerType,
		n.TriggerReference, n.FilledAmount.String(), n.FilledAmountQuote.String(), n.FeePaid.String(), n.FeeCurrency,
		"",
		n.SelfTradePrevention, "", n.TimeInForce, "", n.OperatorID.String(), n.RestatementReason, n.CodGroupID.String()}
	o.visible, o.postOnly = n.Visible, n.PostOnly
	for _, f := range n.Fills {
		o.fills = append(o.fills, fillRecord{id: f.ID, timestamp: f.Timestamp.String(), amount: f.Amount.String(),
			price: f.Price.String(), fee: f.Fee.String(), feeCurrency: f.FeeCurrency, taker: f.Taker,
			settledKnown: f.Settled != nil, settled: f.Settled != nil && *f.Settled})
	}
	return o
}

// FuzzRecordAgainstEncodingJSON reads records with the scanner and with encoding/json: both refuse
// a text, or both read the same.
func FuzzRecordAgainstEncodingJSON(f *testing.F) {
	for _, text := range []string{`{}`, `{"orderId":"a","market":"BTC-EUR","side":"sell","created":17,"amount":"0.5"}`,
		`{"price":1.5e3,"amount":"-0","visible":true,"postOnly":false,"new":{"deep":[1,{}]},"feePaid":null}`,
		`{"fills":[{"id":"x","timestamp":1,"fee":"0.1","settled":true,"taker":false},{"settled":null}]}`,
		`{"amount":"1","amount":"2","amount":null,"side":"b\u0075y"}`, `{"amount":"+1"}`, `{"amount":"abc"}`,
		`{"side":5}`, `{"fills":{}}`, `{"fills":null}`, `{"visible":"true"}`, `{"amount":01}`, `{"codGroupId":""}`,
		`{`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if unusual(data) {
			return
		}
		var naive naiveRecord
		var have orderRecord
		refused := json.Unmarshal(data, &naive)
		err := have.scan(data)
		if refused != nil {
			require.Error(t, err, "encoding/json: %s", refused)
			return
		}
		require.NoError(t, err)
		for i := range have.fills { // settled counts where it is known
			have.fills[i].settled = have.fills[i].settled && have.fills[i].settledKnown
		}
		require.Equal(t, naive.record(), have)
	})
}

// unusual reports whether encoding/json reads a text by rules of its own: names that differ in case
// are the same to it, a null is an empty object, of two members of a name the later counts, and
// bytes that are no UTF-8 become U+FFFD.
func unusual(data []byte) bool {
	folded := func(name []byte) bool {
		return slices.ContainsFunc(append(memberNames[:], "id", "timestamp", "taker", "fee", "settled"),
			func(known string) bool { return known != string(name) && strings.EqualFold(known, string(name)) })
	}
	seen := map[string]bool{}
	s := wire.NewScanner(data)
	for s.Object(); s.Member(); {
		if folded(s.Name()) || seen[string(s.Name())] {
			return true
		}
		seen[string(s.Name())] = true
		if string(s.Name()) != "fills" || s.Peek() != '[' {
			s.Discard()
			continue
		}
		for s.Array(); s.Element(); {
			if s.Peek() != '{' {
				return true
			}
			inside := map[string]bool{}
			for s.Object(); s.Member(); {
				if folded(s.Name()) || inside[string(s.Name())] {
					return true
				}
				inside[string(s.Name())] = true
				s.Discard()
			}
		}
	}
	return strings.TrimSpace(string(data)) == "null" ||
		strings.ToValidUTF8(string(data), "") != string(data)
}

package rest

// Payer is whose weight points a request spends (specification 8). The zero value is what a request
// without credentials has.
type Payer uint8

// The payers.
const (
	PaidByIP  Payer = iota // the IP address, for requests without credentials
	PaidByKey              // the API key, for signed ones
)

// String returns "ip" or "key".
func (p Payer) String() string {
	if p == PaidByKey {
		return "key"
	}
	return "ip"
}

// whose is the payer in a sentence.
func (p Payer) whose() string {
	if p == PaidByKey {
		return "the key"
	}
	return "the IP address"
}

func payerOf(signed bool) Payer {
	if signed {
		return PaidByKey
	}
	return PaidByIP
}

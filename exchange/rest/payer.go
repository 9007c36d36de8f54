package rest

// Payer is the budget that a request spends from (specification 8). The zero value is that of
// requests without credentials.
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

// phrase is the payer in a sentence.
func (p Payer) phrase() string {
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

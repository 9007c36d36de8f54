package signals

import (
	"context"
	"crypto/sha256"

	"github.com/tidemark-trading/tidemark/market"
)

// Arrival is a signal as a live bot got it, before anything checked whether it may count.
type Arrival struct {
	Source, ID string            // ID is the sender's; empty: it gives none
	Hash       [sha256.Size]byte // of source, market and body
	Body       []byte            // as it came
	// Sent is from when on it could be known, as the sender says; 0: the sender says nothing. Came
	// is the time at which the bot got it, on the exchange's clock; 0: now.
	Sent, Came     market.Time
	Address, Proof string        // who sent it, and one of the proofs below
	Market         string        // as the sender writes it; empty: all markets
	Was            market.Stance // the position before, as the sender knows it; 0: it does not say
	Price          float64       // as the sender sees it; 0: it does not say
	Short          bool          // it asked for a short, which a spot market takes as flat
	Wrong          string        // why it is no signal, in words; empty: it is one
	Signal         market.Signal // without Market, Number, Known, Arrived and Until
}

// The proofs of an Arrival.
const (
	ProofPath        = "path" // a secret path
	ProofHMAC        = "hmac" // a signature
	ProofCertificate = "certificate"
	ProofFile        = "file"  // a file of this machine that grows
	ProofStdin       = "stdin" // the standard input
)

// Heard is the answer of a bot to an Arrival.
type Heard struct {
	Number  int64  // of its journal entry; 0: it is counted only, like many others of its kind
	Again   bool   // it came before, and Number is that of the first
	Note    string // what its sender may want to know of one that counts
	Refused string // why no strategy hears it, in words; empty: it counts
}

// Ear hears arrivals: a live bot. Hear returns once the arrival is on disk; it waits for no order.
// An error means that nothing was kept, because the bot starts, ends or cannot write: send it
// again.
type Ear interface {
	Hear(ctx context.Context, a Arrival) (Heard, error)
}

// sum sets the hash.
func (a *Arrival) sum() {
	text := append([]byte(a.Source+"\x00"+a.Market+"\x00"), a.Body...)
	a.Hash = sha256.Sum256(text)
}

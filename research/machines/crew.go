package machines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/research"
)

// Farm joins machines for a search.
type Farm interface {
	// Coordinate returns a Runner whose groups are run by workers. It listens, or connects, when it
	// runs, and tells the workers when it has ended.
	Coordinate(c Coordination) (research.Runner, error)
	// Work joins a coordinator, and runs groups of one sweep after another until ctx ends. The
	// error wraps ErrRefused where the coordinator does not want this worker.
	Work(ctx context.Context, m Membership) error
}

// Coordination is the input of a coordinator.
type Coordination struct {
	Door
	Program Program
	// Load is called once, when the sweep's file is open, before any group runs.
	Load func() (*Cargo, error)
	// Notice is called with lines for a person, also by several goroutines.
	Notice func(text string)
}

// Door is where a coordinator and its workers meet.
type Door struct {
	// Address is HOST:PORT of the coordinator; a PORT alone is of this machine. A coordinator
	// listens there, a worker connects.
	Address string
	URL     string // of a NATS server, in the place of Address
	Token   string // secret; empty: everybody who reaches the address may join
	// Cert is a file with a certificate: the coordinator's own, which a worker trusts, too. Key is
	// the file of its secret key, for the coordinator.
	Cert, Key string
}

// Membership is the input of a worker.
type Membership struct {
	Door
	Name    string // of this machine, for a person
	Cores   int    // how many groups run side by side
	Program Program
	// Prepare makes a worker ready for a sweep. plan is that of the coordinator's Cargo. fetch
	// brings a blob of its Cargo.
	Prepare func(ctx context.Context, plan []byte, fetch func(Hash) ([]byte, error)) (Hand, error)
	Notice  func(text string) // called with lines for a person, also by several goroutines
}

// Hand runs groups of one sweep.
type Hand interface {
	// Core returns a function that runs groups, for one goroutine. Calls of Core do not overlap.
	Core() (func(ctx context.Context, g research.Group) ([]research.Row, error), error)
	Close() error
}

// Cargo is the data that the workers of a sweep are sent.
type Cargo struct {
	ID     string // of the sweep: letters and digits
	Sweep  string // its file, without the folder: for Roster
	Folder string // of the coordinator: its own server keeps jobs and results in it, and RosterFile is there
	Plan   []byte // what to do, for Membership.Prepare
	// Blob is the content of a hash that Plan names. Several goroutines may call it. The error
	// wraps ErrNoBlob where there is none.
	Blob func(h Hash) ([]byte, error)
}

// Hash is a SHA-256.
type Hash [sha256.Size]byte

// HashOf is the hash of a content.
func HashOf(content []byte) Hash { return sha256.Sum256(content) }

// String is the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ErrNoBlob means that a coordinator does not have what a worker asks for.
var ErrNoBlob = errors.New("the coordinator has no such blob")

// ErrRefused means that a coordinator does not want a worker.
var ErrRefused = errors.New("the coordinator refuses this worker")

// Program is the program of a coordinator or a worker. Only equal ones compute the same.
type Program struct {
	Code       string            `json:"code"`       // version of the code
	Arch       string            `json:"arch"`       // of the processor: rounding of float64 may differ
	Strategies map[string]string `json:"strategies"` // hash of the definition, by name
}

// Refuse says why a worker cannot work for a coordinator; empty: it can.
func Refuse(coordinator, worker *Program) string {
	var absent, others []string
	for _, name := range slices.Sorted(maps.Keys(coordinator.Strategies)) {
		switch hash, there := worker.Strategies[name]; {
		case !there:
			absent = append(absent, name)
		case hash != coordinator.Strategies[name]:
			others = append(others, name)
		}
	}
	switch {
	case len(absent) > 0:
		return fmt.Sprintf("it has no strategy %s; take the coordinator's program", strings.Join(absent, ", "))
	case coordinator.Code != worker.Code:
		return fmt.Sprintf("its program is version %s, the coordinator's is %s; take the same program", worker.Code,
			coordinator.Code)
	case len(others) > 0:
		return fmt.Sprintf("its strategy %s has other parameters; take the coordinator's program",
			strings.Join(others, ", "))
	case len(worker.Strategies) > len(coordinator.Strategies):
		return "it has more strategies than the coordinator; take the coordinator's program"
	case coordinator.Arch != worker.Arch:
		return fmt.Sprintf("its processor is %s, the coordinator's is %s: they may round differently, and the sweep's "+
			"file would depend on who ran a set", worker.Arch, coordinator.Arch)
	}
	return ""
}

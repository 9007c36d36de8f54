package research

import (
	"fmt"
	"math/rand/v2"

	"github.com/cwbudde/qmc"
)

// random draws sets, each as likely as the next.
type random struct{ *rand.Rand }

// The streams of a seed: what each sampler draws is its own.
const (
	streamRandom = iota + 1
	streamCMAES
)

func newRandom(seed, stream uint64) random { return random{rand.New(rand.NewPCG(seed, stream))} }

func (r random) next(space *Space) uint64 { return r.Uint64N(space.size) }

// sobol is a Sobol sequence, scrambled by the seed.
type sobol struct {
	*qmc.Sobol
	point []float64
}

func newSobol(dims int, seed uint64) (*sobol, error) {
	s, err := qmc.NewSobol(dims, qmc.WithOwenScrambling(seed))
	if err != nil {
		return nil, fmt.Errorf("spread sets over %d dimensions: %w", dims, err)
	}
	return &sobol{s, make([]float64, dims)}, nil
}

func (s *sobol) next(space *Space) uint64 {
	s.NextInto(s.point)
	return space.At(s.point)
}

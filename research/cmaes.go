package research

import (
	"math"
	"slices"
)

// cmaes is CMA-ES within the borders of the space. Its first generation fills the space evenly; the
// search begins at the best of it. A point stands for the set whose cell it lies in; a set that was
// tried before is not run again.
type cmaes struct {
	c       *chooser
	budget  int
	seed    uint64
	filling []uint64 // the space-filling generation
	tried   map[uint64]float64
	search  *evolution  // nil: the space-filling generation is at hand
	points  [][]float64 // of the generation at hand
	asked   []uint64    // the sets of it that run
}

const (
	cmaesPopulation = 24   // points of a generation: a group's worth of sets
	cmaesSpread     = 0.25 // standard deviation of the first search generation, of a dimension's width
	cmaesLeast      = 0.3  // the least standard deviation, of a value's width: else no new set is found
	cmaesEmpty      = 30   // the search ends after so many generations in a row without a new set
)

func newCMAES(c *chooser, sets int, seed uint64) (*cmaes, error) {
	first, err := c.spread(min(max(4*cmaesPopulation, sets/10), sets), seed)
	return &cmaes{c: c, budget: sets, seed: seed, filling: first, tried: map[uint64]float64{}}, err
}

func (m *cmaes) next(values []float64) ([]trial, error) {
	if m.asked == nil {
		m.asked = m.filling
		return trials(m.asked, 0), nil
	}
	for i, set := range m.asked {
		m.tried[set] = values[i]
	}
	if m.search == nil {
		m.begin(values)
	} else {
		m.search.learn(m.points, m.ranks())
	}
	for range cmaesEmpty {
		if len(m.tried) >= m.budget {
			break
		}
		m.points = m.search.draw(cmaesPopulation)
		sets, err := m.fresh()
		if err != nil {
			return nil, err
		}
		if m.asked = sets; len(sets) > 0 {
			return trials(sets, 0), nil
		}
		m.search.learn(m.points, m.ranks())
	}
	return nil, nil
}

// begin starts the search at the best set of the space-filling generation.
func (m *cmaes) begin(values []float64) {
	dims := m.c.space.dims
	start, least := make([]float64, len(dims)), make([]float64, len(dims))
	for i, at := range m.c.space.Places(m.filling[ranked(values)[0]]) {
		width := 1 / float64(len(dims[i].Values))
		start[i], least[i] = (float64(at)+0.5)*width, cmaesLeast*width
	}
	m.search = newEvolution(start, least, cmaesSpread, cmaesPopulation, newRandom(m.seed, streamCMAES).NormFloat64)
}

// fresh are the sets of the generation that were not tried before, as far as the budget goes.
func (m *cmaes) fresh() (sets []uint64, err error) {
	for _, point := range m.points {
		set := m.c.space.At(point)
		if _, tried := m.tried[set]; tried || slices.Contains(sets, set) || len(m.tried)+len(sets) >= m.budget {
			continue
		}
		ok, err := m.c.allowed(set)
		if err != nil {
			return nil, err
		}
		if ok {
			sets = append(sets, set)
		}
	}
	return sets, nil
}

// ranks are the places of the generation's points, the best first. A set that is left out by a
// constraint, or lies beyond the budget, is last.
func (m *cmaes) ranks() []int {
	values := make([]float64, len(m.points))
	for i, point := range m.points {
		value, tried := m.tried[m.c.space.At(point)]
		if values[i] = value; !tried {
			values[i] = math.NaN()
		}
	}
	return ranked(values)
}

// evolution is the covariance matrix adaptation of a normal distribution.
// Source: Hansen, "The CMA Evolution Strategy: A Tutorial", 2016, with the Cholesky factor in the
// place of the root of the covariance (Krause, Arbonès & Igel 2016).
type evolution struct {
	mean, least []float64
	sigma       float64
	cov, root   [][]float64 // the covariance, and its lower Cholesky factor
	path, pull  []float64   // evolution paths of the covariance and of sigma

	weights                   []float64 // of the better half
	mu, cc, cs, c1, cmu, damp float64
	normal                    func() float64
}

func newEvolution(mean, least []float64, sigma float64, population int, normal func() float64) *evolution {
	n := float64(len(mean))
	e := &evolution{mean: mean, least: least, sigma: sigma, normal: normal, path: make([]float64, len(mean)),
		pull: make([]float64, len(mean))}
	for i := range mean {
		e.cov, e.root = append(e.cov, make([]float64, len(mean))), append(e.root, make([]float64, len(mean)))
		e.cov[i][i], e.root[i][i] = 1, 1
	}
	var sum, squares float64
	for i := range population / 2 {
		w := math.Log(float64(population+1)/2) - math.Log(float64(i+1))
		e.weights = append(e.weights, w)
		sum += w
	}
	for i := range e.weights {
		e.weights[i] /= sum
		squares += e.weights[i] * e.weights[i]
	}
	e.mu = 1 / squares
	e.cc = (4 + e.mu/n) / (n + 4 + 2*e.mu/n)
	e.cs = (e.mu + 2) / (n + e.mu + 5)
	e.c1 = 2 / ((n+1.3)*(n+1.3) + e.mu)
	e.cmu = min(1-e.c1, 2*(e.mu-2+1/e.mu)/((n+2)*(n+2)+e.mu))
	e.damp = 1 + 2*max(0, math.Sqrt((e.mu-1)/(n+1))-1) + e.cs
	return e
}

// draw draws so many points.
func (e *evolution) draw(population int) [][]float64 {
	points := make([][]float64, population)
	z := make([]float64, len(e.mean))
	for p := range points {
		for i := range z {
			z[i] = e.normal()
		}
		points[p] = make([]float64, len(z))
		for i := range z {
			points[p][i] = e.mean[i]
			for j := range i + 1 {
				points[p][i] += e.sigma * float64(e.root[i][j]*z[j])
			}
		}
	}
	return points
}

// learn moves and shapes the distribution after its points, of which order has the places, the best
// first.
func (e *evolution) learn(points [][]float64, order []int) {
	n := len(e.mean)
	step := make([]float64, n) // of the mean, in sigmas
	for k, w := range e.weights {
		for i, x := range points[order[k]] {
			step[i] += w * (x - e.mean[i]) / e.sigma
		}
	}
	length := 0.0
	for i, x := range e.whitened(step) {
		e.pull[i] = (1-e.cs)*e.pull[i] + math.Sqrt(e.cs*(2-e.cs)*e.mu)*x
		length += e.pull[i] * e.pull[i]
	}
	for i := range step {
		e.path[i] = (1-e.cc)*e.path[i] + math.Sqrt(e.cc*(2-e.cc)*e.mu)*step[i]
	}
	for i := range n {
		for j := range n {
			rank := 0.0
			for k, w := range e.weights {
				x := points[order[k]]
				rank += w * (x[i] - e.mean[i]) * (x[j] - e.mean[j]) / (e.sigma * e.sigma)
			}
			e.cov[i][j] = (1-e.c1-e.cmu)*e.cov[i][j] + e.c1*e.path[i]*e.path[j] + e.cmu*rank
		}
	}
	for i := range step {
		e.mean[i] = mirrored(e.mean[i] + e.sigma*step[i])
	}
	expected := math.Sqrt(float64(n)) * (1 - 1/float64(4*n) + 1/float64(21*n*n))
	e.sigma = min(e.sigma*math.Exp(e.cs/e.damp*(math.Sqrt(length)/expected-1)), 1)
	for i, least := range e.least {
		e.sigma = max(e.sigma, least/math.Sqrt(e.cov[i][i]))
	}
	e.factor()
}

// whitened solves root·y = x.
func (e *evolution) whitened(x []float64) []float64 {
	y := slices.Clone(x)
	for i := range y {
		for j := range i {
			y[i] -= e.root[i][j] * y[j]
		}
		y[i] /= e.root[i][i]
	}
	return y
}

// factor is the Cholesky factor of the covariance. A direction that has collapsed keeps a little.
func (e *evolution) factor() {
	for i := range e.cov {
		for j := range i + 1 {
			sum := e.cov[i][j]
			for k := range j {
				sum -= e.root[i][k] * e.root[j][k]
			}
			if i == j {
				e.root[i][i] = math.Sqrt(max(sum, 1e-12))
			} else {
				e.root[i][j] = sum / e.root[j][j]
			}
		}
	}
}

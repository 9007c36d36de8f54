package stats

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Overfitting is the result of a cross-validation of a choice: the days are cut into blocks; for
// each way to take half of the blocks, the set with the best Sharpe ratio there (in sample) is
// looked at in the other half (out of sample). One entry of Logits, InSample and OutOfSample is one
// split.
type Overfitting struct {
	Sets   int
	Days   int // days that were used
	Unused int // days at the beginning that do not fill the blocks
	Blocks int
	Splits int

	// PBO is the share of splits whose winner is in the lower half of all sets out of sample: 0.5
	// means that choosing was a coin flip.
	PBO                    float64
	MeanLogit, MedianLogit float64
	Slope, Intercept       float64 // of OutOfSample on InSample; 0 and the mean if all x are equal
	RSquared               float64
	Loss                   float64   // share of splits whose winner loses out of sample
	Logits                 []float64 // ln(ω/(1−ω)), ω the winner's rank out of sample ÷ (Sets+1)
	InSample, OutOfSample  []float64 // Sharpe ratio of the winner, per observation
	Winners                []int     // the set that won
}

// mostBlocks bounds the splits: 184,756.
const mostBlocks = 20

// PBO is the probability of backtest overfitting by combinatorially symmetric cross-validation over
// an even number of blocks, 2 to 20; 16 is usual and makes 12,870 splits. The returns must be all
// sets of the search, each series once, and the search must have chosen by the Sharpe ratio or by
// another objective that follows from daily returns. The result does not depend on workers, the
// number of goroutines. A half in which a set's returns never change has a Sharpe ratio of 0.
//
// Errors: those of Returns.Row, returns that are not finite, fewer than two sets, fewer than two
// days a block, a number of blocks that is odd or out of range.
//
// Source: Bailey, Borwein, López de Prado & Zhu 2017, "The Probability of Backtest Overfitting".
// Formula: share of ln(ω/(1−ω)) ≤ 0, ω = #{Sharpe ratios out of sample ≤ the winner's}/(N+1). Of
// equal sets in sample the lowest wins.
func PBO(r Returns, blocks, workers int) (Overfitting, error) {
	if blocks < 2 || blocks > mostBlocks || blocks%2 != 0 {
		return Overfitting{}, fmt.Errorf("%d blocks: an even number from 2 to %d", blocks, mostBlocks)
	}
	if err := r.check(2, 2*blocks); err != nil {
		return Overfitting{}, err
	}
	c := newCSCV(r, blocks)
	if err := c.sum(r, workers); err != nil {
		return Overfitting{}, err
	}
	result := Overfitting{Sets: r.Sets, Days: c.length * blocks, Unused: r.Days - c.length*blocks, Blocks: blocks}
	result.room(2 * len(c.masks))
	parts := (len(c.masks) + splitsOfPart - 1) / splitsOfPart
	all := make([]*halves, max(1, min(workers, parts)))
	err := inParallel(workers, parts, func(worker, part int) error {
		if all[worker] == nil {
			all[worker] = newHalves(c)
		}
		from := part * splitsOfPart
		all[worker].splits(from, min(from+splitsOfPart, len(c.masks)), &result)
		return nil
	})
	result.finish()
	return result, err
}

// cscv are the sums of each block of days of each set. All sums of blocks are exact (see exact): a
// half is the whole without the other half, in any order of additions.
type cscv struct {
	sets, blocks, length int
	masks                []uint32    // halves with the last block; each stands for its complement, too
	sums, squares        [][]float64 // [block][set]
	allSums, allSquares  []float64   // [set], of all blocks
}

func newCSCV(r Returns, blocks int) *cscv {
	c := &cscv{sets: r.Sets, blocks: blocks, length: r.Days / blocks, sums: newScratch(blocks, r.Sets),
		squares: newScratch(blocks, r.Sets), allSums: make([]float64, r.Sets), allSquares: make([]float64, r.Sets)}
	c.masks = revolvingDoor(blocks-1, blocks/2-1, nil)
	for i := range c.masks {
		c.masks[i] |= 1 << (blocks - 1)
	}
	return c
}

// sum reads all sets.
func (c *cscv) sum(r Returns, workers int) error {
	rows := newScratch(workers, r.Days)
	return inParallel(workers, r.Sets, func(worker, set int) error {
		row := rows[worker]
		if err := r.read(set, row); err != nil {
			return err
		}
		var sums, squares [mostBlocks]float64
		for block := range c.blocks {
			for _, x := range row[len(row)-(c.blocks-block)*c.length:][:c.length] {
				sums[block], squares[block] = sums[block]+x, squares[block]+x*x
			}
		}
		exact(sums[:c.blocks])
		exact(squares[:c.blocks])
		for block := range c.blocks {
			c.sums[block][set], c.squares[block][set] = sums[block], squares[block]
			c.allSums[set] += sums[block]
			c.allSquares[set] += squares[block]
		}
		return nil
	})
}

// exact rounds numbers to multiples of one power of two, small enough to lose at most 2^-51 of the
// sum of their magnitudes, and large enough that a sum or difference of any of them is exact.
// Otherwise rounding would leave a little in a half where nothing happened, and a Sharpe ratio of
// it.
func exact(values []float64) {
	var most float64
	for _, x := range values {
		most += math.Abs(x)
	}
	_, exponent := math.Frexp(most)
	anchor := math.Ldexp(1.5, exponent+1) // numbers near it are multiples of 2^(exponent-51)
	for i, x := range values {
		values[i] = (x + anchor) - anchor
	}
}

// splitsOfPart is the number of pairs of splits that a goroutine takes at a time.
const splitsOfPart = 99

// halves is the memory of one goroutine: the sums of the half that a mask names, and the Sharpe
// keys of both halves.
type halves struct {
	*cscv
	halfSums, halfSquares []float64
	keys, otherKeys       []float64
}

func newHalves(c *cscv) *halves {
	rows := newScratch(4, c.sets)
	return &halves{cscv: c, halfSums: rows[0], halfSquares: rows[1], keys: rows[2], otherKeys: rows[3]}
}

// splits looks at a run of masks and their complements.
func (h *halves) splits(from, to int, result *Overfitting) {
	clear(h.halfSums)
	clear(h.halfSquares)
	for block := range h.blocks {
		if h.masks[from]>>block&1 != 0 {
			h.swap(h.sums[block], h.squares[block], nil, nil)
		}
	}
	for i := from; i < to; i++ {
		if i > from {
			enters, leaves := h.masks[i]&^h.masks[i-1], h.masks[i-1]&^h.masks[i]
			in, out := bits.TrailingZeros32(enters), bits.TrailingZeros32(leaves)
			h.swap(h.sums[in], h.squares[in], h.sums[out], h.squares[out])
		}
		winner, other := h.compare()
		result.put(2*i, winner, h.keys, h.otherKeys, h.length*h.blocks/2)
		result.put(2*i+1, other, h.otherKeys, h.keys, h.length*h.blocks/2)
	}
}

// swap adds a block to the half and takes one out, if there is one.
func (h *halves) swap(sums, squares, oldSums, oldSquares []float64) {
	for set := range oldSums {
		h.halfSums[set] -= oldSums[set]
		h.halfSquares[set] -= oldSquares[set]
	}
	for set := range sums {
		h.halfSums[set] += sums[set]
		h.halfSquares[set] += squares[set]
	}
}

// compare computes the keys of both halves, and returns the first set with the greatest key of
// each.
func (h *halves) compare() (winner, other int) {
	n := float64(h.length * h.blocks / 2)
	sums, squares, allSums, allSquares := h.halfSums, h.halfSquares, h.allSums, h.allSquares
	keys, otherKeys := h.keys, h.otherKeys
	squares, allSums, allSquares = squares[:len(sums)], allSums[:len(sums)], allSquares[:len(sums)]
	keys, otherKeys = keys[:len(sums)], otherKeys[:len(sums)]
	best, otherBest := math.Inf(-1), math.Inf(-1)
	for set, sum := range sums {
		square := squares[set]
		key := sharpeKey(n, sum, square)
		otherKey := sharpeKey(n, allSums[set]-sum, allSquares[set]-square)
		keys[set], otherKeys[set] = key, otherKey
		if key > best {
			best, winner = key, set
		}
		if otherKey > otherBest {
			otherBest, other = otherKey, set
		}
	}
	return winner, other
}

// sharpeKey grows with the Sharpe ratio of n returns. It takes their sum and the sum of their
// squares. It is SR·|SR|·n/(n−1), without a root.
func sharpeKey(n, sum, square float64) float64 {
	n *= square
	variance := n - sum*sum
	if variance <= flat*n {
		return 0
	}
	return sum * math.Abs(sum) / variance
}

// room makes room for splits.
func (o *Overfitting) room(splits int) {
	o.Splits, o.Winners = splits, make([]int, splits)
	o.Logits, o.InSample, o.OutOfSample = make([]float64, splits), make([]float64, splits), make([]float64, splits)
}

// put writes one split: the keys of all sets in and out of sample, each from n days.
func (o *Overfitting) put(split, winner int, in, out []float64, n int) {
	reached := out[winner]
	var above uint64
	for _, key := range out {
		above += math.Float64bits(reached-key) >> 63 // 1 if key > reached, without a branch
	}
	rank := float64(len(out) - int(above))
	o.Winners[split], o.Logits[split] = winner, math.Log(rank/(float64(len(out)+1)-rank))
	o.InSample[split], o.OutOfSample[split] = sharpeOf(in[winner], n), sharpeOf(reached, n)
}

// sharpeOf is the Sharpe ratio of a key.
func sharpeOf(key float64, n int) float64 {
	return math.Copysign(math.Sqrt(math.Abs(key)*float64(n-1)/float64(n)), key)
}

// finish computes the figures from the splits.
func (o *Overfitting) finish() {
	n := float64(o.Splits)
	var low, loss int
	var x, y float64
	for i, logit := range o.Logits {
		if logit <= 0 {
			low++
		}
		if o.OutOfSample[i] < 0 {
			loss++
		}
		o.MeanLogit += logit / n
		x, y = x+o.InSample[i]/n, y+o.OutOfSample[i]/n
	}
	o.PBO, o.Loss, o.Intercept = float64(low)/n, float64(loss)/n, y
	o.MedianLogit = Quantile(0.5, slices.Sorted(slices.Values(o.Logits)))
	var xx, xy, yy float64
	for i := range o.InSample {
		dx, dy := o.InSample[i]-x, o.OutOfSample[i]-y
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
	}
	if xx > 0 && yy > 0 {
		o.Slope, o.RSquared = xy/xx, xy*xy/(xx*yy)
		o.Intercept = y - o.Slope*x
	}
}

// revolvingDoor appends all choices of k from n places, as bits, so that neighbours differ by one
// place that leaves and one that enters.
// Source: Nijenhuis & Wilf 1978, "Combinatorial Algorithms": all choices without the last place,
// then those with it backwards.
func revolvingDoor(n, k int, choices []uint32) []uint32 {
	if k == 0 || k == n {
		return append(choices, 1<<k-1)
	}
	choices = revolvingDoor(n-1, k, choices)
	from := len(choices)
	choices = revolvingDoor(n-1, k-1, choices)
	slices.Reverse(choices[from:])
	for i := range choices[from:] {
		choices[from+i] |= 1 << (n - 1)
	}
	return choices
}

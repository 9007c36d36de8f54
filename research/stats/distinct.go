package stats

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// Distinct are the sets whose returns no earlier set has, ascending: two sets that traded alike are
// one try. It compares hashes of the numbers (SHA-256).
// Errors: those of Returns.Row, returns that are not finite.
// Source: the trials of Bailey & López de Prado 2014 are different strategies.
func Distinct(r Returns, workers int) ([]int, error) {
	rows, texts := newScratch(workers, r.Days), make([][]byte, max(1, workers))
	hashes := make([][sha256.Size]byte, r.Sets)
	err := inParallel(workers, r.Sets, func(worker, set int) error {
		if err := r.read(set, rows[worker]); err != nil {
			return err
		}
		text := texts[worker][:0]
		for _, x := range rows[worker] {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(x+0)) // +0 makes 0 of −0
		}
		texts[worker], hashes[set] = text, sha256.Sum256(text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var first []int
	seen := make(map[[sha256.Size]byte]bool, r.Sets)
	for set, hash := range hashes {
		if !seen[hash] {
			seen[hash], first = true, append(first, set)
		}
	}
	return first, nil
}

// Only are the returns of some sets, which become sets 0, 1, 2 …
func (r Returns) Only(sets []int) Returns {
	return Returns{Sets: len(sets), Days: r.Days, Row: func(set int, into []float64) error {
		return r.Row(sets[set], into)
	}}
}

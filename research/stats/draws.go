package stats

// draws are the resamples of a bootstrap as counts: how often each day occurs in each resample.
// The counts of three days at a time are six bits, so the sum of a row over a resample is a third
// as many look-ups as days. A day that occurs more than three times in a resample is rare; the
// times above three stand in a list.
type draws struct {
	days, number int
	// words[five][resample] has the counts of fifteen days: the lowest six bits are those of the
	// first three.
	words [][]uint32
	more  []uint32 // days that occur once more than their bits say, resample by resample
	from  []int    // where the days of each resample begin in more; one more at the end
}

const (
	daysOfTable = 3 // days of one look-up
	tables      = 5 // look-ups of one word
	daysOfWord  = daysOfTable * tables
	tableBits   = 2 * daysOfTable
	mostCount   = 3 // the greatest count that two bits have
)

// newDraws counts the days of so many resamples. days returns those of a resample, which newDraws
// does not keep.
func newDraws(length, number int, days func(number int) []int) *draws {
	d := &draws{days: length, number: number, words: make([][]uint32, (length+daysOfWord-1)/daysOfWord),
		from: make([]int, 1, number+1)}
	for i := range d.words {
		d.words[i] = make([]uint32, number)
	}
	counts := make([]int, length)
	for i := range number {
		clear(counts)
		for _, day := range days(i) {
			counts[day]++
		}
		for day, count := range counts {
			d.words[day/daysOfWord][i] |= uint32(min(count, mostCount)) << (2 * (day % daysOfWord))
			for ; count > mostCount; count-- {
				d.more = append(d.more, uint32(day))
			}
		}
		d.from = append(d.from, len(d.more))
	}
	return d
}

// resample writes the sum of a row over each resample into sums.
func (d *draws) resample(row, sums []float64) {
	for i := range sums {
		var sum float64
		for _, day := range d.more[d.from[i]:d.from[i+1]] {
			sum += row[day]
		}
		sums[i] = sum
	}
	var padded [daysOfWord]float64
	var table [tables][1 << tableBits]float64
	for five, words := range d.words {
		clear(padded[copy(padded[:], row[five*daysOfWord:]):])
		for i := range table {
			fill(&table[i], padded[i*daysOfTable:])
		}
		sums := sums[:len(words)]
		const mask = 1<<tableBits - 1
		for i, w := range words {
			sums[i] += table[0][w&mask] + table[1][w>>6&mask] + table[2][w>>12&mask] +
				(table[3][w>>18&mask] + table[4][w>>24&mask])
		}
	}
}

// fill computes the sum of three days for each choice of their counts.
func fill(table *[1 << tableBits]float64, days []float64) {
	a, b, c := days[0], days[1], days[2]
	firsts := [4]float64{0, a, a + a, a + a + a}
	for high := range 4 {
		for middle := range 4 {
			rest := float64(high)*c + float64(middle)*b
			four := table[high<<4|middle<<2:][:4]
			four[0], four[1], four[2], four[3] = rest, rest+firsts[1], rest+firsts[2], rest+firsts[3]
		}
	}
}

package stats

import "gonum.org/v1/gonum/mathext"

// normal draws a standard normal number.
func (c *chance) normal() float64 {
	return mathext.NormalQuantile((float64(c.next()>>11) + 0.5) / (1 << 53))
}

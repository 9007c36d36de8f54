// Package rows holds the benchmarks that need more than one package: the bench table, and the
// growth of costs.
package rows

import (
	"os"
	"testing"
)

// The benchmarks speak of files by their paths from the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

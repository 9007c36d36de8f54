// Package tidy holds tests of the whole repository: imports, clocks, shapes, widths, documents.
package tidy

import (
	"os"
	"testing"
)

// The tests speak of files by their paths from the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

// Package tidy holds tests of the whole repository: imports, clocks, shapes, widths, documents.
package tidy

import (
	"os"
	"sync"
)

// atRoot makes the root of the repository the working directory: the tests speak of files by their
// paths from there. It is called in a test, not in TestMain: what is opened before the first test
// begins, go test does not see, and it would answer (cached) though files had changed.
var atRoot = sync.OnceFunc(func() {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
})

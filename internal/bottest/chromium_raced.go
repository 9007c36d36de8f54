//go:build raced

package bottest

import (
	"context"
	"testing"
)

// Chromium skips the test: the race lane of .ci/run, which looks at no page, compiles no browser.
func Chromium(t *testing.T, what string) context.Context {
	t.Skip(what + " is not looked at: -tags raced")
	return nil
}

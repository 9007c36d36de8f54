//go:build !raced

package bottest

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Chromium starts a browser, whose tabs the test opens, or skips the test where there is none and
// with -short. what names the thing that is not looked at then.
func Chromium(t *testing.T, what string) context.Context {
	if testing.Short() {
		t.Skip(what + " is not looked at: -short")
	}
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip(what + " is not looked at: there is no Chromium here (Debian's package chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(end)
	ctx, closing := chromedp.NewContext(ctx)
	t.Cleanup(closing)
	require.NoError(t, chromedp.Do(ctx)) // starts the browser
	return ctx
}

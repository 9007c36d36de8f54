package backtest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// DefaultAssets is the default address of the script of report.html, as go-echarts publishes it.
const DefaultAssets = "https://go-echarts.github.io/go-echarts-assets/assets/"

const scriptName = "echarts.min.js"

// Assets is the script that draws the charts of report.html: an address, or a file to copy into the
// page.
type Assets struct {
	URL  string // of the script, as the page names it
	File string // to be copied into the page; empty: the page names URL
}

// ParseAssets reads the setting: empty for DefaultAssets, "inline=FILE" to copy FILE into the page,
// otherwise the URL or the folder of echarts.min.js, or the script itself. The file of inline must
// be readable.
func ParseAssets(text string) (Assets, error) {
	if file, inline := strings.CutPrefix(text, "inline="); inline {
		handle, err := os.Open(file)
		if err != nil {
			return Assets{}, fmt.Errorf("assets %q: %w", text, err)
		}
		return Assets{File: file}, handle.Close()
	}
	if text == "" {
		text = DefaultAssets
	}
	if !strings.HasSuffix(text, ".js") {
		text = strings.TrimSuffix(text, "/") + "/" + scriptName
	}
	return Assets{URL: text}, nil
}

// script returns the text to put into the page, safe inside a script element, or nil where the page
// names an address.
func (a Assets) script() ([]byte, error) {
	if a.File == "" {
		return nil, nil
	}
	text, err := os.ReadFile(a.File)
	if err != nil {
		return nil, fmt.Errorf("assets: %w", err)
	}
	return bytes.ReplaceAll(text, []byte("</script"), []byte(`<\/script`)), nil
}

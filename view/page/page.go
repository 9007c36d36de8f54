// Package page writes HTML pages that are whole in one file: their style, their script and their
// numbers are inside, and they load nothing. A content security policy with the hash of the script
// forbids everything else.
//
// The package never reads a file or a clock and knows nothing of trading. The same Document gives
// the same bytes. A page is complete without its script: the script makes tables of packed numbers
// sortable and filterable, and draws a chart to zoom in.
//
// Start at Document. Pack packs numbers for the script; page.js says in its first lines which
// elements it looks for.
package page

import (
	"compress/flate"
	"crypto/sha256"
	_ "embed" // style and script
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/tidemark-trading/tidemark/view/chart"
)

// The parts of every page, written by hand.
var (
	//go:embed page.css
	style string
	//go:embed page.js
	ownScript string
)

// A Document is one page.
type Document struct {
	Title string
	Body  template.HTML // with elements of the style and the script
	Data  []Data
}

// Data are packed numbers, which the script finds by their id.
type Data struct {
	ID      string // letters, digits and hyphens
	Packed  []byte // by Pack; nil: Write packs Head and Columns
	Head    any
	Columns []*Column
}

// Style returns the CSS of a page; it contains chart.Style.
func Style() string { return chart.Style() + style }

// policy allows the style and the script of the page, and pictures inside the page; no address.
func policy() string {
	return fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; "+
		"form-action 'none'", hash(Style()), hash(script()))
}

// script is the script of a page: that of its pictures, then its own.
func script() string { return chart.Script() + ownScript }

// hash is the hash of an element's text, as a policy names it.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Write writes the page.
func (d *Document) Write(w io.Writer) error {
	begin := `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="` + policy() + `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>` + template.HTMLEscapeString(d.Title) + `</title>
<style>` + Style() + `</style>
</head>
<body>
`
	for _, text := range [...]string{begin, string(d.Body)} {
		if _, err := io.WriteString(w, text); err != nil {
			return fmt.Errorf("page: %w", err)
		}
	}
	deflater, err := newDeflater()
	if err != nil {
		return err
	}
	for i := range d.Data {
		one := &d.Data[i]
		if err := one.write(w, deflater); err != nil {
			return fmt.Errorf("page: %w", err)
		}
	}
	if _, err := io.WriteString(w, "<script>"+script()+"</script>\n</body>\n</html>\n"); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// write writes the numbers as an element that no browser runs.
func (d *Data) write(w io.Writer, deflater *flate.Writer) error {
	if _, err := fmt.Fprintf(w, "<script type=\"text/plain\" id=%q>", d.ID); err != nil {
		return err
	}
	encoder := base64.NewEncoder(base64.StdEncoding, w)
	if d.Packed == nil {
		if err := pack(deflater, encoder, d.Head, d.Columns); err != nil {
			return err
		}
	} else if _, err := encoder.Write(d.Packed); err != nil {
		return err
	}
	if err := encoder.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "</script>\n")
	return err
}

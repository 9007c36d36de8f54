package bot

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/parquet"
)

// exportHint is the text of a flag that writes a table.
const exportHint = "write %s to this `FILE`, .csv or .parquet"

// checkTable refuses a table's name before anything runs; empty: no table is wanted.
func checkTable(flag, path string) error {
	if path == "" || strings.HasSuffix(path, ".csv") || strings.HasSuffix(path, ".parquet") {
		return nil
	}
	return config.Usagef("--%s %s: want a name that ends in .csv or .parquet", flag, config.Clip(path))
}

// writeTable writes a table by its CSV, as the ending of its name says. An empty path is no table.
func writeTable(path string, csv func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	switch {
	case err != nil:
	case strings.HasSuffix(path, ".csv"):
		err = console.WriteTo(nil, path, csv)
	default:
		beside := path + ".csv~"
		defer os.Remove(beside)
		if err = console.WriteTo(nil, beside, csv); err == nil {
			err = console.WriteTo(nil, path, func(w io.Writer) error {
				return parquet.Table(w, func() (io.ReadCloser, error) { return os.Open(beside) })
			})
		}
	}
	if err != nil {
		return fmt.Errorf("write the table %s: %w", path, err)
	}
	return nil
}

package console

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// PrintJSON writes a value for a program to read, in lines.
func PrintJSON(out io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

// Tell writes a line for a person to the standard error.
func Tell(stderr io.Writer, text string) { fmt.Fprintf(stderr, "bot: %s\n", text) }

// WriteTo writes a file whole or not at all; an empty path means stdout.
func WriteTo(stdout io.Writer, path string, write func(io.Writer) error) error {
	if path == "" {
		w := bufio.NewWriter(stdout)
		return cmp.Or(write(w), w.Flush())
	}
	return osfile.Replace(path, func(file *os.File) error {
		w := bufio.NewWriter(file)
		return cmp.Or(write(w), w.Flush(), file.Chmod(0o644))
	})
}

package console

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	err = cmp.Or(write(w), w.Flush(), file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

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
	"slices"
	"strconv"

	"github.com/spf13/pflag"
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

// AddJSON adds the flag --json, which may name the version of the output's names: --json=v1 for the
// older ones, no version for those of today. v1 may be nil where the output has no other names.
func AddJSON(flags *pflag.FlagSet, on, v1 *bool, usage string) {
	flags.Var(&jsonFlag{on: on, v1: v1}, "json", usage)
	flags.Lookup("json").NoOptDefVal = "true"
}

// jsonFlag is the value of --json.
type jsonFlag struct{ on, v1 *bool }

// String returns whether JSON is wanted.
func (f *jsonFlag) String() string { return strconv.FormatBool(f.on != nil && *f.on) }

// Type makes help show the flag as a switch.
func (f *jsonFlag) Type() string { return "bool" }

// Set takes v1, v2, true and false.
func (f *jsonFlag) Set(text string) error {
	if !slices.Contains([]string{"v1", "v2", "true", "false"}, text) {
		return errors.New("want --json, --json=v1 or --json=v2")
	}
	*f.on = text != "false"
	if f.v1 != nil {
		*f.v1 = text == "v1"
	}
	return nil
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

package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/view"
)

// callerFlags name the bot of a command and the form of its answer.
type callerFlags struct {
	config, state string
	json          bool
}

// register adds the flags to a command.
func (f *callerFlags) register(c *cobra.Command) {
	c.Flags().StringVarP(&f.config, "config", "c", "", "the bot that runs with this config `FILE`")
	c.Flags().StringVar(&f.state, "state", "",
		"the bot whose state is in this `FOLDER`, or a FILE with a copy of it; without it that of -c, or state")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

// folder is the bot's state folder.
func (f *callerFlags) folder() (string, error) {
	if info, err := os.Stat(f.state); f.state != "" && (err != nil || info.IsDir()) {
		return f.state, nil
	}
	shared := stateFlags{path: f.state, config: f.config}
	path, err := shared.file()
	return filepath.Dir(path), err
}

// target is the bot that answers: --state may name a copy of a state file instead of a folder.
func (f *callerFlags) target() (of operator.Target, err error) {
	info, err := os.Stat(f.state)
	if f.state != "" && err == nil && info.Mode().IsRegular() && filepath.Base(f.state) != statedir.StateFile {
		return operator.Target{Copy: f.state}, nil
	}
	of.Folder, err = f.folder()
	return of, err
}

// ask asks the bot that the flags name.
func ask[T any](ctx context.Context, f *callerFlags, question operator.Question[T]) (answer operator.Answer[T],
	err error) {
	of, err := f.target()
	if err != nil {
		return answer, err
	}
	return question.Of(ctx, of)
}

// askAndShow asks the bot that the flags name, and prints its answer.
func askAndShow[T any](ctx context.Context, a *app, f *callerFlags, question operator.Question[T],
	print func(io.Writer, *T) error) (value *T, err error) {
	answer, err := ask(ctx, f, question)
	if err != nil {
		return nil, err
	}
	return answer.Value, show(a, f, answer, print)
}

// show prints an answer: as JSON, or for a person, with a note if the bot does not run.
func show[T any](a *app, f *callerFlags, answer operator.Answer[T], print func(io.Writer, *T) error) error {
	if f.json && answer.Raw == nil {
		return console.PrintJSON(a.Stdout, answer.Value)
	}
	if f.json {
		var lines bytes.Buffer
		if err := json.Indent(&lines, answer.Raw, "", "  "); err != nil {
			return err
		}
		_, err := lines.WriteTo(a.Stdout)
		return err
	}
	if answer.Raw == nil {
		fmt.Fprintln(a.Stderr, "the bot does not run: this is what its state file says")
	}
	return print(a.Stdout, answer.Value)
}

// act sends a command to a running bot and prints its report.
func (a *app) act(ctx context.Context, f *actFlags, path string, ask *operator.Request) error {
	folder, err := f.folder()
	if err != nil {
		return err
	}
	ask.By, ask.From = "user "+userName(), "terminal"
	answer, err := operator.Act(ctx, operator.Target{Folder: folder}, path, ask)
	if err != nil {
		return err
	}
	err = show(a, &f.callerFlags, answer, func(w io.Writer, r *operator.ActResult) error {
		_, err := io.WriteString(w, r.Words(path, ask))
		return err
	})
	if err == nil && !answer.Value.Done {
		return errUnconfirmed
	}
	return err
}

// document answers a command: it writes the page with its folder, and prints the outcome as JSON,
// or the document with more lines at the end. Without a path there is no page.
func (a *app) document(d *view.Doc, path string, outcome any, json bool, more ...string) error {
	var err error
	if path != "" {
		if err = writePage(path, d); err == nil {
			more = append(more, "open "+path)
		}
	}
	if json {
		return errors.Join(console.PrintJSON(a.Stdout, outcome), err)
	}
	text := d.Text(a.terminal().Width)
	if len(more) > 0 {
		text += "\n" + strings.Join(more, "\n") + "\n"
	}
	_, failed := fmt.Fprint(a.Stdout, text)
	return errors.Join(failed, err)
}

// writePage writes a document as a page, and its folder.
func writePage(path string, d *view.Doc) error {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = console.WriteTo(nil, path, d.Write)
	}
	if err != nil {
		return fmt.Errorf("write the page %s: %w", path, err)
	}
	return nil
}

package bot

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/research"
)

const mergeHelp = `Join the files of all shards of a sweep to the file that the sweep would have
written alone, byte for byte.

Afterwards the command of the sweep without --shard, with --out for the joined
file, shows the outcome: it goes on from the file, in which nothing is missing.`

const mergeExample = `  bot sweep -c sweep.toml --shard 1/2 --out part-*.sweep
  bot sweep -c sweep.toml --shard 2/2 --out part-*.sweep
  bot sweep merge --out all.sweep part-*of2.sweep
  bot sweep -c sweep.toml --out all.sweep`

func (a *app) mergeCommand() *cobra.Command {
	var out string
	var json bool
	c := &cobra.Command{
		Use: "merge FILE...", Short: "Join the files of a sweep's shards", Long: mergeHelp, Example: mergeExample,
		Args: cobra.MinimumNArgs(1),
	}
	c.RunE = a.enter(func(_ context.Context, args []string) error {
		var files []string
		for _, arg := range args { // there may be no shell that replaces a pattern
			if found, err := filepath.Glob(arg); err == nil && len(found) > 0 {
				files = append(files, found...)
			} else {
				files = append(files, arg)
			}
		}
		done, err := research.Merge(out, files)
		switch {
		case err != nil:
			return err
		case json:
			return console.PrintJSON(a.Stdout, done)
		}
		_, err = fmt.Fprintf(a.Stdout, "%d sets in %d groups are in %s. The sweep's command without --shard, with "+
			"--out %s, shows the outcome.\n", done.Sets, done.Groups, done.File, shellWords([]string{done.File}))
		return err
	})
	c.Flags().StringVar(&out, "out", "", "`FILE` of the whole sweep; without it the first name without its -1of2")
	console.AddJSON(c.Flags(), &json, nil, "print what was joined as JSON, and nothing else")
	return c
}

// jobIndex is the variable in which Kubernetes tells each pod of an indexed Job its number, from 0.
const jobIndex = "JOB_COMPLETION_INDEX"

// shardOf reads --shard; nil: it is not given.
func (a *app) shardOf(text string) (*research.Shard, error) {
	if text == "" {
		return nil, nil
	}
	if of, is := strings.CutPrefix(text, "job/"); is {
		index, err := strconv.Atoi(a.Getenv(jobIndex))
		if err != nil {
			return nil, config.Usagef("--shard %s: %s is %q; an indexed Job of Kubernetes sets it to a "+
				"number; elsewhere want --shard PART/OF, like 3/8", text, jobIndex, a.Getenv(jobIndex))
		}
		text = fmt.Sprintf("%d/%s", index+1, of)
	}
	shard, err := research.ParseShard(text)
	if err != nil {
		return nil, config.Usagef("--shard: %w", err)
	}
	return &shard, nil
}

// runShard runs one shard of a sweep.
func (a *app) runShard(ctx context.Context, f *sweepFlags, found *search, job research.Job, shard research.Shard,
	screen *sweepScreen) error {
	var done *research.Sharded
	err := a.guarded(ctx, &job, func() (err error) {
		done, err = research.RunShard(ctx, job, shard)
		return err
	})
	screen.end()
	switch {
	case err != nil:
		return searchError(ctx, found.base, err)
	case f.json:
		return console.PrintJSON(a.Stdout, done)
	}
	_, err = fmt.Fprintf(a.Stdout, "Shard %s is done: %d sets in %d groups are in %s.\n"+
		"When all %d are done: bot sweep merge FILES\n", done.Shard, done.Sets, done.Groups, done.File, shard.Of)
	return err
}

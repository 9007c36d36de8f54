package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
)

func TestTheStateFolderIsBesideTheConfig(t *testing.T) {
	const exchange = "[exchange]\nbase_url = \"http://127.0.0.1:8080/v2\"\n"
	load := func(t *testing.T, file, bot string, sets ...string) (string, error) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(bot+exchange), 0o600))
		overrides, err := config.ParseSets(sets)
		require.NoError(t, err)
		source, err := config.ReadSource(file, overrides)
		require.NoError(t, err)
		c, err := config.LoadRun(source)
		if err != nil {
			return "", err
		}
		return c.Bot.State, nil
	}
	made := func(t *testing.T, folder string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "bot.db"), nil, 0o600))
	}
	const s = "[bot]\nstate = \"s\"\n"
	for _, c := range []struct {
		name, file, bot string
		sets            []string
		want            string
	}{
		{"below it", "conf/live.toml", s, nil, "conf/s"},
		{"the default too", "conf/live.toml", "", nil, "conf/state"},
		{"above it", "conf/live.toml", "[bot]\nstate = \"../s\"\n", nil, "s"},
		{"in the current folder", "live.toml", s, nil, "s"},
		{"a whole path", "conf/live.toml", "[bot]\nstate = \"/var/lib/s\"\n", nil, "/var/lib/s"},
		{"a flag is of the current folder", "conf/live.toml", s, []string{"bot.state=other"}, "other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			got, err := load(t, c.file, c.bot, c.sets...)
			require.NoError(t, err)
			require.Equal(t, filepath.FromSlash(c.want), got)
		})
	}
	t.Run("a state at the former place is refused", func(t *testing.T) {
		t.Chdir(t.TempDir())
		made(t, "s")
		require.NoError(t, os.MkdirAll("conf/s", 0o755)) // an empty folder is no state
		_, err := load(t, "conf/live.toml", s)
		require.ErrorContains(t, err, "conf/live.toml:2: bot.state: is relative to the config's folder, where "+
			filepath.Join("conf", "s")+" has no bot.db, but s of the current folder has one")
		made(t, "conf/s")
		got, err := load(t, "conf/live.toml", s)
		require.NoError(t, err)
		require.Equal(t, filepath.Join("conf", "s"), got)
	})
}

package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/door"
)

func TestTheSecretsOfTheDoorAreReadAndChecked(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	path := file("path", "b2f9c0d4e7a1835f6e0d9c8b7a6f5e4d\n", 0o600)
	key := file("key", "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=\n", 0o600)
	read := func(sources map[string]config.SignalSection) (*Live, error) {
		c := config.DefaultRun()
		c.Signals.Door.Listen, c.Signals.Sources = "127.0.0.1:0", sources
		p := &Live{Access: Access{Config: c}}
		return p, p.readDoor(os.Getenv)
	}
	p, err := read(map[string]config.SignalSection{"tv": {Live: "door", PathFile: path},
		"model": {Live: "door", SecretFile: key}, "other": {Live: "stdin"}})
	require.NoError(t, err)
	require.Len(t, p.Door.Sources, 2)
	require.Equal(t, "model", p.Door.Sources[0].Name)
	secret := func(i int) door.Secret {
		latest, _, err := p.Door.Sources[i].Secret.Latest()
		require.NoError(t, err)
		return latest
	}
	require.Len(t, secret(0).Key, 32)
	require.Len(t, secret(1).Path, 32)
	require.NoError(t, os.Chmod(path, 0o644))
	require.NoError(t, os.WriteFile(path, []byte("longer than before: no secret"), 0o600))
	_, _, err = p.Door.Sources[1].Secret.Latest()
	require.ErrorContains(t, err, "others may read ")
	require.NoError(t, os.Chmod(path, 0o600))
	_, _, err = p.Door.Sources[1].Secret.Latest()
	require.ErrorContains(t, err, "openssl rand -hex 32", "its owner alone may read it now")
	require.NoError(t, os.WriteFile(path, []byte("b2f9c0d4e7a1835f6e0d9c8b7a6f5e4d\n"), 0o600))
	slash := "b2f9c0d4/7a1835f6e0d9c8b7a6f5e4d"
	short, poor := strings.Repeat("ab", 15), strings.Repeat("ab", 20)
	for want, s := range map[string]config.SignalSection{
		"signals.x: want path_file":                    {Live: "door"},
		"path_file, a file with a secret path, or ":    {Live: "door", PathFile: path, SecretFile: key},
		"signals.x.path_file: the file that it names ": {Live: "door", PathFile: filepath.Join(dir, "none")},
		"others may read ":                             {Live: "door", PathFile: file("open", "x", 0o644)},
		"openssl rand -hex 32":                         {Live: "door", PathFile: file("short", short, 0o600)},
		"signals.x.path_file: want 32 to 256 random":   {Live: "door", PathFile: file("poor", poor, 0o600)},
		"letters, digits, - and _":                     {Live: "door", PathFile: file("slash", slash, 0o600)},
		"signals.x.secret_file: want whsec_":           {Live: "door", SecretFile: path},
		"signals.x.path_file: it is the secret of tv":  {Live: "door", PathFile: path},
	} {
		_, err := read(map[string]config.SignalSection{"tv": {Live: "door", PathFile: path}, "x": s})
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "b2f9c0d4")
	}
}

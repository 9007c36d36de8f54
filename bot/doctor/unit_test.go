package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheDoctorNamesAUnitForOlderExitCodes(t *testing.T) {
	const bot = "[Service]\nExecStart=/usr/local/bin/bot run -c /etc/tidemark/live.toml\nRestart=on-failure\n"
	for name, row := range map[string]struct{ unit, dropIn, level, text string }{
		"as the docs had it": {bot + "RestartPreventExitStatus=2\n", "", Warn, "2 is a crash"},
		"among others":       {bot + "RestartPreventExitStatus=1 2 64 78\n", "", Warn, "2 is a crash"},
		"by its name":        {bot + "RestartPreventExitStatus=INVALIDARGUMENT\n", "", Warn, "2 is a crash"},
		"as a success": {bot + "RestartPreventExitStatus=64 78\nSuccessExitStatus=2\n", "", Warn,
			"2 is a crash"},
		"with spaces":  {bot + "RestartPreventExitStatus = 2\n", "", Warn, "2 is a crash"},
		"in a drop-in": {bot, "[Service]\nRestartPreventExitStatus=2\n", Warn, "2 is a crash"},
		"mended in a drop-in": {bot + "RestartPreventExitStatus=2\n",
			"[Service]\nRestartPreventExitStatus=\nRestartPreventExitStatus=64 78\n", OK, "fits"},
		"nothing set":         {bot, "", Warn, "add RestartPreventExitStatus=64 78"},
		"as the docs have it": {bot + "RestartPreventExitStatus=64 78\n", "", OK, "fits"},
		"by their names":      {bot + "RestartPreventExitStatus=USAGE CONFIG\n", "", OK, "fits"},
		"in two lines": {bot + "RestartPreventExitStatus=64\nRestartPreventExitStatus=78\n", "", OK,
			"fits"},
		"a line that goes on": {bot + "RestartPreventExitStatus=64 \\\n 2\n", "", Warn, "2 is a crash"},
		"another name of the bot": {"[Service]\nExecStart=/opt/mine/trader run -c " +
			"live.toml\nRestartPreventExitStatus=2\n", "", Warn, "2 is a crash"},
		"some other program":      {"[Service]\nExecStart=/usr/bin/other\nRestartPreventExitStatus=2\n", "", "", ""},
		"it is not started again": {"[Service]\nExecStart=/usr/local/bin/bot run -c live.toml\n", "", OK, "fits"},
		"a comment": {bot + "#RestartPreventExitStatus=2\nRestartPreventExitStatus=64 78\n", "", OK,
			"fits"},
		"the simulated exchange's": {"[Service]\nExecStart=/usr/local/bin/bot exchange\n", "", "", ""},
	} {
		etc, lib := t.TempDir(), t.TempDir()
		path := filepath.Join(lib, "tidemark.service")
		require.NoError(t, os.WriteFile(path, []byte(row.unit), 0o644))
		if row.dropIn != "" {
			require.NoError(t, os.Mkdir(filepath.Join(etc, "tidemark.service.d"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(etc, "tidemark.service.d", "codes.conf"), []byte(row.dropIn),
				0o644))
		}
		d := &doctor{}
		d.units(foldersOfUnits(func(key string) string {
			return map[string]string{"SYSTEMD_UNIT_PATH": etc + ":" + lib +
				":"}[key]
		}))
		if row.level == "" {
			require.Empty(t, d.findings, name)
			continue
		}
		require.Len(t, d.findings, 1, name)
		require.Equal(t, row.level, d.findings[0].Level, name)
		require.Contains(t, d.findings[0].Text+d.findings[0].Hint, row.text, name)
		require.Contains(t, d.findings[0].Text, path, name)
	}
}

package bot_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
)

// The commands in the notebook write the files that it reads, and these have the columns that it
// names.
func TestTheFilesOfTheNotebook(t *testing.T) {
	text, dir := read(t, "..", "docs", "notebook.py"), t.TempDir()
	for _, command := range regexp.MustCompile(`(?m)^#     bot (.*) --out (\S+)$`).FindAllStringSubmatch(text, -1) {
		words := append(strings.Fields(command[1]), "--out", filepath.Join(dir, command[2]))
		code, _, failed := call(t.Context(), words...)
		require.Zero(t, code, failed)
	}
	known := []string{"duration"} // made by the notebook
	for _, table := range regexp.MustCompile(`read_parquet\("(.*?)"\)`).FindAllStringSubmatch(text, -1) {
		file, err := os.Open(filepath.Join(dir, table[1]))
		require.NoError(t, err)
		info, err := file.Stat()
		require.NoError(t, err)
		in, err := parquet.OpenFile(file, info.Size())
		require.NoError(t, err)
		for _, f := range in.Schema().Fields() {
			known = append(known, f.Name())
		}
		require.NoError(t, file.Close())
	}
	require.Greater(t, len(known), 20)
	for _, name := range regexp.MustCompile(`(?:set_index\(|groupby\(|\[)"(\w+)"[\])]`).FindAllStringSubmatch(text, -1) {
		require.Contains(t, known, name[1])
	}
}

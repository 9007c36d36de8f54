package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryKeyIsFoundOnItsLine(t *testing.T) {
	text := strings.Join([]string{
		`# a = 1`,                          // 1
		`data.source = "store" # b = 2`,    // 2
		`[a."b c".d]`,                      // 3
		`x = """`,                          // 4
		`y = 1`,                            // 5: inside a text
		`""" # [z]`,                        // 6
		`list = [ "]", [1, 2], # ]`,        // 7
		`  { q = 1 } ]`,                    // 8
		`t = { u = 1, v.w = { k = '}' } }`, // 9
		`'lit.eral' = "\"[no]"`,            // 10
		"\t[ s . t ] # comment",            // 11
		`last=1`,                           // 12, without an end of line
	}, "\n")
	for path, want := range map[string]int{
		"data": 2, "data source": 2, "a": 3, "a b_c d": 3, "a b_c d x": 4, "a b_c d list": 7, "a b_c d t": 9,
		"a b_c d t u":     9,
		"a b_c d t v w k": 9, "a b_c d lit.eral": 10, "s t": 11, "s t last": 12, "a b_c d y": 0, "b": 0, "z": 0,
	} {
		parts := strings.Fields(path)
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], "_", " ")
		}
		require.Equal(t, want, lineOfKey(text, parts), path)
	}
}

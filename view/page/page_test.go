package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/view/page"
)

func ExampleDocument() {
	packed, err := page.Pack(map[string]string{"what": "hours"}, page.Values([]int64{7, 8, 10}, true))
	if err != nil {
		panic(err)
	}
	d := page.Document{Title: "sleep", Body: "<h1>Sleep</h1>\n", Data: []page.Data{{ID: "hours", Packed: packed}}}
	var out bytes.Buffer
	if err := d.Write(&out); err != nil {
		panic(err)
	}
	packed, err = page.Find(out.Bytes(), "hours")
	if err != nil {
		panic(err)
	}
	var head struct{ What string }
	columns, err := page.Unpack(packed, &head)
	fmt.Println(head.What, columns, err)
	// Output: hours [[7 8 10]] <nil>
}

func TestNumbersComeBackAsTheyWere(t *testing.T) {
	const most = 1 << 53
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.SliceOf(rapid.Int64Range(-most, most)), 1, 6).Draw(t, "columns")
		var columns []*page.Column
		for _, values := range want {
			columns = append(columns, page.Values(values, rapid.Bool().Draw(t, "steps")))
		}
		packed, err := page.Pack(rapid.String().Draw(t, "head"), columns...)
		require.NoError(t, err)
		var head string
		have, err := page.Unpack(packed, &head)
		require.NoError(t, err)
		for i := range want {
			require.Equal(t, fmt.Sprint(want[i]), fmt.Sprint(have[i]))
			c := columns[i].Cursor()
			for _, n := range want[i] {
				require.Equal(t, n, c.Next())
			}
		}
	})
}

// Values that are added in any portions, also long ones, come back.
func TestAColumnTakesPortions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var want []int64
		c := page.NewColumn(random.IntN(10), random.IntN(2) == 0)
		for range random.IntN(20) {
			portion := make([]int64, random.IntN(600))
			for i := range portion {
				portion[i] = (random.Int64N(2<<53) - 1<<53) >> random.IntN(54)
			}
			c.Add(portion...)
			want = append(want, portion...)
		}
		packed, err := page.Pack("", c)
		require.NoError(t, err)
		have, err := page.Unpack(packed, new(string))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(have[0]))
	}
}

func TestNumbersThatAScriptCannotHoldAreRefused(t *testing.T) {
	_, err := page.Pack("head", page.Values([]int64{1, 1<<53 + 1}, false))
	require.EqualError(t, err, "pack: column 0: value 1 is 9007199254740993: a page holds integers up to 2^53")
}

func FuzzUnpack(f *testing.F) {
	packed, err := page.Pack("head", page.Values([]int64{1, -2, 3}, true))
	require.NoError(f, err)
	f.Add(packed)
	f.Add([]byte(nil))
	f.Fuzz(func(_ *testing.T, packed []byte) {
		var head any
		_, _ = page.Unpack(packed, &head) // no panic
	})
}

// What the policy lets pass is what stands in the page, to the byte.
func TestThePolicyAllowsTheScriptAndTheStyleAlone(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, (&page.Document{Title: "<b>"}).Write(&out))
	text := out.String()
	require.Contains(t, text, "<title>&lt;b&gt;</title>")
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)[1]
	require.True(t, strings.HasPrefix(policy, "default-src 'none'; "), policy)
	for element, directive := range map[string]string{"script": "script-src", "style": "style-src"} {
		inside := regexp.MustCompile("(?s)<"+element+">(.*?)</"+element+">").FindAllStringSubmatch(text, -1)
		require.Len(t, inside, 1)
		sum := sha256.Sum256([]byte(inside[0][1]))
		require.Contains(t, policy, directive+" 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"';")
	}
	require.NotContains(t, text, "http:")
	require.NotContains(t, text, "https:")
	require.NotContains(t, text, " style=", "the policy forbids it")
}

// The script is a text that ends no element and is read by a person.
func TestTheScriptKeepsToItsLines(t *testing.T) {
	for _, file := range [...]string{"page.js", "../chart/read.js"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(text), "</")
		require.NotContains(t, string(text), "<!--")
		require.NotContains(t, string(text), "innerHTML", "names are the user's")
	}
}

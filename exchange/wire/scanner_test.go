package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/wire"
)

// member is one member of an object: its value as Text reads it.
type member struct{ name, value string }

// scan reads all members of an object.
func scan(text string) (members []member, err error) {
	s := wire.NewScanner([]byte(text))
	for s.Object(); s.Member(); {
		name := string(s.Name())
		if value := s.Text(text); s.Err() == nil {
			members = append(members, member{name, value})
		}
	}
	return members, s.End()
}

func TestAnObjectIsReadMemberByMember(t *testing.T) {
	members, err := scan(" {\"market\":\"BTC-EUR\" , \"operatorId\": -12,\n\"postOnly\":true," +
		"\"off\":false,\"no\":null," +
		"\"list\":[1,{\"a\":[]}],\"rate\":1.5e-3} ")
	require.NoError(t, err)
	require.Equal(t, []member{{"market", "BTC-EUR"}, {"operatorId", "-12"}, {"postOnly", "true"}, {"off", "false"},
		{"no", "null"}, {"list", `[1,{"a":[]}]`}, {"rate", "1.5e-3"}}, members)
}

func TestEscapesOfStringsAreRead(t *testing.T) {
	cases := map[string]string{
		`a\"b\\c\/d`:       `a"b\c/d`,
		`\b\f\n\r\t`:       "\b\f\n\r\t",
		`\u0042\u00e9€`:    "Bé€",
		`\ud83d\ude00`:     "😀",
		`\ud83d`:           "\ufffd", // half of a pair
		`\ud83d\u0041`:     "\ufffdA",
		`\ude00x`:          "\ufffdx",
		`\ud83d\ud83d\n`:   "\ufffd\ufffd\n",
		`BTC\u002dEUR`:     "BTC-EUR",
		`\uD83D\uDE00 end`: "😀 end",
		`\u0042`:           "B",
		``:                 "",
	}
	for text, want := range cases {
		members, err := scan(`{"` + text + `":"` + text + `"}`)
		require.NoError(t, err, text)
		require.Equal(t, []member{{want, want}}, members, text)
	}
}

func TestAnErrorNamesTheFirstWrongByte(t *testing.T) {
	cases := []struct {
		text string
		at   int
	}{
		{``, 0}, {`{`, 1}, {`{"a"}`, 4}, {`{"a":}`, 5}, {`{"a":1,}`, 7}, {`{"a":1 "b":2}`, 7},
		{`{a:1}`, 1}, {`{"a":01}`, 6}, {`{"a":+1}`, 5},
		{`{"a":1.}`, 7}, {`{"a":tru}`, 5}, {`{"a":[1,]}`, 8}, {`{} {}`, 3}, {`{"a":1}x`, 7}, {"{\"a\":\"\n\"}", 6},
		{`{"a":"b`, 7},                             // the end of what was cut off
		{`{"a":"b\x"}`, 5}, {`{"a":"b\u12g4"}`, 5}, // the string whose escapes are wrong
		{`{"a":"b\`, 5},
	}
	for _, c := range cases {
		_, err := scan(c.text)
		require.ErrorIs(t, err, wire.ErrMalformed, c.text)
		require.EqualError(t, err, fmt.Sprintf("malformed answer at byte %d of %d", c.at, len(c.text)), c.text)
	}
}

func TestTheFirstErrorStopsTheScanner(t *testing.T) {
	s := wire.NewScanner([]byte(`[x,1,"a",{"b":2}]`))
	s.Array()
	require.True(t, s.Element())
	require.Empty(t, s.Token())
	first := s.Err()
	require.Error(t, first)
	s.Fail("later", io.EOF)
	s.Object()
	require.False(t, s.Element())
	require.False(t, s.Member())
	require.Nil(t, s.Token())
	require.Zero(t, s.Integer("n"))
	require.Zero(t, s.Fixed("n", 2))
	require.Zero(t, s.ID("n"))
	require.Empty(t, s.Raw())
	require.Empty(t, s.Text(`[x,1,"a",{"b":2}]`))
	require.Equal(t, first, s.End())
}

func TestNestingHasALimit(t *testing.T) {
	skip := func(depth, limit int) error {
		s := wire.NewScanner([]byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)))
		if limit > 0 {
			s.Limit(limit)
		}
		s.Discard()
		return s.End()
	}
	require.NoError(t, skip(32, 32))
	require.ErrorIs(t, skip(33, 32), wire.ErrDeep)
	require.ErrorIs(t, skip(33, 32), wire.ErrMalformed)
	require.NoError(t, skip(10_000, 0))
	require.ErrorIs(t, skip(10_001, 0), wire.ErrDeep)
}

func TestATableFindsMembersInAnyOrder(t *testing.T) {
	names := []string{"market", "bid", "ask"}
	cases := []struct {
		text string
		want []any
	}{
		{`{"market":"A","bid":"1","ask":2}`, []any{"A", "1", "2"}},
		{`{"ask":"2","x":{"bid":9},"bid":"1","market":"A"}`, []any{"A", "1", "2"}},
		{`{"bid":null,"ask":"","market":true}`, []any{"true", nil, ""}}, // null is absent, an empty text is not
		{`{"bid":"1","bid":"2","ask":"3","ask":null}`, []any{nil, "2", nil}},
		{`{}`, []any{nil, nil, nil}},
	}
	for _, c := range cases {
		var token [3][]byte
		s := wire.NewScanner([]byte(c.text))
		s.Tokens(names, token[:])
		require.NoError(t, s.End(), c.text)
		for i, want := range c.want {
			if want == nil {
				require.Nil(t, token[i], c.text)
				continue
			}
			require.NotNil(t, token[i], c.text)
			require.Equal(t, want, string(token[i]), c.text)
		}
	}
}

func TestScanningAllocatesNothing(t *testing.T) {
	text := `{"market":"BTC-EUR","bids":[["1","2"],[3.5,"4"]],"nonce":9579,"more":{"a":[true,null]},"ask":"1"}`
	data, names := []byte(text), []string{"market", "ask"}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		var token [2][]byte
		s := wire.NewScanner(data)
		s.Tokens(names, token[:])
		s = wire.NewScanner(data)
		for s.Object(); s.Member(); {
			s.Text(text)
		}
		_ = s.End()
	}))
}

// tree reads any value into what encoding/json makes of it, with numbers as they are written and
// members as a list.
func tree(s *wire.Scanner) any {
	switch s.Peek() {
	case '{':
		all := []any{}
		for s.Object(); s.Member(); {
			name := string(s.Name())
			all = append(all, member{name: name}, tree(s))
		}
		return all
	case '[':
		all := []any{}
		for s.Array(); s.Element(); {
			all = append(all, tree(s))
		}
		return all
	case '"':
		return string(s.Token())
	case 'n':
		s.Token()
		return nil
	case 't', 'f':
		return string(s.Token()) == "true"
	}
	return json.Number(s.Token())
}

// jsonTree is tree by encoding/json.
func jsonTree(t *testing.T, d *json.Decoder) any {
	token, err := d.Token()
	require.NoError(t, err)
	bracket, ok := token.(json.Delim)
	if !ok {
		return token
	}
	all := []any{}
	for d.More() {
		if bracket == '{' {
			name, err := d.Token()
			require.NoError(t, err)
			all = append(all, member{name: name.(string)})
		}
		all = append(all, jsonTree(t, d))
	}
	_, err = d.Token()
	require.NoError(t, err)
	return all
}

// FuzzScanner holds the scanner against encoding/json: the same texts are JSON, with the same
// values; skipped, read whole, and read by a table.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"market":"BTC-EUR","amount":"1.5","operatorId":1}`, `{"a":{"b":[1,2,{"c":null}]},"d":true}`,
		`"a\ud83d\ude00\n"`, `[1e5,-0.5E+3,0]`, ` [ ] `, `{"a":"\ud800"}`, `{"a":1}}`, "{\"\":\"\u2028\"}",
		`{"b":[[]],"a":null,"b":"\u0061"}`, `01`, `nul`, "\"\x7f\"", `"\/\b`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		skipped := wire.NewScanner(text)
		raw := skipped.Raw()
		err := skipped.End()
		require.Equal(t, json.Valid(text), err == nil, "%v", err)
		if err != nil {
			require.ErrorIs(t, err, wire.ErrMalformed)
			return
		}
		require.Equal(t, bytes.Trim(text, " \t\r\n"), raw)
		if !utf8.Valid(text) {
			return // encoding/json writes U+FFFD for other bytes; the scanner leaves them as they are
		}
		s := wire.NewScanner(text)
		have := tree(&s)
		require.NoError(t, s.End())
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		require.Equal(t, jsonTree(t, d), have)
		if raw[0] == '{' {
			compareTable(t, text)
		}
	})
}

// compareTable holds Tokens and Text against a member loop.
func compareTable(t *testing.T, text []byte) {
	names := []string{"a", "market", "b"}
	want := make([][]byte, len(names))
	s := wire.NewScanner(text)
	for s.Object(); s.Member(); {
		name, first := string(s.Name()), s.Peek()
		again := s // a scanner is a value: its copy reads the same once more
		value := again.Text(string(text))
		at := -1
		for i := range names {
			if names[i] == name {
				at = i
			}
		}
		if at < 0 || first == '{' || first == '[' {
			if at >= 0 {
				return // a table's members are no objects and arrays
			}
			s.Discard()
			continue
		}
		want[at] = s.Token()
		if want[at] != nil {
			require.Equal(t, value, string(want[at]))
		}
	}
	have := make([][]byte, len(names))
	s = wire.NewScanner(text)
	s.Tokens(names, have)
	require.NoError(t, s.End())
	require.Equal(t, want, have)
}

func ExampleScanner() {
	s := wire.NewScanner([]byte(`{"market":"BTC-EUR","price":"30000.5","more":[1,2]}`))
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "price":
			fmt.Println("cents:", s.Fixed("price", 2))
		default:
			s.Discard()
		}
	}
	fmt.Println(s.End())
	// Output:
	// cents: 3000050
	// <nil>
}

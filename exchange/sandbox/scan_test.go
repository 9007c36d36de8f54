package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// member is one member of an object as the scanner shows it.
type member struct {
	name  string
	form  form
	value string
}

// scan reads all members of a text.
func scan(text string) (members []member, fault string) {
	s := scanner{text: text}
	for s.next() {
		members = append(members, member{s.name, s.form, s.value})
	}
	return members, s.fault
}

func TestAnObjectIsReadMemberByMember(t *testing.T) {
	members, fault := scan(" {\"market\":\"BTC-EUR\" , \"operatorId\": -12,\n\"postOnly\":true,\"off\":false,\"no\":null,\"list\":[1,{\"a\":[]}],\"rate\":1.5e-3} ")
	require.Empty(t, fault)
	require.Equal(t, []member{
		{"market", formText, "BTC-EUR"}, {"operatorId", formNumber, "-12"}, {"postOnly", formFlag, "true"}, {"off", formFlag, "false"},
		{"no", formOther, "null"}, {"list", formOther, `[1,{"a":[]}]`}, {"rate", formNumber, "1.5e-3"},
	}, members)
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
	}
	for text, want := range cases {
		members, fault := scan(`{"` + text + `":"` + text + `"}`)
		require.Empty(t, fault, text)
		require.Equal(t, []member{{want, formText, want}}, members, text)
	}
}

func TestWhatIsNoObjectIsToldFromWhatIsNoJSON(t *testing.T) {
	for _, text := range []string{"", " ", "[]", `"a"`, "1", "null", "x"} {
		_, fault := scan(text)
		require.Equal(t, "it is no JSON object", fault, text)
	}
	for _, text := range []string{"{", `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`, `{a:1}`, `{"a":01}`, `{"a":+1}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":tru}`, `{"a":"\x"}`, `{"a":"\u12g4"}`,
		"{\"a\":\"\n\"}", `{"a":"`, `{"a":[1,]}`, `{"a":{"b"}}`, `{} {}`, `{}}`, `{"a":1}x`, `{"a":[}`, `{"a":"\`} {
		_, fault := scan(text)
		require.Equal(t, "it is not valid JSON", fault, text)
	}
}

func TestNestingHasABound(t *testing.T) {
	nested := func(depth int) string {
		return `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}"
	}
	_, fault := scan(nested(maxDepth))
	require.Empty(t, fault)
	_, fault = scan(nested(maxDepth + 1))
	require.Equal(t, "it is nested too deep", fault)
}

// FuzzScanner holds the scanner against encoding/json: the same texts are objects, with the same members.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{`{}`, `{"market":"BTC-EUR","amount":"1.5","operatorId":1}`, `{"a":{"b":[1,2,{"c":null}]},"d":true}`, `{"a":"\ud83d\ude00\n"}`, `{"a":1e5,"a":-0.5E+3}`, ` [ ] `, `{"a":"\ud800"}`, `{"a":1}}`, "{\"\":\"\u2028\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) {
			return // refused before the scanner
		}
		have, fault := scan(string(text))
		if fault == "it is nested too deep" {
			return // encoding/json goes deeper
		}
		object := json.Valid(text) && bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
		require.Equal(t, object, fault == "", fault)
		if !object {
			return
		}
		want := textMembers(t, text)
		require.Len(t, have, len(want))
		for i, m := range want {
			require.Equal(t, m, have[i])
		}
	})
}

// textMembers reads an object with encoding/json.
func textMembers(t *testing.T, text []byte) (all []member) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	_, err := decoder.Token()
	require.NoError(t, err)
	for decoder.More() {
		name, err := decoder.Token()
		require.NoError(t, err)
		var raw json.RawMessage
		require.NoError(t, decoder.Decode(&raw))
		m := member{name: name.(string), form: formOther, value: string(raw)}
		switch {
		case raw[0] == '"':
			m.form = formText
			require.NoError(t, json.Unmarshal(raw, &m.value))
		case raw[0] == 't' || raw[0] == 'f':
			m.form = formFlag
		case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
			m.form = formNumber
		}
		all = append(all, m)
	}
	_, err = decoder.Token()
	require.NoError(t, err)
	_, err = decoder.Token()
	require.ErrorIs(t, err, io.EOF)
	return all
}

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// normalised says what a comparison of results leaves out.
const normalised = `The output and each file of a run are compared byte for byte. Where they differ, they are compared
again without ids: the run's, the code's version and the hashes of config and sweep, wherever they
stand, and all client order ids, which derive from them.
`

// ids are the members of results whose values differ between revisions.
var ids = map[string]bool{"id": true, "code_version": true, "config_hash": true, "code": true, "config": true}

// withoutIDs are the files of a run without ids.
func withoutIDs(files map[string][]byte) map[string][]byte {
	var pairs []string
	for _, text := range files {
		var members any
		if json.Unmarshal(text, &members) == nil {
			pairs = appendIDs(pairs, members)
		}
	}
	all, rest := strings.NewReplacer(pairs...), map[string][]byte{}
	client := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	sweep := regexp.MustCompile(`-[0-9a-f]{8}\.sweep`) // a file after the hash of its config
	for name, text := range files {
		text = client.ReplaceAll([]byte(all.Replace(string(text))), []byte("(client)"))
		rest[name] = sweep.ReplaceAll(text, []byte("-(config).sweep"))
	}
	return rest
}

// appendIDs appends the ids of members, each with its name for a replacer.
func appendIDs(pairs []string, members any) []string {
	switch members := members.(type) {
	case []any:
		for _, one := range members {
			pairs = appendIDs(pairs, one)
		}
	case map[string]any:
		for name, one := range members {
			if text, is := one.(string); is && ids[name] && len(text) >= 32 {
				pairs = append(pairs, text, "("+name+")")
			}
			pairs = appendIDs(pairs, one)
		}
	}
	return pairs
}

// firstDifference is the first line that differs between two texts, with its number, or empty.
func firstDifference(was, is []byte) string {
	old, now := strings.Split(string(was), "\n"), strings.Split(string(is), "\n")
	for i := range max(len(old), len(now)) {
		a, b := lineAt(old, i), lineAt(now, i)
		if a != b {
			a, b = around(a, b)
			return fmt.Sprintf("line %d:\n  old: %s\n  new: %s", i+1, a, b)
		}
	}
	return ""
}

// lineAt is a line, or "(end)" after the last.
func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "(end)"
	}
	return lines[i]
}

// around are the places of two lines, at most 200 bytes each, at which they begin to differ.
func around(a, b string) (string, string) {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	from := max(0, at-100)
	return strings.TrimSpace(a[from:min(len(a), at+100)]), strings.TrimSpace(b[from:min(len(b), at+100)])
}

package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// retired are keys of configs that have another name now, or no effect any more. They are read for
// one release, with a hint, so that a bot whose config has one still starts; then they are unknown
// keys.
var retired = []retiredKey{
	{path: []string{"exchange", "allow_withdrawals"},
		hint: "has no effect any more: the program cannot withdraw money; delete the key"},
	{path: []string{"report", "assets"}, hint: "has no effect any more: report.html loads no script; delete the key"},
	{path: []string{"strategies", anyName, "allotment"}, now: "allocation"},
	{path: []string{"markets", anyName, "house"}, now: "liquidity"},
}

// retiredKey is a row of the table.
type retiredKey struct {
	path []string
	now  string // its name since then; empty: it has no effect
	hint string // for a key without effect: what to do about it
}

// anyName stands in a path for a name of the user's.
const anyName = "*"

// retire takes retired keys out of a tree, gives their values to the keys of today, and keeps a
// hint for each. where is the place of a path. A key that stands there under both names is an error
// with both places.
func (s *Source) retire(tree map[string]any, where func(path []string) string) error {
	for i := range retired {
		k := &retired[i]
		for _, path := range k.paths(tree, nil) {
			table, was := tableAround(tree, path), path[len(path)-1]
			value := table[was]
			delete(table, was)
			if k.now == "" {
				s.Hints = append(s.Hints, where(path)+shownPath(path)+" "+k.hint)
				continue
			}
			now := today(path)
			if _, both := table[k.now]; both {
				return &KeyError{path: now, where: where(now),
					err: fmt.Errorf("%s is its old name, and stands there too "+
						"(%s); delete that", was, strings.TrimSuffix(where(path), ": "))}
			}
			table[k.now] = value
			s.Hints = append(s.Hints, where(path)+shownPath(path)+" is called "+k.now+" now; rename it")
		}
	}
	return nil
}

// paths are the places of a retired key in the table at a path.
func (k *retiredKey) paths(table map[string]any, at []string) (found [][]string) {
	part := k.path[len(at)]
	if len(at) == len(k.path)-1 {
		if _, there := table[part]; there {
			return [][]string{Join(at, part)}
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if inner, nested := table[name].(map[string]any); nested && (part == anyName || part == name) {
			found = append(found, k.paths(inner, Join(at, name))...)
		}
	}
	return found
}

// tableAround is the table that has the last key of a path; nil where there is none.
func tableAround(tree map[string]any, path []string) map[string]any {
	for _, part := range path[:len(path)-1] {
		tree, _ = tree[part].(map[string]any)
	}
	return tree
}

// today is a path with the names of today.
func today(path []string) []string {
	return renamePath(path, func(k *retiredKey) (was, now string) { return k.path[len(k.path)-1], k.now })
}

// before is a path with the names that today replaces.
func before(path []string) []string {
	return renamePath(path, func(k *retiredKey) (was, now string) { return k.now, k.path[len(k.path)-1] })
}

// renamePath replaces the name that a row of the table says, where a path leads through that key.
func renamePath(path []string, names func(*retiredKey) (was, now string)) []string {
	for i := range retired {
		k := &retired[i]
		was, now := names(k)
		last := len(k.path) - 1
		if k.now == "" || len(path) <= last || path[last] != was {
			continue
		}
		if !slices.EqualFunc(k.path[:last], path[:last],
			func(row, part string) bool { return row == anyName || row == part }) {
			continue
		}
		path = Join(path)
		path[last] = now
	}
	return path
}

package config

// retired are the config keys that have no effect any more, each with a hint. They are accepted for
// one release, so that a bot with an old config still starts; after that they are unknown keys.
var retired = []struct {
	path []string
	hint string
}{
	{[]string{"exchange", "allow_withdrawals"},
		"has no effect any more: the program cannot withdraw money; delete the key"},
}

// retire removes retired keys from the tree and keeps a hint for each, with its place.
func (s *Source) retire(tree map[string]any) {
	s.Hints = nil
	for i := range retired {
		path, table := retired[i].path, tree
		last := len(path) - 1
		for _, part := range path[:last] {
			table, _ = table[part].(map[string]any)
		}
		if _, found := table[path[last]]; found {
			delete(table, path[last])
			s.Hints = append(s.Hints, s.WhereOf(path)+shownPath(path)+" "+retired[i].hint)
		}
	}
}

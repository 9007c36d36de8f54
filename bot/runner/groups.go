package runner

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/statedir"
)

// keepGroups notes the cancel-on-disconnect groups of the config in the state file, beside those of
// earlier runs that the config does not have: their timers may run until they are stopped.
func (r *runner) keepGroups() error {
	text, err := r.store.Blob(statedir.GroupsBlob)
	if err != nil {
		return err
	}
	if text != nil {
		if err := json.Unmarshal(text, &r.formerGroups); err != nil {
			return fmt.Errorf("cancel-on-disconnect groups in the state file: %w", err)
		}
	}
	groups := r.plan.Groups()
	r.formerGroups = slices.DeleteFunc(r.formerGroups, func(g uint16) bool { return slices.Contains(groups, g) })
	r.saveGroups(append(groups, r.formerGroups...))
	return nil
}

// saveGroups writes the groups whose timers may run with the next commit.
func (r *runner) saveGroups(groups []uint16) {
	text, _ := json.Marshal(groups) // numbers
	r.journal.batch.Blob(statedir.GroupsBlob, text)
}

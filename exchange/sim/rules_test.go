package sim

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// titles returns the titles of all scenarios, by file.
func titles(t *testing.T) map[string][]string {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	between, err := filepath.Glob("testdata/book/*.txt")
	require.NoError(t, err)
	all := map[string][]string{}
	recorded, err := filepath.Glob("testdata/queue/*.txt")
	require.NoError(t, err)
	for _, file := range slices.Concat(files, between, recorded) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, scenario := range split(string(text)) {
			title, _, _ := strings.Cut(scenario, "\n")
			name := strings.TrimPrefix(file, "testdata/")
			all[name] = append(all[name], strings.TrimPrefix(title, "# "))
		}
	}
	return all
}

func TestEveryScenarioCitesItsSource(t *testing.T) {
	source := regexp.MustCompile(`\(((venue-facts )?[1-4]\.\d\b[^()]*|design, fills)\)$`)
	for file, list := range titles(t) {
		seen := map[string]bool{}
		for _, title := range list {
			require.Regexp(t, source, title, file)
			if !strings.HasPrefix(title, "…") { // goes on from the one before
				require.False(t, seen[title], "%s: two scenarios are called %q", file, title)
			}
			seen[title] = true
		}
	}
}

// Each section that a scenario cites has a row.
func TestTheTableOfRulesHasTheSectionOfEveryScenario(t *testing.T) {
	page, err := os.ReadFile("../../docs/venue.md")
	require.NoError(t, err)
	cited := regexp.MustCompile(`(?:venue-facts )?[1-4]\.\d|design, fills`)
	for file, list := range titles(t) {
		for _, title := range list {
			source := title[strings.LastIndex(title, "("):]
			for _, section := range cited.FindAllString(source, -1) {
				require.True(t, strings.Contains(string(page), "\n| "+section), "docs/venue.md has no row for %s: %s",
					file, title)
			}
		}
	}
}

// The sections whose rules the venue plays, each of which must have its row.
func TestTheTableOfRulesCoversTheSpecification(t *testing.T) {
	page, err := os.ReadFile("../../docs/venue.md")
	require.NoError(t, err)
	for _, section := range []string{
		"2.1 restatementReason", "2.1 triggerReference", "2.2 taker", "3.1 expired", "3.2 halted", "3.2 auction",
		"3.2 auctionMatching",
		"3.2 cancelOnly", "4.1 rule 3", "4.1 rule 4", "4.1 rule 5", "4.1 codGroupId", "4.1 postOnly", "4.4 amount",
		"4.4 amountQuote",
		"4.4 triggerAmount", "4.4 timeInForce", "4.4 selfTradePrevention", "4.4 postOnly", "venue-facts 3.3",
		"venue-facts 3.4", "venue-facts 3.6",
	} {
		require.Contains(t, string(page), "\n| "+section, section)
	}
}

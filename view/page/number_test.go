package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/view/page"
)

func TestThousandsStandApart(t *testing.T) {
	for text, want := range map[string]string{"": "", "–": "–", "999": "999", "1000": "1_000",
		"-1234567.8901": "-1_234_567.8901", "+1234.50": "+1_234.50", "0.12345": "0.12345", "2021-06": "2021-06",
		"1234 EUR": "1234 EUR", "1e10": "1e10"} {
		require.Equal(t, want, strings.ReplaceAll(page.Number(text), "\u202f", "_"))
	}
}

func TestCommasBetweenThousandsAreSpaces(t *testing.T) {
	for text, want := range map[string]string{"1,580.53 / -1,901.43": "1_580.53 / -1_901.43", "10,20,300": "10,20,300",
		"of 1,234,567, at most": "of 1_234_567, at most", "a, b": "a, b", "fast=1,200": "fast=1,200",
		"95.06×": "95.06×", "(12,345 EUR)": "(12_345 EUR)", "1,2345": "1,2345", ",100": ",100"} {
		require.Equal(t, want, strings.ReplaceAll(page.Thin(text), "\u202f", "_"))
	}
}

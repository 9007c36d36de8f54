package renamed

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADocumentComesBackFromItsOlderNames(t *testing.T) {
	for document, text := range map[string]string{
		"status":    `{"unallocated":[{"amount":"1"}],"nothing":{"unallocated":2}}`,
		"positions": `{"positions":[{"value":"1"},{"last":"2"}],"value":3}`,
		"explain":   `{"steps":[{"details":{"details":1}}]}`,
		"doctor":    `[{"hint":"x"},{"level":"ok"}]`,
		"flatten":   `{"held":[{"value":"1"}],"sales":[{"value":"2"}]}`,
		"orders":    `{"orders":[{"value":1}]}`,
	} {
		old, err := V1(document, []byte(text))
		require.NoError(t, err)
		if document != "orders" {
			require.NotEqual(t, text, string(old))
		}
		today, err := Today(document, old)
		require.NoError(t, err)
		require.Equal(t, text, string(today))
		same, err := Today(document, []byte(text))
		require.NoError(t, err)
		require.Equal(t, text, string(same), "a document of today stays")
	}
	old, err := V1("status", []byte(`{"unallocated":[],"open_orders":0}`))
	require.NoError(t, err)
	require.Equal(t, `{"nobodys":[],"open_orders":0}`, string(old))
	_, err = Today("positions", []byte(`{"positions":[{"worth":"1","value":"2"}]}`))
	require.ErrorContains(t, err, "names of positions: positions.value stands there under its old and its new name")
}

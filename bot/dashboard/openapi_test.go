//go:build !raced

package dashboard

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

func init() {
	fitsDescription = func(t *testing.T, v *visitor, path, body string) {
		_, text, _ := v.do(http.MethodGet, "/api/v1/openapi.json", nil, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+lookToken)
		})
		document, err := openapi3.NewLoader().LoadFromData([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(actions)+len((&botPages{}).questions()), document.Paths.Len())
		fitsAnswer(t, document, document.Paths.Value(path).Post, body)
	}
	fitsFleet = func(v *visitor) {
		document, err := openapi3.NewLoader().LoadFromData([]byte(v.sees("/api/v1/openapi.json")))
		require.NoError(v, err)
		require.NoError(v, document.Validate(v.Context()))
		fitsAnswer(v, document, document.Paths.Value("/bots").Get, v.sees("/api/v1/bots"))
	}
}

func fitsAnswer(t require.TestingT, document *openapi3.T, operation *openapi3.Operation, body string) {
	var value any
	require.NoError(t, json.Unmarshal([]byte(body), &value))
	answer := operation.Responses.Value("200").Value.Content["application/json"]
	require.NoError(t, document.ValidateSchemaJSON(answer.Schema.Value, value))
}

//go:build !raced

package sandbox

import (
	"context"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

func TestTheDescriptionIsAValidOpenAPIDocument(t *testing.T) {
	r := newRig(t)
	answer := r.do(httptestGet("/openapi.json")).ok(t)
	require.Equal(t, "application/json", answer.header.Get("Content-Type"))
	document, err := openapi3.NewLoader().LoadFromData([]byte(answer.body))
	require.NoError(t, err)
	require.True(t, document.IsOpenAPI31OrLater())
	require.NoError(t, document.Validate(context.Background()))
}

func TestTheDescriptionHasEveryEndpointWithItsParametersAndWeight(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(newRig(t).ex.door.OpenAPI())
	require.NoError(t, err)
	described := 0
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			described++
			e, _ := route(method, strings.TrimPrefix(path, api.Version))
			require.NotNil(t, e, "%s %s", method, path)
			require.EqualValues(t, e.Weight, operation.Extensions["x-weight"])
			have := len(operation.Parameters)
			if !e.Public() {
				have-- // the window
				require.Len(t, *operation.Security, 1)
			}
			if e.InBody() {
				have += len(operation.RequestBody.Value.Content["application/json"].Schema.Value.Properties)
			}
			require.Equal(t, len(e.Params), have, "%s %s", method, path)
		}
	}
	require.Equal(t, len(listed), described)
}

func TestTheAdminInterfaceDescribesItself(t *testing.T) {
	l := newLine(t)
	a := l.admin("GET", "/openapi.json", "").ok(t)
	document, err := openapi3.NewLoader().LoadFromData([]byte(a.body))
	require.NoError(t, err)
	count := 0
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			count++
			require.NotNil(t, l.ex.adminTable.Exact(method, strings.TrimPrefix(path, "/admin")))
		}
	}
	require.Equal(t, len(adminEndpoints), count)
	require.NotContains(t, l.get("/markets").body, "admin")
	require.NotContains(t, string(l.ex.door.OpenAPI()), "/admin", "the public description does not tell of it")
}

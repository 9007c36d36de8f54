package api

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPublishedSignaturesAreAccepted(t *testing.T) {
	var all []struct {
		Secret, Timestamp, Method, Path, Body, Signature string
	}
	require.NoError(t, json.Unmarshal([]byte(vectors(t, "signature_vectors.json")), &all))
	require.NotEmpty(t, all)
	for _, v := range all {
		k := &activeKey{Key: &Key{Secret: v.Secret}}
		visit := &Request{Body: []byte(v.Body), shown: credentials{timestamp: v.Timestamp}}
		visit.Endpoint = &Endpoint{Method: v.Method}
		copy(visit.signature[:], unhex(t, v.Signature))
		request := httptest.NewRequest(v.Method, v.Path, nil)
		strict := v.Method != http.MethodGet || v.Body == "" // specification 5 has nothing of the body of a GET
		require.True(t, k.signed(visit, request, strict), "%+v", v)
		visit.signature[0]++
		require.False(t, k.signed(visit, request, strict), "%+v", v)
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	bytes, err := hex.DecodeString(text)
	require.NoError(t, err)
	return bytes
}

// vectors reads a recorded payload, or skips the test where the folder of recordings is not beside
// the project.
func vectors(t testing.TB, name string) string {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "..", "shared", "spec", "fixtures")
	text, err := os.ReadFile(filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no recording %s: %s is not there", name, folder)
	}
	require.NoError(t, err)
	return string(text)
}

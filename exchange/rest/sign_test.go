package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// fixture reads recorded data that is not part of the project.
func fixture(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "spec", "fixtures", name))
	if err != nil {
		t.Skip("recorded data is not here: ", err)
	}
	return data
}

func TestPublishedSignaturesAreReproduced(t *testing.T) {
	var vectors []struct{ Secret, Timestamp, Method, Path, Body, Signature string }
	require.NoError(t, json.Unmarshal(fixture(t, "signature_vectors.json"), &vectors))
	require.Greater(t, len(vectors), 10)
	for _, v := range vectors {
		timestamp, err := strconv.ParseInt(v.Timestamp, 10, 64)
		require.NoError(t, err)
		signer := NewSigner(NewSecret(v.Secret))
		for range 2 { // the second is made from the saved state
			require.Equal(t, v.Signature,
				string(signer.AppendSignature(nil, timestamp, v.Method, v.Path, []byte(v.Body))), v.Path)
		}
	}
}

func TestSignatureIsTheHMACOfTheWholeRequest(t *testing.T) {
	signer := NewSigner(NewSecret("a secret that is longer than one block of the hash, which has sixty-four bytes"))
	for length := range 300 {
		body := make([]byte, length)
		mac := hmac.New(sha256.New,
			[]byte("a secret that is longer than one block of the hash, which has sixty-four bytes"))
		mac.Write([]byte("1548172481125PUT/v2/order" + string(body)))
		require.Equal(t, hex.EncodeToString(mac.Sum(nil)),
			string(signer.AppendSignature(nil, 1548172481125, "PUT", "/v2/order", body)))
	}
}

// orderBody is of the length of the body of an order.
const orderBody = `{"market":"BTC-EUR","side":"buy","orderType":"limit","operatorId":77,"clientOrderId":"2be7d0df-d8dc-7b93-a550-8876f3b393e9","amount":"0.5","price":"29000.5","timeInForce":"GTC","postOnly":true,"selfTradePrevention":"cancelNewest","responseRequired":true}`

func TestSigningAllocatesNothing(t *testing.T) {
	signer, body, dst := NewSigner(NewSecret("secret")), []byte(orderBody), make([]byte, 0, 64)
	signer.AppendSignature(dst, 1, "POST", "/v2/order", body)
	require.Zero(t, testing.AllocsPerRun(100,
		func() { signer.AppendSignature(dst, 1548172481125, "POST", "/v2/order", body) }))
}

// The goal is 2.2 times the hash of the same bytes; the ratio is of the same run, floor and
// signature in turn.
func BenchmarkSigningAgainstTheBareHash(b *testing.B) {
	signer, body, dst := NewSigner(NewSecret("secret")), []byte(orderBody), make([]byte, 0, 64)
	message := append([]byte("1548172481125POST/v2/order"), body...)
	ratio(b, "sha256", func() { sha256.Sum256(message) },
		func() { signer.AppendSignature(dst, 1548172481125, "POST", "/v2/order", body) })
}

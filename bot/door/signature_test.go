package door

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/state/signals"
)

// The vector was made by hmac and base64 of Python.
const (
	vectorID   = "msg_2024-03-01_BTC-EUR"
	vectorTime = "1709294400"
	vectorBody = `{"market":"BTC-EUR","action":"buy","value":0.81}`
	vectorMAC  = "v1,sUNeqkIJRFmx6wAHreuI7mDIkcBfrqp/2PF0oNVHVgQ="
)

func TestASignedSignalIsHeardOnce(t *testing.T) {
	m := makeDoor(t, nil)
	for range 4 { // and each time the sender gets the first number
		status, answer, _ := m.post("/signal", vectorBody, signed(vectorID, vectorTime, vectorMAC))
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, `{"signal":1}`, answer)
	}
	require.Equal(t, []string{"BTC-EUR buy 0.81"}, m.ear.all())
	a := m.ear.heard[0]
	require.Equal(t, "model", a.Source)
	require.Equal(t, vectorID, a.ID)
	require.Equal(t, signals.ProofHMAC, a.Proof)
	require.Equal(t, "192.0.2.7", a.Address)
	require.Equal(t, madeNow.UnixNano(), int64(a.Sent))
	require.Equal(t, vectorBody, string(a.Body))
}

func TestAWrongSignatureIsRefusedWithoutAReason(t *testing.T) {
	other := "v1," + base64.StdEncoding.EncodeToString(make([]byte, 32))
	stamp := func(later time.Duration) string { return strconv.FormatInt(madeNow.Add(later).Unix(), 10) }
	for _, c := range []struct {
		id, time, signatures, body string
		status                     int
		log                        string
	}{
		{vectorID, vectorTime, vectorMAC, vectorBody, 200, ""},
		{vectorID, vectorTime, other + " " + vectorMAC, vectorBody, 200, ""}, // while the secret changes
		{vectorID, vectorTime, "v1a,xx " + vectorMAC, vectorBody, 200, ""},
		{vectorID, vectorTime, other, vectorBody, 401, "no source has the secret"},
		{vectorID, vectorTime, vectorMAC, vectorBody + " ", 401, "no source has the secret"},
		{"msg_2", vectorTime, vectorMAC, vectorBody, 401, "no source has the secret"},
		{vectorID, "1709294401", vectorMAC, vectorBody, 401, "no source has the secret"},
		{vectorID, stamp(-301 * time.Second), vectorMAC, vectorBody, 401, "clock by 5m1s"},
		{vectorID, stamp(301 * time.Second), vectorMAC, vectorBody, 401, "clock by -5m1s"},
		{vectorID, "-9223372036854775808", vectorMAC, vectorBody, 401, "differs from this machine's clock"},
		{vectorID, "1e9", vectorMAC, vectorBody, 401, "whole number"},
		{vectorID, vectorTime, "", vectorBody, 401, "has no v1,BASE64"},
		{vectorID, vectorTime, strings.Replace(vectorMAC, "v1", "v2", 1), vectorBody, 401, "has no v1,BASE64"},
		{vectorID, vectorTime, "v1,AAAA", vectorBody, 401, "has no v1,BASE64"},
		{"", vectorTime, vectorMAC, vectorBody, 401, "webhook-id is empty"},
	} {
		m := makeDoor(t, nil)
		status, answer, _ := m.post("/signal", c.body, signed(c.id, c.time, c.signatures))
		require.Equal(t, c.status, status, "%+v", c)
		require.Contains(t, m.log.String(), c.log)
		if status != http.StatusOK {
			require.Equal(t, `{"error":"unauthorized"}`, answer)
			require.Empty(t, m.ear.all())
		}
	}
	m := makeDoor(t, nil)
	status, _, _ := m.post("/signal", vectorBody)
	require.Equal(t, http.StatusUnauthorized, status)
	status, _, _ = m.post("/signal", vectorBody, signed(vectorID, vectorTime, vectorMAC), func(r *http.Request) {
		r.Header.Add("webhook-id", "another")
	})
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, m.log.String(), "not there once each")
}

// openssl signs as the door expects it: an independent program.
func TestASignatureIsThatOfOpenSSL(t *testing.T) {
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("there is no openssl on this machine")
	}
	for n := leastKey; n <= mostKey; n += 8 {
		key := make([]byte, n)
		for i := range key {
			key[i] = byte(n * (i + 1))
		}
		parsed, err := ParseKey(keyPrefix + base64.StdEncoding.EncodeToString(key))
		require.NoError(t, err)
		require.Equal(t, key, parsed)
		body := strings.Repeat("é\n", n)
		c := exec.Command(program, "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:"+hex.EncodeToString(key),
			"-binary")
		c.WaitDelay = time.Second
		c.Stdin = strings.NewReader(fmt.Sprintf("id%d.%s.%s", n, vectorTime, body))
		mac, err := c.Output()
		require.NoError(t, err)
		head := http.Header{headerID: {fmt.Sprint("id", n)}, headerTime: {vectorTime},
			headerSignature: {"v1," + base64.StdEncoding.EncodeToString(mac)}}
		s, err := signatureOf(head, madeNow)
		require.NoError(t, err)
		require.True(t, s.by(key, []byte(body)))
		key[n-1]++
		require.False(t, s.by(key, []byte(body)))
	}
}

func TestAKeyHasAPrefixAndALength(t *testing.T) {
	for _, text := range []string{"", "whsec_", madeKey[len(keyPrefix):], madeKey[:12], madeKey + "!",
		keyPrefix + base64.StdEncoding.EncodeToString(make([]byte, 23)),
		keyPrefix + base64.StdEncoding.EncodeToString(make([]byte, 65))} {
		_, err := ParseKey(text)
		require.ErrorContains(t, err, "openssl rand -base64 32", text)
		if len(text) > 6 {
			require.NotContains(t, err.Error(), text)
		}
	}
}

package bot_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// served is `bot exchange` as a process of its own.
type served struct {
	t      testing.TB
	cmd    *exec.Cmd
	out    *bufio.Reader
	stderr bytes.Buffer // read it after stop
	facts  struct {
		BaseURL    string `json:"base_url"`
		AdminURL   string `json:"admin_url"`
		AdminToken string `json:"admin_token"`
		Accounts   []struct {
			Keys []struct{ Key, Secret string }
		}
		Curl []string
	}
}

// serve starts it on a free port of this machine and waits until it has told its facts.
func serve(t testing.TB, environment []string, args ...string) *served {
	cmd := bottest.Child(bottest.Program(t),
		append([]string{"exchange", "--listen", "127.0.0.1:0", "--json"}, args...)...)
	cmd.Env = append(os.Environ(), environment...)
	return serveAs(t, cmd)
}

// serveAs starts a server that tells its facts in its first line, and waits for that.
func serveAs(t testing.TB, cmd *exec.Cmd) *served {
	s := &served{t: t, cmd: cmd}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	s.out = bufio.NewReader(out)
	told := bottest.Overdue(s.cmd)
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		_ = bottest.Ended(s.cmd)
		require.NoError(t, err, "it prints one line of JSON before anything else; it printed %q, and on standard "+
			"error:\n%s", line, &s.stderr)
	}
	told()
	require.NoError(t, json.Unmarshal(line, &s.facts))
	return s
}

// stop interrupts it, wants exit code 0, and returns what it still printed.
func (s *served) stop() string {
	require.NoError(s.t, s.cmd.Process.Signal(os.Interrupt))
	defer bottest.Overdue(s.cmd)()
	rest, err := io.ReadAll(s.out)
	require.NoError(s.t, err)
	require.NoError(s.t, s.cmd.Wait(), s.stderr.String())
	return string(rest)
}

// shells are those that the printed lines have to work in.
func shells(t *testing.T) []string {
	for _, tool := range []string{"sh", "curl", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the printed lines need %s, which is not installed", tool)
		}
	}
	if _, err := exec.LookPath("bash"); err != nil {
		return []string{"sh"}
	}
	return []string{"sh", "bash"}
}

func TestThePrintedLinesWorkAsPasted(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	tools := shells(t)
	secret := filepath.Join(t.TempDir(), "a secret")
	require.NoError(t, os.WriteFile(secret, []byte("of 'two' \"quotes\" and $HOME\n"), 0o600))
	config := filepath.Join(t.TempDir(), "exchange.toml")
	require.NoError(t, os.WriteFile(config,
		[]byte("[exchange]\nprefixes=['Brand']\n[clock]\nstart=2026-03-02\nspeed='0'\n[rules]\nstrict=true\n[accounts.a]\nbalances={EUR='1000'}\n"+
			"[accounts.a.keys]\none={permissions=['read'],secret_file=\""+secret+"\"}\ntwo={permissions=['trade'],secret_env='EXCHANGE_SECRET'}\n"), 0o600))
	for _, args := range [][]string{nil, {"--speed", "0"}, {"-c", config}} {
		s := serve(t, []string{"EXCHANGE_SECRET=from outside"}, args...)
		wanted := []string{`^\{"market":"[A-Z]+-EUR","price":"[0-9.]+"\}\n$`, `"symbol":"EUR","available":"`,
			`^\{"orderId":.*"status":"filled"`}
		if args != nil { // time stands
			wanted = append(wanted, `^\{"time":[0-9]+,.*"speed":"0"`)
		}
		require.Len(t, s.facts.Curl, len(wanted))
		for _, shell := range tools {
			for i, want := range wanted {
				cmd := bottest.Short(t, shell, "-c", s.facts.Curl[i])
				cmd.Env = append(os.Environ(), "EXCHANGE_SECRET=from outside")
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s: %s", shell, out)
				require.Regexp(t, want, string(out), "%s, %v", shell, args)
			}
		}
		require.Empty(t, s.stop(), "with --json nothing but JSON is printed")
		require.NotContains(t, s.stderr.String(), "from outside")
	}
}

func TestAnExchangeEndsInGoodOrderWithItsClientsConnected(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	address := strings.TrimSuffix(strings.TrimPrefix(s.facts.BaseURL, "http://"), "/v2")
	silent, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer silent.Close()
	slow, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer slow.Close()
	_, err = slow.Write([]byte("POST /v2/order HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"))
	require.NoError(t, err)
	response, err := http.Get(s.facts.BaseURL + "/time")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 200, response.StatusCode, "others are served meanwhile")
	began := time.Now()
	s.stop()
	require.Less(t, time.Since(began), bottest.Patience)
}

func TestAnExchangeGoesOnWhileNobodyAsks(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--speed", "60", "--log", "info")
	price := func() string {
		response, err := http.Get(s.facts.BaseURL + "/BTC-EUR/trades?limit=1")
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return string(text)
	}
	before := price()
	bottest.Await(t, func() bool { return price() != before }, "a minute passes each second")
	s.stop()
	require.Contains(t, s.stderr.String(), `"level":"info","method":"GET","path":"/v2/BTC-EUR/trades","status":200`)
}

func TestTheLogHasNoKeysOrSecrets(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	s := serve(t, nil, "--log", "debug")
	key := s.facts.Accounts[0].Keys[0]
	request, err := http.NewRequest("GET", s.facts.BaseURL+"/balance", nil)
	require.NoError(t, err)
	for name, value := range map[string]string{"Key": key.Key, "Signature": strings.Repeat("ab", 32),
		"Timestamp": "1772452800000"} {
		request.Header.Set("Service-Access-"+name, value)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 403, response.StatusCode)
	s.stop()
	log := s.stderr.String()
	require.Contains(t, log, `"level":"warn","method":"GET","path":"/v2/balance","status":403`)
	require.Contains(t, log, `\"errorCode\":304`, "why it was refused")
	for _, hidden := range []string{key.Key, key.Secret, strings.Repeat("ab", 32), s.facts.AdminToken} {
		require.NotEmpty(t, hidden)
		require.NotContains(t, log, hidden)
	}
}

func TestFaultsOfAScriptStrike(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "faults.toml")
	require.NoError(t, os.WriteFile(script,
		[]byte("[[faults]]\nkind='error'\ncode=109\nendpoints=['GET /time']\nnth=2\n"), 0o600))
	s := serve(t, nil, "--faults", script, "--log", "info")
	for _, want := range []int{200, 503, 200} {
		response, err := http.Get(s.facts.BaseURL + "/time")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode)
	}
	s.stop()
	require.Contains(t, s.stderr.String(), `"level":"error","method":"GET","path":"/v2/time","status":503`)
}

func TestAStateFileKeepsTheExchangeOverRestarts(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	tools, file := shells(t), filepath.Join(t.TempDir(), "exchange.db")
	open := func(s *served) string {
		read, err := bottest.Short(t, tools[0], "-c",
			strings.ReplaceAll(s.facts.Curl[1], "/balance", "/orders?market=BTC-EUR")).Output()
		require.NoError(t, err)
		return string(read)
	}
	first := serve(t, nil, "--state", file, "--speed", "0")
	_, err := bottest.Short(t, tools[0], "-c", first.facts.Curl[2]).Output()
	require.NoError(t, err)
	before := open(first)
	require.Contains(t, before, `"status":"filled"`)

	out, err := bottest.Short(t, bottest.Program(t), "exchange", "--listen", "127.0.0.1:0", "--state",
		file).CombinedOutput()
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 1, failed.ExitCode(), "the file is in use: no mistake of the config")
	require.Contains(t, string(out), "it is in use by another exchange")

	first.stop()
	second := serve(t, nil, "--state", file, "--speed", "0")
	require.Equal(t, before, open(second))
	require.NoError(t, second.cmd.Process.Kill())
	_ = bottest.Ended(second.cmd) // it was killed
	third := serve(t, nil, "--state", file, "--speed", "0")
	require.Equal(t, before, open(third))
	third.stop()
}

func TestWithoutAdminThereIsNoToken(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--no-admin")
	require.Empty(t, s.facts.AdminURL+s.facts.AdminToken)
	s.stop()
}

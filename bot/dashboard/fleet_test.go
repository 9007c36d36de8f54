package dashboard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
)

// odd is the name of a folder that is HTML, with signs that an address escapes.
const odd = `<b onclick=x>%2f & "`

// serveFleet serves bots that answer, of these names, and one of the name stuck that takes requests
// and never answers.
func serveFleet(t *testing.T, names ...string) (*visitor, map[string]*madeUpBot) {
	dir, answering := t.TempDir(), map[string]*madeUpBot{}
	list := []Bot{{Of: operator.Target{Folder: filepath.Join(dir, "stuck")}, Name: "stuck"}}
	for _, name := range names {
		answering[name] = newMadeUpBot(t, filepath.Join(dir, name))
		list = append(list, Bot{Of: operator.Target{Folder: filepath.Join(dir, name)}, Name: name})
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "stuck"), 0o700))
	silent, err := operator.Listen(filepath.Join(dir, "stuck", statedir.SocketFile))
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	v, _ := serveBot(t, &madeUpBot{}, func(c *Config) { c.Fleet = func() ([]Bot, error) { return list, nil } })
	return v, answering
}

func TestABotThatHangsDoesNotHoldThePageOfAllBots(t *testing.T) {
	t.Parallel()
	v, _ := serveFleet(t, "alpha", odd)
	v.enter(lookToken)
	page := v.sees("/")
	require.Contains(t, page, "no answer: it does not answer")
	require.Equal(t, 2, strings.Count(page, ">10\u202f118.42 EUR<"))
	require.Contains(t, page, ">20\u202f236.84<", "the sum")
	require.Contains(t, page, `href="/bots/alpha/"`)
	require.NotContains(t, page, "<b onclick")
	require.Contains(t, v.sees(folderOf(odd)), "All bots")
	require.Contains(t, v.sees("/bots/alpha/orders"), "BTC-EUR")
	for _, path := range []string{"/bots/other/", "/bots/alpha/nothing", "/bots/", "/orders"} {
		status, _, _ := v.do(http.MethodGet, path, nil, nil)
		require.Equal(t, http.StatusNotFound, status, path)
	}
	var list []Glance
	require.NoError(t, json.Unmarshal([]byte(v.sees("/api/v1/bots")), &list))
	require.Len(t, list, 3)
	require.Equal(t, "it does not answer", list[0].Error)
	fitsFleet(v)
	require.Contains(t, v.sees("/bots/alpha/api/v1/openapi.json"), `"/cancel-all"`)
	require.Equal(t, operator.Trading, list[1].Status.State)
	require.Contains(t, v.sees("/bots/alpha/api/v1/status"), `"pid":4711`)
}

func TestAnActionInAFleetNamesItsBot(t *testing.T) {
	t.Parallel()
	v, bots := serveFleet(t, "alpha", "beta")
	v.enter(actToken)
	const at = "/bots/alpha/"
	confirmation := v.opens(at + "confirm?do=halt&strategy=maker")
	send := func(path, word, bot string) (int, string) {
		form := url.Values{"confirmation": {confirmation}, "word": {word}, "bot": {bot}}
		status, _, head := v.do(http.MethodPost, path+"act", form, nil)
		return status, head.Get("Location")
	}
	for _, bot := range []string{"", "beta"} {
		status, _ := send(at, "maker", bot)
		require.Equal(t, http.StatusUnprocessableEntity, status)
	}
	status, _ := send("/bots/beta/", "maker", "beta")
	require.Equal(t, http.StatusBadRequest, status, "the form of another bot")
	status, where := send(at, "maker", "alpha")
	require.Equal(t, http.StatusSeeOther, status)
	require.Contains(t, v.sees(at+strings.TrimPrefix(where, "./")), "Done.")
	require.Len(t, bots["alpha"].actions(), 1)
	require.Empty(t, bots["beta"].actions())
	require.Contains(t, v.sees(at+"confirm?do=flatten"), "Every strategy of alpha")
	v.forget()
	v.enter(lookToken)
	status, _ = send(at, "maker", "alpha")
	require.Equal(t, http.StatusForbidden, status)
}

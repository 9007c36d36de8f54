package operator

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAnswerOfAnotherProtocolIsRefused(t *testing.T) {
	require.ErrorContains(t, checkAnswer(http.Header{protocolHeader: {"2"}}),
		`the bot speaks protocol "2", this program 1`)
	require.ErrorContains(t, checkAnswer(http.Header{}), "the bot runs with an older program")
	answer := httptest.NewRecorder()
	WriteAnswer(answer, http.StatusOK, 7)
	require.NoError(t, checkAnswer(answer.Header()))
	require.Equal(t, "7\n", answer.Body.String())
}

func TestARequestOfAnotherProtocolIsRefused(t *testing.T) {
	head := http.Header{}
	require.NoError(t, CheckRequest(head), "of a person")
	nameProtocol(head)
	require.NoError(t, CheckRequest(head))
	require.ErrorContains(t, CheckRequest(http.Header{protocolHeader: {"2"}}), `the command speaks protocol "2"`)
}

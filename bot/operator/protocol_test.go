package operator

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAnswerOfANewerProtocolIsRefused(t *testing.T) {
	require.ErrorContains(t, checkAnswer(http.Header{protocolHeader: {"2"}}), "the bot speaks protocol 2")
	require.ErrorContains(t, checkAnswer(http.Header{protocolHeader: {"x"}}), "is no version")
	require.NoError(t, checkAnswer(http.Header{}), "a program of 31b5e46 names none")
}

package operator

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAnswerOfANewerProtocolIsRefused(t *testing.T) {
	require.ErrorContains(t, checkAnswer(http.Header{protocolHeader: {"3"}}), "the bot speaks protocol 3")
	require.ErrorContains(t, checkAnswer(http.Header{protocolHeader: {"x"}}), "is no version")
	require.NoError(t, checkAnswer(http.Header{}), "a program of 31b5e46 names none")
}

func TestABotAnswersUnderTheNamesThatTheCommandReads(t *testing.T) {
	value := struct {
		Unallocated int `json:"unallocated"`
	}{1}
	for asked, want := range map[string]string{"": `{"nobodys":1}`, "1": `{"nobodys":1}`, "2": `{"unallocated":1}`,
		"3": `{"unallocated":1}`} {
		question := httptest.NewRequest(http.MethodPost, PathStatus, nil)
		question.Header.Set(answerHeader, asked)
		answer := httptest.NewRecorder()
		WriteAnswer(answer, question, http.StatusOK, value)
		require.Equal(t, want+"\n", answer.Body.String(), "asked for %q", asked)
		require.NoError(t, checkAnswer(answer.Header()))
		read, err := readAnswer(answer.Header(), PathStatus, answer.Body.Bytes())
		require.NoError(t, err)
		require.JSONEq(t, `{"unallocated":1}`, string(read), "both sides agree, whichever is older")
	}
	read, err := readAnswer(http.Header{}, PathStatus, []byte(`{"nobodys":2}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"unallocated":2}`, string(read), "a bot of 31b5e46 names no version")
	_, err = readAnswer(http.Header{}, PathStatus, []byte(`{"nobodys":2,"unallocated":2}`))
	require.ErrorContains(t, err, "under its old and its new name")
}

func TestAQuestionIsOneThatABotOfVersion1Takes(t *testing.T) {
	head := http.Header{}
	nameRequest(head)
	require.NoError(t, checkProtocol(head, "the command", 1))
}

package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	telegram "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/tidemark-trading/tidemark/bot/chat"
)

// updates is the answer to getUpdates.
type updates struct {
	OK          bool             `json:"ok"`
	Result      []*models.Update `json:"result"`
	ErrorCode   int              `json:"error_code"`
	Description string           `json:"description"`
	Parameters  struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
}

// wanted are the kinds of updates that the API is to send. Edited messages are no commands.
const wanted = `["message","callback_query"]`

// Receive waits for the next message. It is part of chat.Messenger.
//
// A message is returned only after the API has heard that it has arrived: then it does not come
// again, even if the process dies at once.
func (m *Messenger) Receive(ctx context.Context) (chat.Message, error) {
	for {
		for len(m.ready) > 0 {
			next := m.ready[0]
			m.ready = m.ready[1:]
			if message := m.read(ctx, next); message != nil {
				return *message, nil
			}
		}
		if err := m.fill(ctx); err != nil {
			return chat.Message{}, err
		}
	}
}

// fill gets updates and confirms them: a request for later ones does.
func (m *Messenger) fill(ctx context.Context) error {
	if m.name == "" {
		name, err := m.Me(ctx)
		if err != nil {
			return err
		}
		m.name = strings.ToLower(name)
	}
	if len(m.waiting) == 0 {
		got, err := m.poll(ctx, pollTime)
		if err != nil || len(got) == 0 {
			return err
		}
		m.waiting = got
	}
	later, err := m.poll(ctx, 0)
	if err != nil {
		return err
	}
	m.ready, m.waiting = m.waiting, later
	return nil
}

// poll asks for the updates from the offset on, and moves the offset behind them.
//
// The loop of the client in go-telegram would run in goroutines of its own, where a panic ends the
// process, and would hand out updates that are not confirmed.
func (m *Messenger) poll(ctx context.Context, wait time.Duration) ([]*models.Update, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+graceTime)
	defer cancel()
	form := url.Values{"timeout": {strconv.Itoa(int(wait.Seconds()))}, "allowed_updates": {wanted}}
	if m.offset != 0 {
		form.Set("offset", strconv.FormatInt(m.offset, 10))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.base+"/bot"+m.token+"/getUpdates",
		strings.NewReader(form.Encode()))
	if err != nil {
		return nil, m.plain(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := bounded{m.http}.Do(request)
	if err != nil {
		return nil, m.plain(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, m.plain(err)
	}
	var answer updates
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, m.plain(fmt.Errorf("answer %d to getUpdates: %w", response.StatusCode, err))
	}
	if !answer.OK {
		return nil, m.explain(answer.err())
	}
	for _, u := range answer.Result {
		if u != nil {
			m.offset = u.ID + 1
		}
	}
	return answer.Result, nil
}

// err is the refusal as the client of go-telegram tells it.
func (u *updates) err() error {
	switch u.ErrorCode {
	case http.StatusTooManyRequests:
		return &telegram.TooManyRequestsError{Message: u.Description, RetryAfter: u.Parameters.RetryAfter}
	case http.StatusUnauthorized:
		return fmt.Errorf("%w, %s", telegram.ErrorUnauthorized, u.Description)
	case http.StatusNotFound:
		return fmt.Errorf("%w, %s", telegram.ErrorNotFound, u.Description)
	case http.StatusConflict:
		return fmt.Errorf("%w, %s", telegram.ErrorConflict, u.Description)
	}
	return fmt.Errorf("getUpdates: %d %s", u.ErrorCode, u.Description)
}

// read is the message in an update; nil: there is none for this bot.
func (m *Messenger) read(ctx context.Context, u *models.Update) *chat.Message {
	switch {
	case u == nil:
		return nil
	case u.CallbackQuery != nil:
		return m.pressed(ctx, u)
	case u.Message != nil:
		return m.written(u)
	}
	return nil
}

// written is a message that a person has written.
func (m *Messenger) written(u *models.Update) *chat.Message {
	from := u.Message
	text := strings.TrimSpace(from.Text)
	command, rest, _ := strings.Cut(text, " ")
	command, addressee, addressed := strings.Cut(command, "@")
	isCommand := strings.HasPrefix(command, "/")
	switch {
	case text == "", from.From == nil,
		from.Chat.Type != models.ChatTypePrivate && !isCommand, // persons talk to each other
		isCommand && addressed && strings.ToLower(addressee) != m.name:
		return nil
	case isCommand:
		text = strings.TrimSpace(command + " " + rest)
	}
	return m.message(u, from.Chat.ID, from.From, text, time.Unix(int64(from.Date), 0))
}

// pressed is a button that a person has pressed. The API does not tell when: the bot's own
// confirmation has its own time. A client may send any text with a button, so others are no
// commands.
func (m *Messenger) pressed(ctx context.Context, u *models.Update) *chat.Message {
	q := u.CallbackQuery
	answering, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	_, _ = m.api.AnswerCallbackQuery(answering, &telegram.AnswerCallbackQueryParams{CallbackQueryID: q.ID}) // a sign
	var in int64
	switch {
	case q.Message.Message != nil:
		in = q.Message.Message.Chat.ID
	case q.Message.InaccessibleMessage != nil:
		in = q.Message.InaccessibleMessage.Chat.ID
	}
	if in == 0 || !strings.HasPrefix(q.Data, "/yes ") && !strings.HasPrefix(q.Data, "/no ") {
		return nil
	}
	return m.message(u, in, &q.From, q.Data, time.Time{})
}

func (m *Messenger) message(u *models.Update, in int64, from *models.User, text string, at time.Time) *chat.Message {
	name := strings.TrimSpace(from.FirstName + " " + from.LastName)
	if from.Username != "" {
		name = "@" + from.Username
	}
	return &chat.Message{ID: strconv.FormatInt(u.ID, 10), Chat: strconv.FormatInt(in, 10),
		User: strconv.FormatInt(from.ID, 10), Name: name, At: at, Text: text}
}

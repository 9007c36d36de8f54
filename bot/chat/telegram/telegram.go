// Package telegram carries messages over Telegram's Bot API, by long polling. It never decides who
// is answered, and never shows the token, which is a part of every address of the API. Start at
// Messenger.
package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	telegram "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/tidemark-trading/tidemark/bot/chat"
	"github.com/tidemark-trading/tidemark/exchange/rest"
)

// The limits of the API.
const (
	maxText    = 4096 // of a message, in units of UTF-16
	maxCaption = 1024 // of a picture
)

// The times of requests.
const (
	pollTime   = 50 * time.Second // that the API waits for an update
	graceTime  = 15 * time.Second // for its answer after that
	answerTime = 30 * time.Second // for any other answer, a picture sent included
	dialTime   = 10 * time.Second
)

// maxAnswer bounds the bytes of an answer: of a hundred updates.
const maxAnswer = 8 << 20

// Messenger is one bot of Telegram.
type Messenger struct {
	base, token string
	api         *telegram.Bot
	http        *http.Client
	scrubber    *rest.Scrubber

	name    string // the bot's, in lower case; empty: not asked yet
	offset  int64  // of the next update
	waiting []*models.Update
	ready   []*models.Update // confirmed: the API does not send them again
}

// New returns a messenger for a token. base is the API's address, without a slash at its end. It
// asks nothing yet.
func New(base, token string) (*Messenger, error) {
	_, secret, _ := strings.Cut(token, ":")
	m := &Messenger{base: base, token: token, scrubber: rest.NewScrubber(token, secret), http: &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 2,
			DialContext: (&net.Dialer{Timeout: dialTime}).DialContext, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	var err error
	m.api, err = telegram.New(token, telegram.WithServerURL(base), telegram.WithSkipGetMe(),
		telegram.WithHTTPClient(pollTime, bounded{m.http}), telegram.WithErrorsHandler(func(error) {}))
	if err != nil {
		return nil, m.plain(err)
	}
	return m, nil
}

// bounded is a client whose answers are cut at maxAnswer.
type bounded struct{ *http.Client }

// Do sends a request.
func (b bounded) Do(r *http.Request) (*http.Response, error) {
	answer, err := b.Client.Do(r)
	if err == nil {
		answer.Body = cut{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	}
	return answer, err
}

type cut struct {
	io.Reader
	io.Closer
}

// Close closes the idle connections.
func (m *Messenger) Close() { m.http.CloseIdleConnections() }

// Me asks for the name of the bot, without the @. It shows whether the token is right.
func (m *Messenger) Me(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	me, err := m.api.GetMe(ctx)
	if err != nil {
		return "", m.explain(err)
	}
	return me.Username, nil
}

// Send sends a reply. It is part of chat.Messenger.
func (m *Messenger) Send(ctx context.Context, reply *chat.Reply) error {
	id, err := strconv.ParseInt(reply.To.Chat, 10, 64)
	if err != nil {
		return fmt.Errorf("chat %q has no number: %w", reply.To.Chat, chat.ErrRefused)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if reply.Picture != nil {
		_, err = m.api.SendPhoto(ctx, &telegram.SendPhotoParams{ChatID: id, Caption: chat.Clip(reply.Text, maxCaption),
			Photo: &models.InputFileUpload{Filename: "chart.png", Data: bytes.NewReader(reply.Picture)}})
		return m.explain(err)
	}
	noPreview := true
	message := &telegram.SendMessageParams{ChatID: id, Text: chat.Clip(reply.Text, maxText),
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: &noPreview}}
	if len(reply.Buttons) > 0 {
		var row []models.InlineKeyboardButton
		for _, b := range reply.Buttons {
			row = append(row, models.InlineKeyboardButton{Text: b.Title, CallbackData: b.Text})
		}
		message.ReplyMarkup = &models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{row}}
	}
	_, err = m.api.SendMessage(ctx, message)
	return m.explain(err)
}

// explain makes an error of the API one for chat.Server and its log; nil stays nil.
func (m *Messenger) explain(err error) error {
	var busy *telegram.TooManyRequestsError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &busy):
		return &chat.BusyError{After: time.Duration(busy.RetryAfter) * time.Second, Err: m.plain(err)}
	case errors.Is(err, telegram.ErrorUnauthorized), errors.Is(err, telegram.ErrorNotFound):
		return fmt.Errorf("Telegram does not know the token, which @BotFather tells: %w", m.plain(err))
	case errors.Is(err, telegram.ErrorConflict):
		return fmt.Errorf("another process, or a webhook, gets the messages of this token: %w", m.plain(err))
	case errors.Is(err, telegram.ErrorForbidden), errors.Is(err, telegram.ErrorBadRequest),
		errors.As(err, new(*telegram.MigrateError)):
		return fmt.Errorf("%w: %w", chat.ErrRefused, m.plain(err))
	}
	return m.plain(err)
}

// plain is an error without the token.
func (m *Messenger) plain(err error) error {
	const most = 300 // characters: an answer may be a whole page of a proxy
	text := []rune(m.scrubber.Text(err.Error()))
	return errors.New(string(text[:min(len(text), most)]))
}

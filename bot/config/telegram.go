package config

import (
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// TelegramSection is the chat with a bot over Telegram. It is off without a token.
type TelegramSection struct {
	// One of token_file and token_env. A token stands in no config.
	TokenFile string   `toml:"token_file"` // a file that only its owner may read
	TokenEnv  string   `toml:"token_env"`  // a variable of the environment
	Chats     []string `toml:"chats"`      // ids of the chats that are answered
	Users     []string `toml:"users"`      // ids of the users that are answered there; empty: all
	Act       bool     `toml:"act"`        // halt, resume and flatten are carried out
	Confirm   Span     `toml:"confirm_within"`
	Run       bool     `toml:"run"`      // within bot run; false: in bot chat alone
	BaseURL   string   `toml:"base_url"` // of the API: https, or http to this machine
}

// defaultTelegram is the section of an empty file.
func defaultTelegram() TelegramSection {
	return TelegramSection{Run: true, Confirm: Span(time.Minute), BaseURL: "https://api.telegram.org"}
}

// The bounds of a confirmation's time.
const (
	minConfirm = 10 * time.Second
	maxConfirm = 10 * time.Minute
)

// Read checks the section and reads its token; empty: it is off. The error is a KeyError.
func (s *TelegramSection) Read(getenv func(string) string) (token string, err error) {
	path := []string{"telegram"}
	for key, list := range map[string][]string{"chats": s.Chats, "users": s.Users} {
		for _, id := range list {
			if _, err := strconv.ParseInt(id, 10, 64); err != nil {
				return "", Keyf(Join(path, key), "%q is no id; want numbers in quotes, like \"123456789\", or "+
					"\"-1001234567890\" for a group: the log of the bot names the id of a chat that is not allowed",
					Clip(id))
			}
		}
	}
	if within := time.Duration(s.Confirm); within < minConfirm || within > maxConfirm {
		return "", Keyf(Join(path, "confirm_within"), "%s is not in %s to %s", within, minConfirm, maxConfirm)
	}
	if err := checkBase(s.BaseURL); err != nil {
		return "", At(Join(path, "base_url"), err)
	}
	found, err := (&Secrets{Getenv: getenv}).Read(path, "token", "", s.TokenFile, s.TokenEnv)
	if err == nil && found.Text != "" && !regexp.MustCompile(`^\d+:[\w-]+$`).MatchString(found.Text) {
		key := "token_env"
		if s.TokenFile != "" {
			key = "token_file"
		}
		err = Keyf(Join(path, key), "it names no token as @BotFather tells it: a number, a colon, letters")
	}
	return found.Text, err
}

// checkBase refuses an address over which a token would go in clear.
func checkBase(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil:
		return errors.New("it is no address; want https://…")
	case u.Scheme == "http" && !LoopbackHost(u.Hostname()):
		return errors.New("the token would be sent in clear; want https, or http to this machine")
	}
	return nil
}

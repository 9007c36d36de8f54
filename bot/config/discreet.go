package config

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/strategy"
)

// secretKeys are the keys of a config whose value is a secret, or may hold one. With the suffix
// _file or _env they name a file or a variable, but people write the secret itself there.
var secretKeys = []string{"secret", "key", "token", "url", "base_url", "moved_from", "password", "passphrase",
	"credential", "heartbeat"}

// harmlessKeys look like secret keys but hold no secret.
var harmlessKeys = []string{"keys", "key_ban", "per_key", "keep"}

// errHidden replaces an error that would repeat a secret value.
var errHidden = errors.New(
	"the value is not of the kind that this key takes; it is not shown, because it may be a secret")

// HideSecret returns an error about the value of a key. It replaces the error by one without the
// value where the value may be a secret.
func HideSecret(path []string, err error) error {
	if err != nil && secretAt(path) >= 0 {
		return errHidden
	}
	return err
}

// secretAt returns the index of the first part of a path that names a secret, or looks like a
// mistyped name of one; -1: none. The name of a strategy is free, so it does not count.
func secretAt(path []string) int {
	free := -1
	if len(path) > 0 && path[0] == "strategies" {
		free = 1
	}
	for i, part := range path {
		if i != free && namesSecret(part) {
			return i
		}
	}
	return -1
}

// namesSecret reports whether a key is in secretKeys, or within one or two typing errors of one.
func namesSecret(key string) bool {
	key = strings.ToLower(strings.ReplaceAll(key, "-", "_"))
	if slices.Contains(harmlessKeys, key) {
		return false
	}
	name := strings.TrimSuffix(strings.TrimSuffix(key, "_file"), "_env")
	for _, secret := range secretKeys {
		allowed := 2
		if len(secret) < 5 {
			allowed = 1
		}
		if strategy.Distance(name, secret) <= allowed || len(secret) > 4 && strings.Contains(name, secret) ||
			slices.Contains(strings.Split(name, "_"), secret) {
			return true
		}
	}
	return strings.HasPrefix(name, "api") && strings.HasSuffix(name, "key")
}

// shownPath formats a path for an error. It hides the parts below a secret key: they may be a part
// of the secret.
func shownPath(path []string) string {
	if n := secretAt(path); n >= 0 && n+1 < len(path) && !tableAt(path[:n+1]) {
		return strings.Join(path[:n+1], ".") + ".…"
	}
	return strings.Join(path, ".")
}

// tableAt reports whether the last part of a path is a name that the user chose: of an account, a
// key, a receiver, a market.
func tableAt(path []string) bool {
	switch len(path) {
	case 2:
		return slices.Contains([]string{"accounts", "markets", "assets", "tiers", "strategies"}, path[0])
	case 3:
		return path[0] == "alerts" && path[1] == "to"
	case 4:
		return path[0] == "accounts" && path[2] == "keys"
	}
	return false
}

// plainBeginnings are the first words of those errors of the TOML library that show the file's text
// only in quotes.
var plainBeginnings = []string{"expected", "unexpected", "keys", "floats", "strings", "newlines", "invalid", "Invalid",
	"cannot", "not", "files", "control", "Escaped"}

// syntaxText returns an error of the TOML library without the quoted text of the file, which may be
// a secret. Single characters stay.
func syntaxText(message string) string {
	if text, known := strings.CutPrefix(message, "Key '"); known {
		if name, rest, found := strings.Cut(text, "' "); found && !strings.ContainsAny(name, "\"'\\\r\n") {
			rest = strings.TrimSuffix(rest, ".")
			if strings.HasSuffix(rest, "already been defined") {
				rest += " above; take one out, or give it another name"
			}
			return "key " + shownPath(strings.Split(name, ".")) + " " + rest
		}
	}
	first, _, _ := strings.Cut(message, " ")
	switch {
	case strings.Contains(message, " is out of "):
		return "a number is out of range"
	case !slices.Contains(plainBeginnings, first):
		return "this is no TOML"
	}
	// what the library quotes: a character, or as much of the line as was read
	quotation := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|: \S.*$`)
	return quotation.ReplaceAllStringFunc(message, func(quoted string) string {
		if quoted[0] != ':' && len([]rune(quoted)) <= 4 || strings.Trim(quoted, `'"[]{}`) == "" {
			return quoted
		}
		return "…"
	})
}

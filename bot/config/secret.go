package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// Secret is a secret and its source. A secret from a file or the environment is never printed.
type Secret struct {
	Text      string
	File, Env string
}

// Printable reports whether the secret may be printed: the config shows it already.
func (s *Secret) Printable() bool { return s.File == "" && s.Env == "" }

// Shell is a word for a shell that expands to the secret.
func (s *Secret) Shell() string {
	switch {
	case s.File != "":
		return `"$(cat ` + InQuotes(s.File) + `)"`
	case s.Env != "":
		return `"$` + s.Env + `"`
	}
	return InQuotes(s.Text)
}

// Shown is the secret, or its file or variable if it must not be printed.
func (s *Secret) Shown() string {
	switch {
	case s.File != "":
		return "in " + s.File
	case s.Env != "":
		return "in $" + s.Env
	}
	return s.Text
}

// Secrets reads the secrets of a config.
type Secrets struct {
	Getenv func(string) string
	Inline bool // Read has found a secret in the config itself
}

// Read returns a secret from the config (text), a file or a variable. At most one of the three may
// be set; the secret is empty if none is. The error is a KeyError.
func (s *Secrets) Read(path []string, key, text, file, env string) (found Secret, err error) {
	if text != "" && file != "" || text != "" && env != "" || file != "" && env != "" {
		return found, Keyf(path, "has two of %s, %s_file and %s_env; want one", key, key, key)
	}
	found = Secret{Text: text, File: file, Env: env}
	switch {
	case text != "":
		s.Inline = true
	case file != "":
		found.Text, err = readSecret(file)
		return found, At(Join(path, key+"_file"), err)
	case env != "":
		if found.Text = s.Getenv(env); found.Text == "" || strings.Trim(env, variableLetters) != "" {
			return found, Keyf(Join(path, key+"_env"),
				"the environment has no variable of that name; it is not shown, because it may be the secret itself")
		}
	}
	return found, nil
}

const variableLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// readSecret reads a secret of one line from a file. It refuses a file that others may read.
func readSecret(file string) (string, error) {
	others, err := ReadableByOthers(file)
	switch {
	case err != nil:
		return "", unnamed(err)
	case others:
		return "", fmt.Errorf("others may read %s; do: chmod 600 %s", file, InQuotes(file))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", unnamed(err)
	}
	trimmed := strings.TrimSpace(string(text))
	if trimmed == "" || strings.ContainsAny(trimmed, "\r\n") {
		return "", fmt.Errorf("%s holds no secret: want one line", file)
	}
	return trimmed, nil
}

// unnamed returns an error about a file without the file's name: the name may be the secret itself,
// written at the wrong key.
func unnamed(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("the file that it names cannot be read: %w; its name is not shown, because it may be the secret "+
		"itself", err)
}

// ReadableByOthers reports whether a file's mode lets others read it; on Windows it is always
// false.
func ReadableByOthers(file string) (bool, error) {
	info, err := os.Stat(file)
	if err != nil {
		return false, err
	}
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0, nil
}

// InQuotes quotes a text as one word of a shell.
func InQuotes(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

package bot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// secret is a secret, and how the user says it: what came from a file or the environment is not printed.
type secret struct {
	text      string
	file, env string
}

// told reports whether the secret may be printed.
func (s *secret) told() bool { return s.file == "" && s.env == "" }

// shell is the secret in a line for a shell.
func (s *secret) shell() string {
	switch {
	case s.file != "":
		return `"$(cat ` + inQuotes(s.file) + `)"`
	case s.env != "":
		return `"$` + s.env + `"`
	}
	return inQuotes(s.text)
}

// shown is the secret, or where it stands.
func (s *secret) shown() string {
	switch {
	case s.file != "":
		return "in " + s.file
	case s.env != "":
		return "in $" + s.env
	}
	return s.text
}

// secrets finds the secrets of a config.
type secrets struct {
	getenv func(string) string
	inline bool // one of those that were read stands in the config itself
}

// read finds a secret that the config may say in three ways; empty where it says none.
func (s *secrets) read(path []string, key, text, file, env string) (found secret, err error) {
	if text != "" && file != "" || text != "" && env != "" || file != "" && env != "" {
		return found, at(path, fmt.Errorf("has two of %s, %s_file and %s_env; want one", key, key, key))
	}
	found = secret{text: text, file: file, env: env}
	switch {
	case text != "":
		s.inline = true
	case file != "":
		found.text, err = readSecret(file)
		return found, at(join(path, key+"_file"), err)
	case env != "":
		if found.text = s.getenv(env); found.text == "" || strings.Trim(env, variableLetters) != "" {
			return found, at(join(path, key+"_env"), errors.New("the environment has no variable of that name; it is not shown, because it may be the secret itself"))
		}
	}
	return found, nil
}

const variableLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// readSecret reads a file that nobody but its owner may read.
func readSecret(file string) (string, error) {
	others, err := readableByOthers(file)
	switch {
	case err != nil:
		return "", unnamed(err)
	case others:
		return "", fmt.Errorf("others may read %s; do: chmod 600 %s", file, inQuotes(file))
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

// unnamed is an error about a file without the file's name, which may be the secret itself, written at the wrong key.
func unnamed(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("the file that it names cannot be read: %w; its name is not shown, because it may be the secret itself", err)
}

// readableByOthers reports whether a file's mode lets others read it. Where modes say nothing of that, it does not.
func readableByOthers(file string) (bool, error) {
	info, err := os.Stat(file)
	if err != nil {
		return false, err
	}
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0, nil
}

// inQuotes is a text as one word of a shell.
func inQuotes(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

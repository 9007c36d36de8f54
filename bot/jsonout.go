package bot

import "encoding/json"

// printJSON writes a value for a program to read.
func (a *app) printJSON(value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(text, '\n'))
	return err
}

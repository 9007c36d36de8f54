package chat

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Length is the length of a text as messengers count it: in units of UTF-16.
func Length(text string) (units int) {
	for _, r := range text {
		units += utf16.RuneLen(r)
	}
	return units
}

// Clip makes a text valid and cuts it to at most limit units of UTF-16, at the end of a line where
// one is near. The last line counts what is left out.
func Clip(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if Length(text) <= limit {
		return text
	}
	const note = "\n… and %d more characters"
	room := limit - len(fmt.Sprintf(note, utf8.RuneCountInString(text))) // a unit has at least a byte
	end, units := 0, 0
	for at, r := range text {
		if units += utf16.RuneLen(r); units > room {
			end = at
			break
		}
	}
	if line := strings.LastIndexByte(text[:end], '\n'); line > end/2 {
		end = line
	}
	return text[:end] + fmt.Sprintf(note, utf8.RuneCountInString(text[end:]))
}

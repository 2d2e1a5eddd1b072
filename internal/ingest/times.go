package ingest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// timeLayouts are the ways of writing a time that chats have, besides seconds or
// milliseconds since 1970. Those without a zone are taken as UTC.
func timeLayouts() []string {
	return []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
		"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02", "2006/01/02 (Mon) 15:04", "2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02",
		"3:04 pm on 2 January, 2006", "2 January, 2006", "2 January 2006", "January 2, 2006", "3:04 pm 2 January, 2006",
		time.RFC1123Z, time.RFC1123, time.ANSIC,
	}
}

// timeIn returns the time that an object names, or none.
func (c *chats) timeIn(o object) time.Time {
	v, ok := c.first(o, timeNames)
	if !ok {
		return time.Time{}
	}
	return c.time(v)
}

// time reads a time, and fails if it is none.
func (c *chats) time(v jsontext.Value) time.Time {
	text := strings.TrimSpace(plainText(v, 0))
	if text == "" {
		return time.Time{}
	}
	t, ok := parseTime(text)
	if !ok {
		c.fail(fmt.Errorf("%q is no date that is understood", clip(text, 80)))
	}
	return t
}

func parseTime(text string) (time.Time, bool) {
	if t, ok := unixTime(text); ok {
		return t, true
	}
	for _, layout := range timeLayouts() {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
		if t, err := time.Parse(layout, strings.ToLower(text)); err == nil && strings.Contains(layout, "pm") {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// unixTime reads a number of seconds, or of milliseconds if it is as great as
// those of the year 2001 and later are.
func unixTime(text string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	const milliseconds, latest = 1e12, 1e15
	if err != nil || n < 1e8 || n > latest {
		return time.Time{}, false
	}
	if n >= milliseconds {
		return time.UnixMilli(n).UTC(), true
	}
	micros := int64(0)
	if fraction != "" {
		if micros, err = strconv.ParseInt((fraction + "000000")[:6], 10, 64); err != nil || micros < 0 {
			return time.Time{}, false
		}
	}
	return time.Unix(n, micros*1000).UTC(), true
}

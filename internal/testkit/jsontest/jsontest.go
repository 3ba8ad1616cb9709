// Package jsontest reads the JSON that a test asks about: documents one after the other, or a
// stream of server-sent events. Reading is strict, so that broken JSON fails a test which looks for
// one member only.
package jsontest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// Text is what a test has of a body.
type Text interface{ ~string | ~[]byte }

// Strict reports what is wrong with a text that is not one JSON value, or that has a member of an
// object twice.
func Strict(text []byte) error {
	all, err := values(text)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%d JSON values, want 1", len(all))
	}
	return err
}

// Has reports whether an object of the text, at any depth, has the members of the object want, with
// the same values.
func Has[T Text](t testing.TB, text T, want string) bool {
	t.Helper()
	return Count(t, text, want) > 0
}

// Count is how many objects of the text have the members of the object want, with the same values.
func Count[T Text](t testing.TB, text T, want string) (n int) {
	t.Helper()
	members := wanted(t, want)
	each(read(t, text), func(o object) {
		all := plain(o).(map[string]any)
		for name, value := range members {
			if got, has := all[name]; !has || !reflect.DeepEqual(got, value) {
				return
			}
		}
		n++
	})
	return n
}

// wanted are the members that a test wants.
func wanted(t testing.TB, want string) map[string]any {
	t.Helper()
	all, err := values([]byte(want))
	if err == nil && len(all) == 1 {
		if found, ok := plain(all[0]).(map[string]any); ok && len(found) > 0 {
			return found
		}
	}
	t.Fatalf("not an object with members: %v: %s", err, want)
	return nil
}

// Values are what the members of this name have, at any depth, in the order of the text.
func Values[T Text](t testing.TB, text T, name string) (found []any) {
	t.Helper()
	each(read(t, text), func(o object) {
		for _, m := range o {
			if m.name == name {
				found = append(found, plain(m.value))
			}
		}
	})
	return found
}

// String is the first string that a member of this name has and that is not empty, or "".
func String[T Text](t testing.TB, text T, name string) string {
	t.Helper()
	for _, v := range Values(t, text, name) {
		if s, _ := v.(string); s != "" {
			return s
		}
	}
	return ""
}

// Events are the data of a stream of server-sent events, in turn.
func Events[T Text](t testing.TB, stream T) (found []string) {
	t.Helper()
	found, err := events(string(stream))
	if err != nil {
		t.Errorf("%v: %.2000s", err, stream)
	}
	return found
}

// read returns the values of a text. A test whose text is broken fails.
func read[T Text](t testing.TB, text T) (all []any) {
	t.Helper()
	all, err := parse(string(text))
	if err != nil {
		t.Errorf("%v: %.2000s", err, text)
	}
	return all
}

// done ends a stream of chat completions.
const done = "[DONE]"

func parse(text string) ([]any, error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), done)
	if text != "" && strings.ContainsAny(text[:1], `{["`) {
		return values([]byte(text))
	}
	datas, err := events(text)
	if err != nil {
		return nil, err
	}
	var all []any
	for _, data := range datas {
		some, err := values([]byte(data))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func events(text string) (found []string, err error) {
	open := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			open = false
		case name == "data" && open:
			found[len(found)-1] += "\n" + value
		case name == "data":
			open, found = true, append(found, value)
		case name != "" && name != "event" && name != "id" && name != "retry":
			return nil, fmt.Errorf("neither JSON nor a line of an event: %q", line)
		}
	}
	return found, nil
}

// object has its members in their order.
type object []member

type member struct {
	name  string
	value any
}

// values reads JSON values, one after the other.
func values(text []byte) (all []any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		v, err := value(decoder, token, err)
		if err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		all = append(all, v)
	}
}

// value reads the rest of the value that begins with token.
func value(decoder *json.Decoder, token json.Token, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		return listOf(decoder)
	case json.Delim('{'):
		return objectOf(decoder)
	}
	return token, nil
}

func listOf(decoder *json.Decoder) (any, error) {
	all := []any{}
	for decoder.More() {
		token, err := decoder.Token()
		v, err := value(decoder, token, err)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	_, err := decoder.Token()
	return all, err
}

func objectOf(decoder *json.Decoder) (any, error) {
	var all object
	for seen := map[string]bool{}; decoder.More(); {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if seen[name] {
			return nil, fmt.Errorf("%q stands in an object twice", name)
		}
		seen[name] = true
		token, err := decoder.Token()
		v, err := value(decoder, token, err)
		if err != nil {
			return nil, err
		}
		all = append(all, member{name, v})
	}
	_, err := decoder.Token()
	return all, err
}

// plain is a value as [json.Unmarshal] makes it, with numbers as they are written.
func plain(v any) any {
	switch v := v.(type) {
	case object:
		all := make(map[string]any, len(v))
		for _, m := range v {
			all[m.name] = plain(m.value)
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = plain(v[i])
		}
		return all
	}
	return v
}

// each calls f for every object, an outer one before those in it.
func each(v any, f func(object)) {
	switch v := v.(type) {
	case object:
		f(v)
		for _, m := range v {
			each(m.value, f)
		}
	case []any:
		for _, one := range v {
			each(one, f)
		}
	}
}

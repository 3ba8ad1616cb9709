package realtime

import (
	"bytes"
	"crypto/rand"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// ownID begins the ids of the gateway's own events.
const ownID = "event_gh"

func newID() string { return ownID + strings.ToLower(rand.Text()) }

// ownEvent begins the ids of events that no client has asked for: errors about them are the
// gateway's alone.
const ownEvent = ownID + "_"

// own is an event that the gateway sends to the provider by itself, with a member, "" for none.
func own(name, member, value string) []byte {
	event := openai.AppendText(openai.AppendText([]byte{'{'}, "type", name), "event_id", ownEvent+strings.ToLower(rand.Text()))
	if member != "" {
		event = openai.AppendText(event, member, value)
	}
	return append(event, '}')
}

// errorEvent is the event of a refusal. EventID is that of the client's event, "" for none.
func errorEvent(e *apierror.Error, eventID string) []byte {
	object := edit(openai.AppendError(nil, e), []string{"error"}, func(v []byte) []byte {
		about := []byte("null")
		if eventID != "" {
			about = jsonscan.AppendString(nil, eventID)
		}
		return append(openai.AppendValue(bytes.Clone(v[:len(v)-1]), "event_id", about), '}')
	})
	event := openai.AppendText([]byte(`{"type":"error"`), "event_id", newID())
	return append(append(event, ','), object[1:]...)
}

// cancelOf is the event that ends an answer.
func cancelOf(response string) []byte { return own("response.cancel", "response_id", response) }

// soundHead begins an event with a piece of sound as the SDKs write it.
var soundHead = []byte(`{"type":"input_audio_buffer.append"`)

// isSound reports whether a client's event is a piece of sound that needs no look: exactly a type,
// perhaps an event_id, and audio in letters of base64, without spaces between.
func isSound(event []byte) bool {
	rest, ok := bytes.CutPrefix(event, soundHead)
	if !ok {
		return false
	}
	if id, found := bytes.CutPrefix(rest, []byte(`,"event_id":"`)); found {
		end := plain(id)
		if rest = id[end:]; len(rest) == 0 || rest[0] != '"' {
			return false
		}
		rest = rest[1:]
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"audio":"`)); !ok {
		return false
	}
	return string(rest[plain(rest):]) == `"}`
}

// letters are those of base64, and what ids have.
var letters = func() (is [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_" {
		is[c] = true
	}
	return is
}()

// plain returns how many letters a text begins with.
func plain(text []byte) int {
	for i, c := range text {
		if !letters[c] {
			return i
		}
	}
	return len(text)
}

// edit returns an object in which the value at a path is what change makes of it, nil for a member
// that is left out. An object without such a value is returned as it is.
func edit(object []byte, path []string, change func(value []byte) []byte) []byte {
	members := jsonscan.Members(object, nil)
	i, ok := jsonscan.Find(object, members, path[0])
	if !ok {
		return object
	}
	value := members[i].Value(object)
	if len(path) > 1 {
		if value[0] != '{' {
			return object
		}
		inner := edit(value, path[1:], change)
		change = func([]byte) []byte { return inner }
	}
	p := jsonscan.NewPatch(object, members)
	if value = change(value); value == nil {
		p.Drop(i)
	} else {
		p.Set(i, value)
	}
	return p.Append(nil)
}

// get returns the value at a path in an object, nil for none.
func get(object []byte, path ...string) []byte {
	for _, name := range path {
		if len(object) == 0 || object[0] != '{' {
			return nil
		}
		members := jsonscan.Members(object, nil)
		i, ok := jsonscan.Find(object, members, name)
		if !ok {
			return nil
		}
		object = members[i].Value(object)
	}
	return object
}

// text returns the string at a path in an object, "" for none.
func text(object []byte, path ...string) string {
	s, _ := jsonscan.String(get(object, path...))
	return s
}

// drop and to are changes for edit: a member is left out, or has a text.
func drop([]byte) []byte { return nil }

func to(text string) func([]byte) []byte {
	return func([]byte) []byte { return jsonscan.AppendString(nil, text) }
}

// appendModel returns an object with a model before its members.
func appendModel(model string, object []byte) []byte {
	body := openai.AppendText([]byte{'{'}, "model", model)
	if rest := bytes.TrimSpace(object[1:]); rest[0] != '}' {
		body = append(body, ',')
	}
	return append(body, object[1:]...)
}

// element returns the only element of an array.
func element(array []byte) []byte { return bytes.TrimSpace(array[1 : len(array)-1]) }

// errorOf is the error object of a refusal, as a change for edit.
func errorOf(e *apierror.Error) func([]byte) []byte {
	return func([]byte) []byte { return get(openai.AppendError(nil, e), "error") }
}

package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// MaxTools is how many tools an answer may list: far more than any model is shown. Each is looked at.
const MaxTools = 10_000

// Errors of a server's messages.
var (
	ErrNoMessage = errors.New("not a JSON-RPC message")
	ErrTools     = fmt.Errorf("more than %d tools in one answer", MaxTools)
)

// ParseAnswer reads a message of a server: the response to a request, or a request or notification
// of the server's own. The error is [ErrNoMessage].
func ParseAnswer(data []byte) (*Message, error) {
	members, err := jsonscan.Lenient(data, make([]jsonscan.Member, 0, 8))
	if err != nil {
		return nil, ErrNoMessage
	}
	m := &Message{data: data, members: members}
	var found [len(envelope)][]byte
	for _, member := range members {
		for i, known := range envelope {
			// Decoders disagree on which of two counts, and on whether case does.
			if !strings.EqualFold(string(member.DecodedKey(data)), known) {
				continue
			}
			if found[i] != nil || string(member.Key(data)) != known {
				return nil, ErrNoMessage
			}
			found[i] = member.Value(data)
		}
	}
	id, method, response := found[0], found[1], found[2] != nil || found[3] != nil
	m.ID = id
	named := false
	if method != nil {
		m.Method, named = jsonscan.String(method)
	}
	switch {
	case named && !response && id != nil:
		m.Kind = Request
	case named && !response:
		m.Kind = Notification
	case method == nil && (found[2] == nil) != (found[3] == nil):
		m.Kind = Response
	default:
		return nil, ErrNoMessage
	}
	return m, nil
}

// envelope are the members that say what a message is.
var envelope = [...]string{"id", "method", "result", "error"}

// Answers reports whether m is the response to the request. An error without an id is: the server
// could not read it.
func (m *Message) Answers(request *Message) bool {
	if m.Kind != Response {
		return false
	}
	if m.ID == nil || jsonscan.IsNull(m.ID) {
		_, failed := jsonscan.Find(m.data, m.members, "error")
		return failed
	}
	return sameID(m.ID, request.ID)
}

// sameID compares two ids, which may be written differently: 7 and 7.0, "a" and "\u0061".
func sameID(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if s, ok := jsonscan.String(a); ok {
		t, ok := jsonscan.String(b)
		return ok && s == t
	}
	n, ok := jsonscan.Int(a)
	k, same := jsonscan.Int(b)
	return ok && same && n == k
}

// IsError reports whether a response says that the request failed: an error, or the result of a tool
// with isError.
func (m *Message) IsError() bool {
	if _, ok := jsonscan.Find(m.data, m.members, "error"); ok {
		return true
	}
	body, ok := m.resultWith(isError)
	if !ok {
		return false
	}
	for member := range jsonscan.AllMembers(body) {
		if string(member.DecodedKey(body)) == "isError" && member.Kind == 't' {
			return true
		}
	}
	return false
}

// The keys that are looked for in results.
var (
	isError = jsonscan.KeysOf("isError")
	shown   = jsonscan.KeysOf("tools", "ttlMs", "cacheScope")
)

// resultWith returns the result of a response, and whether it is an object that may have any of keys
// at some depth.
func (m *Message) resultWith(keys jsonscan.KeySet) ([]byte, bool) {
	i, ok := jsonscan.Find(m.data, m.members, "result")
	if !ok || m.members[i].Kind != '{' || !m.members[i].Nested.MayHave(keys) {
		return nil, false
	}
	return m.members[i].Value(m.data), true
}

// Filter returns the text of a response as a caller may see it: a list of tools has only those that
// allows is true for, and a list that may be cached says that it is the caller's own and may have
// changed already (ttlMs 0, cacheScope "private"), because rights may change at any time. A response
// is judged by what it has, not by the method it should answer: a server that mixes up its answers
// shows nothing more. Everything else stays as it is. The error is [ErrTools] or [ErrNoMessage].
func (m *Message) Filter(allows func(tool string) bool) ([]byte, error) {
	body, ok := m.resultWith(shown)
	if !ok {
		return m.data, nil
	}
	members, err := jsonscan.Lenient(body, make([]jsonscan.Member, 0, 8))
	if err != nil {
		return nil, ErrNoMessage
	}
	edited := jsonscan.NewPatch(body, members)
	for i, member := range members {
		switch key := string(member.DecodedKey(body)); {
		case strings.EqualFold(key, "tools") && member.Kind == '[':
			list, err := filterTools(member.Value(body), allows)
			if err != nil {
				return nil, err
			}
			edited.Set(i, list)
		case strings.EqualFold(key, "ttlMs"):
			edited.Set(i, []byte("0"))
		case strings.EqualFold(key, "cacheScope"):
			edited.Set(i, []byte(`"private"`))
		}
	}
	if !edited.Changed() {
		return m.data, nil
	}
	i, _ := jsonscan.Find(m.data, m.members, "result")
	whole := jsonscan.NewPatch(m.data, m.members)
	whole.Set(i, edited.Append(nil))
	return whole.Append(nil), nil
}

// filterTools returns the array without the tools that are not allowed.
func filterTools(list []byte, allows func(string) bool) ([]byte, error) {
	kept, count := append(make([]byte, 0, len(list)), '['), 0
	for tool := range jsonscan.AllElements(list) {
		if count++; count > MaxTools {
			return nil, ErrTools
		}
		if !allowed(tool.Value(list), allows) {
			continue
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, tool.Value(list)...)
	}
	return append(kept, ']'), nil
}

// allowed reports whether a tool has a name, and every name that it can be read to have is allowed.
func allowed(tool []byte, allows func(string) bool) bool {
	named := false
	for member := range jsonscan.AllMembers(tool) {
		if !strings.EqualFold(string(member.DecodedKey(tool)), "name") {
			continue
		}
		name, ok := jsonscan.String(member.Value(tool))
		if !ok || !allows(name) {
			return false
		}
		named = true
	}
	return named
}

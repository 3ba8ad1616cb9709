package mcp

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Bounds of what a client names, in bytes. Ids are counters and UUIDs, tools have at most 128
// characters, and URIs of resources are as long as addresses of web pages.
const (
	MaxID     = 256
	MaxMethod = 128
	MaxName   = 4096
)

// Kind is what a message is.
type Kind uint8

// The kinds of messages.
const (
	Request Kind = iota + 1
	Notification
	Response
)

// Message is a JSON-RPC message. It refers to the text that it was read from.
type Message struct {
	Kind Kind

	// ID is the id as written; nil without one.
	ID []byte

	// Method is "" of a response.
	Method string

	// Name is the tool, the prompt or the URI that a client's request names; "" for methods that name
	// nothing, and until [MethodOf] has refused a request that lacks it.
	Name string

	// Trace is what params._meta.traceparent says, as W3C Trace Context has it; "" without it.
	Trace string

	// version is what params._meta says, "" without it.
	version string

	data    []byte
	members []jsonscan.Member
}

// Members of params._meta: the version of a request, and its trace (MCP 2026-07-28, "_meta").
const (
	metaVersion = "io.modelcontextprotocol/protocolVersion"
	metaTrace   = "traceparent"
)

// Parse reads the message of a client: one JSON object, in which no key can be read in two ways (see
// [jsonscan.StrictAll]). The message is not nil if its id
// could be read, so that the error can be answered with it.
func Parse(body []byte) (*Message, *Error) {
	if at := bytes.TrimLeft(body, " \t\r\n"); len(at) > 0 && at[0] == '[' {
		return nil, invalid("a batch is not accepted: send one message in a request")
	}
	m := &Message{data: body}
	members, fault := jsonscan.Strict(body, make([]jsonscan.Member, 0, 8))
	if fault != nil {
		return nil, syntax(fault)
	}
	m.members = members
	if v, ok := m.text("jsonrpc"); !ok || v != "2.0" {
		return nil, invalid(`the member "jsonrpc" must be "2.0"`)
	}
	if err := m.readID(); err != nil {
		return nil, err
	}
	if err := m.readKind(); err != nil {
		return m, err
	}
	return m, m.readParams()
}

func (m *Message) readID() *Error {
	i, ok := jsonscan.Find(m.data, m.members, "id")
	if !ok {
		return nil
	}
	id := m.members[i].Value(m.data)
	if !validID(id) {
		return invalid(`the member "id" must be a string or an integer`)
	}
	if len(id) > MaxID {
		return invalid(`the member "id" is too long`)
	}
	m.ID = id
	return nil
}

// validID reports whether a value is a string or an integer. Other numbers may come back written
// differently.
func validID(id []byte) bool {
	if id[0] == '"' {
		return true
	}
	if _, ok := jsonscan.Int(id); !ok {
		return false
	}
	return !bytes.ContainsAny(id, ".eE")
}

func (m *Message) readKind() *Error {
	for _, member := range m.members {
		key := string(member.Key(m.data))
		for _, known := range envelope { // a server that ignores case reads another message
			if key != known && strings.EqualFold(key, known) {
				return invalid(`the member "` + known + `" must be written so`)
			}
		}
	}
	_, hasMethod := jsonscan.Find(m.data, m.members, "method")
	_, hasResult := jsonscan.Find(m.data, m.members, "result")
	_, hasError := jsonscan.Find(m.data, m.members, "error")
	switch {
	case hasMethod && !hasResult && !hasError:
		m.Kind = Notification
		if m.ID != nil {
			m.Kind = Request
		}
	case !hasMethod && hasResult != hasError && m.ID != nil:
		m.Kind = Response
		return nil
	default:
		return invalid(`a message has either "method", or "id" with "result" or "error"`)
	}
	method, ok := m.text("method")
	if !ok || method == "" || len(method) > MaxMethod {
		return invalid(`the member "method" must be the name of a method`)
	}
	m.Method = method
	return nil
}

// readParams finds what the params of a request name. A response has a result instead.
func (m *Message) readParams() *Error {
	if m.Kind == Response {
		if _, fault := jsonscan.StrictAll(m.data, make([]jsonscan.Member, 0, 8)); fault != nil {
			return unclear(fault, "result")
		}
		return nil
	}
	i, ok := jsonscan.Find(m.data, m.members, "params")
	if !ok {
		return nil
	}
	params := m.members[i].Value(m.data)
	members, fault := jsonscan.StrictAll(params, make([]jsonscan.Member, 0, 8))
	if fault != nil {
		return unclear(fault, "params")
	}
	if i, ok := jsonscan.Find(params, members, "_meta"); ok {
		meta := members[i].Value(params)
		inner, fault := jsonscan.Strict(meta, make([]jsonscan.Member, 0, 8))
		if fault != nil {
			return unclear(fault, "params._meta")
		}
		if i, ok := jsonscan.Find(meta, inner, metaTrace); ok {
			m.Trace, _ = jsonscan.String(inner[i].Value(meta))
		}
		if i, ok := jsonscan.Find(meta, inner, metaVersion); ok {
			if m.version, ok = jsonscan.String(inner[i].Value(meta)); !ok || m.version == "" {
				return badParams("the version in params._meta must be a string", http.StatusBadRequest)
			}
		}
	}
	if method := methods[m.Method]; method != nil && method.Named != "" {
		if i, ok := jsonscan.Find(params, members, method.Named); ok {
			m.Name, _ = jsonscan.String(members[i].Value(params))
		}
	}
	return nil
}

// text returns the string of a member.
func (m *Message) text(key string) (string, bool) {
	i, ok := jsonscan.Find(m.data, m.members, key)
	if !ok {
		return "", false
	}
	return jsonscan.String(m.members[i].Value(m.data))
}

// badParams is the answer to params that a method cannot have. In the stateless era, status 400 is
// for what each request must have; 0 is 200.
func badParams(message string, status int) *Error {
	return &Error{Code: CodeInvalidParams, Message: message, Status: status}
}

// unclear is the answer to params that are no object of unique keys.
func unclear(fault error, where string) *Error {
	reason, _ := errors.AsType[*jsonscan.SyntaxError](fault)
	return badParams(where+": "+reason.Reason, http.StatusBadRequest)
}

// syntax is the answer to a body that is no JSON object of unique keys.
func syntax(fault error) *Error {
	reason, _ := errors.AsType[*jsonscan.SyntaxError](fault)
	if reason.Key != "" {
		return invalid(reason.Reason)
	}
	return &Error{Code: CodeParse, Message: "the body is not a JSON object: " + reason.Reason,
		Status: http.StatusBadRequest}
}

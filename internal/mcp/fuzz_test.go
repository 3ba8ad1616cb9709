package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// What Parse accepts, encoding/json reads in the same way, although it ignores the case of keys.
func FuzzParse(f *testing.F) {
	f.Add(call("tools/call", `"name":"a","arguments":{"Name":1},`))
	f.Add(call("resources/read", `"uri":"file:///\u0061",`))
	f.Add(`{"jsonrpc":"2.0","id":"a","result":{"method":"b"}}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","NAME":"b"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		m, refused := Parse([]byte(body))
		if refused != nil {
			return
		}
		var seen struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name any
				URI  any
				Meta struct {
					Version string `json:"io.modelcontextprotocol/protocolVersion"`
				} `json:"_meta"`
			}
		}
		if err := json.Unmarshal([]byte(body), &seen); err != nil && m.Kind != Response {
			t.Fatalf("accepted, but: %v", err)
		}
		if !bytes.Equal(seen.ID, m.ID) || seen.Method != m.Method {
			t.Fatalf("%+v, but %+v", m, seen)
		}
		if m.Kind == Response {
			return
		}
		if seen.Params.Meta.Version != m.version {
			t.Fatalf("version %q, but %q", m.version, seen.Params.Meta.Version)
		}
		row, refused := MethodOf(m, Sessions)
		if refused != nil {
			return
		}
		if named := map[string]any{"name": seen.Params.Name, "uri": seen.Params.URI, "": m.Name}[row.Named]; named != m.Name {
			t.Fatalf("names %q, but %v", m.Name, named)
		}
	})
}

// Every name has a header that CheckHeaders takes for it, and no header is taken for two names.
func FuzzHeaders(f *testing.F) {
	f.Add("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=")
	f.Add("a", "=?base64?YQ==?=")
	f.Add("a", "=?base64?YQ?=")
	f.Fuzz(func(t *testing.T, name, header string) {
		if name == "" || !json.Valid([]byte(`"`+name+`"`)) || strings.Contains(name, `\`) {
			return
		}
		m, err := Parse([]byte(call("tools/call", `"name":"`+name+`",`)))
		if err != nil {
			return
		}
		headers := func(value string) http.Header {
			return http.Header{HeaderVersion: {Latest}, HeaderMethod: {"tools/call"}, HeaderName: {value}}
		}
		if err := CheckHeaders(headers(EncodeName(m.Name)), m); err != nil {
			t.Fatalf("%q: %v", m.Name, err)
		}
		if CheckHeaders(headers(header), m) != nil {
			return
		}
		m.Name += "x"
		if CheckHeaders(headers(header), m) == nil {
			t.Fatalf("%q is taken for two names", header)
		}
	})
}

// However a list is written, encoding/json finds no tool in it that is not allowed, and all that are.
func FuzzFilter(f *testing.F) {
	f.Add(`{"tools":[{"name":"read"},{"name":"write"}],"ttlMs":5,"cacheScope":"public"}`)
	f.Add(`{"Tools":[{"NAME":"write","name":"read"}],"tools":[]}`)
	f.Add(`{"\u0074ools":[{"n\u0061me":"write"}]}`)
	f.Add(`{"tool\u017f":[{"name":"write"}],"ttlMs":1e9}`)
	f.Fuzz(func(t *testing.T, result string) {
		m, err := ParseAnswer([]byte(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`))
		if err != nil {
			return
		}
		text, err := m.Filter(func(tool string) bool { return tool != "write" })
		if err != nil {
			return
		}
		if _, err := ParseAnswer(text); err != nil {
			t.Fatalf("%s became %s", result, text)
		}
		var seen struct {
			Result struct {
				Tools      []struct{ Name string }
				TTLMs      *float64
				CacheScope *string
			}
		}
		if json.Unmarshal(text, &seen) != nil {
			return // a member of another type: no client reads it
		}
		for _, tool := range seen.Result.Tools {
			if tool.Name == "write" {
				t.Fatalf("%s became %s", result, text)
			}
		}
		if ttl, scope := seen.Result.TTLMs, seen.Result.CacheScope; ttl != nil && *ttl != 0 || scope != nil && *scope != "private" {
			t.Fatalf("%s became %s", result, text)
		}
	})
}

// A stream is read in the same way however its bytes arrive, and an event that is written with its own
// message is read as before.
func FuzzReader(f *testing.F) {
	f.Add("id: 1\ndata: {\"id\":1,\ndata: \"result\":{}}\n\n: ping\n\ndata: {}\r\n\r\n")
	f.Add("data\n\ndata: a\rdata: b\r\r")
	f.Fuzz(func(t *testing.T, stream string) {
		header := http.Header{"Content-Type": {"text/event-stream"}}
		var written []byte
		var messages [][]byte
		r, _ := NewReader(header, strings.NewReader(stream), 1<<16)
		for {
			e, err := r.Next()
			if err != nil {
				break
			}
			if e.Message != nil {
				messages = append(messages, bytes.Clone(e.Message))
				written = e.AppendWith(written, e.Message)
			} else {
				written = append(written, e.Raw...)
			}
		}
		again, _ := NewReader(header, strings.NewReader(string(written)), 1<<17)
		for _, want := range messages {
			for {
				e, err := again.Next()
				if err != nil {
					t.Fatalf("%q is missing in %q", want, written)
				}
				if e.Message == nil {
					continue
				}
				if !bytes.Equal(e.Message, want) {
					t.Fatalf("%q became %q", want, e.Message)
				}
				break
			}
		}
	})
}

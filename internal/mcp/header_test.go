package mcp

import (
	"net/http"
	"testing"
)

func TestHeadersMustEqualTheBody(t *testing.T) {
	tool := call("tools/call", `"name":"Hello, 世界",`)
	const encoded = "=?base64?SGVsbG8sIOS4lueVjA==?="
	type h = http.Header
	for _, test := range []struct {
		why    string
		header h
		body   string
		code   int // 0 for no error
	}{
		{"equal", h{HeaderVersion: {Latest}, HeaderMethod: {"tools/list"}}, call("tools/list", ""), 0},
		{"no method", h{HeaderVersion: {Latest}}, call("tools/list", ""), CodeHeaderMismatch},
		{"another method", h{HeaderVersion: {Latest}, HeaderMethod: {"prompts/list"}}, call("tools/list", ""), CodeHeaderMismatch},
		{"case", h{HeaderVersion: {Latest}, HeaderMethod: {"TOOLS/LIST"}}, call("tools/list", ""), CodeHeaderMismatch},
		{"two methods", h{HeaderVersion: {Latest}, HeaderMethod: {"tools/list", "tools/call"}}, call("tools/list", ""), CodeHeaderMismatch},
		{"no name", h{HeaderVersion: {Latest}, HeaderMethod: {"tools/call"}}, tool, CodeHeaderMismatch},
		{"an encoded name", h{HeaderVersion: {Latest}, HeaderMethod: {"tools/call"}, HeaderName: {encoded}}, tool, 0},
		{"bytes that no header has", h{HeaderVersion: {Latest}, HeaderMethod: {"tools/call"}, HeaderName: {"Hello, 世界"}}, tool, CodeHeaderMismatch},
		{"wrong padding", h{HeaderVersion: {Latest}, HeaderMethod: {"tools/call"}, HeaderName: {"=?base64?SGVsbG8?="}}, call("tools/call", `"name":"Hello",`), CodeHeaderMismatch},
		{"a plain name that looks encoded", h{HeaderVersion: {Latest}, HeaderMethod: {"tools/call"}, HeaderName: {"=?base64?SGVsbG8"}}, call("tools/call", `"name":"=?base64?SGVsbG8",`), 0},
		{"another name", h{HeaderVersion: {Latest}, HeaderMethod: {"tools/call"}, HeaderName: {"b"}}, call("tools/call", `"name":"a",`), CodeHeaderMismatch},
		{"a uri", h{HeaderVersion: {Latest}, HeaderMethod: {"resources/read"}, HeaderName: {"file:///a"}}, call("resources/read", `"uri":"file:///a",`), 0},
		{"no version in the body", h{HeaderVersion: {Latest}, HeaderMethod: {"tools/list"}}, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, CodeInvalidParams},
		{"another version in the body", h{HeaderVersion: {"2025-11-25"}}, call("tools/list", ""), CodeHeaderMismatch},
		{"a version in the body only", h{}, call("tools/list", ""), CodeHeaderMismatch},

		{"sessions need none", h{HeaderVersion: {"2025-06-18"}}, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 0},
		{"sessions have no wrong one", h{HeaderMethod: {"tools/list"}}, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`, CodeHeaderMismatch},
		{"nor a wrong name", h{HeaderName: {"b"}}, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`, CodeHeaderMismatch},
		{"a response has no method", h{HeaderVersion: {"2025-06-18"}}, `{"jsonrpc":"2.0","id":1,"result":{}}`, 0},
	} {
		m, err := Parse([]byte(test.body))
		if err != nil {
			t.Fatalf("%s: %v", test.why, err)
		}
		err = CheckHeaders(test.header, m)
		switch {
		case test.code == 0 && err != nil, test.code != 0 && err == nil:
			t.Errorf("%s: %v", test.why, err)
		case err != nil && (err.Code != test.code || err.Status != http.StatusBadRequest):
			t.Errorf("%s: %+v", test.why, err)
		}
	}
}

func TestNamesAreEncodedAsTheSpecificationShows(t *testing.T) {
	for name, want := range map[string]string{
		"us-west1":           "us-west1",
		"Hello, 世界":          "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":           "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":       "=?base64?bGluZTEKbGluZTI=?=",
		"=?base64?":          "=?base64?",
		"what?=":             "what?=",
		"=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
	} {
		if got := EncodeName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

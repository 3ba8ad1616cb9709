package mcp

import (
	"net/http"
	"strings"
	"testing"
)

// call is a request of the stateless era.
func call(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
}

func TestParseReadsWhatAMessageIs(t *testing.T) {
	for _, test := range []struct {
		body         string
		kind         Kind
		id, method   string
		name         string
		stateVersion string
	}{
		{`{"jsonrpc":"2.0","id":7,"method":"ping"}`, Request, "7", "ping", "", ""},
		{`{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"c"}}`, Request, `"a"`, "tools/list", "", ""},
		{call("tools/call", `"name":"read_file","arguments":{"name":"x","Name":"y"},`), Request, "1", "tools/call", "read_file", Latest},
		{call("resources/read", `"uri":"file:///a","name":"b",`), Request, "1", "resources/read", "file:///a", Latest},
		{call("prompts/get", `"name":"\u0061b",`), Request, "1", "prompts/get", "ab", Latest},
		{call("tools/list", `"name":"not of this method",`), Request, "1", "tools/list", "", Latest},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, Notification, "", "notifications/initialized", "", ""},
		{`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","Action":1}}`, Response, "1", "", "", ""},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":""}}`, Response, "1", "", "", ""},
		{` {"extra":true,"jsonrpc":"2.0","id":-3,"method":"ping"} `, Request, "-3", "ping", "", ""},
	} {
		m, err := Parse([]byte(test.body))
		if err != nil {
			t.Errorf("%s: %v", test.body, err)
			continue
		}
		if m.Kind != test.kind || string(m.ID) != test.id || m.Method != test.method || m.Name != test.name || m.version != test.stateVersion {
			t.Errorf("%s: %+v", test.body, m)
		}
	}
}

func TestParseRefusesWhatCanBeReadInTwoWays(t *testing.T) {
	for _, test := range []struct {
		why, body string
		code      int
		id        string
	}{
		{"nothing", ``, CodeParse, ""},
		{"no JSON", `{"jsonrpc":`, CodeParse, ""},
		{"a batch", ` [{"jsonrpc":"2.0","id":1,"method":"ping"}]`, CodeInvalidRequest, ""},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, CodeParse, ""},
		{"a method twice", `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}`, CodeInvalidRequest, ""},
		{"a method in two cases", `{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call"}`, CodeInvalidRequest, ""},
		{"a method in another case", `{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"a"},"result":null}`, CodeInvalidRequest, "1"},
		{"an id in another case", `{"jsonrpc":"2.0","ID":1,"method":"notifications/cancelled"}`, CodeInvalidRequest, ""},
		{"a name twice", call("tools/call", `"name":"a","name":"b",`), CodeInvalidParams, "1"},
		{"a name in two cases", call("tools/call", `"name":"a","Name":"b",`), CodeInvalidParams, "1"},
		{"an escaped key", call("tools/call", `"name":"a","\u006eame":"b",`), CodeInvalidParams, "1"},
		{"an argument twice", call("tools/call", `"name":"a","arguments":{"b":[{"c":1,"c":2}]},`), CodeInvalidParams, "1"},
		{"a reference in two cases", call("completion/complete", `"ref":{"name":"a","Name":"b"},`), CodeInvalidParams, "1"},
		{"a result twice", `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"a":1,"a":2}}}`, CodeInvalidParams, "1"},
		{"two versions", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"a","IO.modelcontextprotocol/protocolVersion":"b"}}}`, CodeInvalidParams, "1"},
		{"an empty version", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":""}}}`, CodeInvalidParams, "1"},
		{"a number as version", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}}`, CodeInvalidParams, "1"},
		{"meta in an array", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":[]}}`, CodeInvalidParams, "1"},
		{"no version of JSON-RPC", `{"id":1,"method":"ping"}`, CodeInvalidRequest, ""},
		{"another one", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, CodeInvalidRequest, ""},
		{"a null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, CodeInvalidRequest, ""},
		{"a fraction as id", `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, CodeInvalidRequest, ""},
		{"an exponent as id", `{"jsonrpc":"2.0","id":1e3,"method":"ping"}`, CodeInvalidRequest, ""},
		{"an object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, CodeInvalidRequest, ""},
		{"a huge id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("a", MaxID) + `","method":"ping"}`, CodeInvalidRequest, ""},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, CodeInvalidRequest, "1"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, CodeInvalidRequest, "1"},
		{"a result without id", `{"jsonrpc":"2.0","result":{}}`, CodeInvalidRequest, ""},
		{"only an id", `{"jsonrpc":"2.0","id":1}`, CodeInvalidRequest, "1"},
		{"a number as method", `{"jsonrpc":"2.0","id":1,"method":1}`, CodeInvalidRequest, "1"},
		{"a huge method", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("a", MaxMethod+1) + `"}`, CodeInvalidRequest, "1"},
		{"params in an array", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, CodeInvalidParams, "1"},
	} {
		m, err := Parse([]byte(test.body))
		if err == nil || err.Code != test.code {
			t.Errorf("%s: %+v", test.why, err)
			continue
		}
		if id := ""; m != nil {
			id = string(m.ID)
			if id != test.id {
				t.Errorf("%s: the error has id %q, want %q", test.why, id, test.id)
			}
		} else if test.id != "" {
			t.Errorf("%s: the error has no id", test.why)
		}
	}
}

func TestMethodsAreOfAnEra(t *testing.T) {
	for _, test := range []struct {
		body   string
		era    Era
		status int // of the refusal, 0 for none
		code   int
	}{
		{call("server/discover", ""), Stateless, 0, 0},
		{call("tools/list", ""), Stateless, 0, 0},
		{call("tools/list", ""), Sessions, 0, 0},
		{call("ping", ""), Stateless, 404, CodeMethodNotFound},
		{call("initialize", ""), Stateless, 404, CodeMethodNotFound},
		{call("logging/setLevel", ""), Stateless, 404, CodeMethodNotFound},
		{call("resources/subscribe", `"uri":"a",`), Stateless, 404, CodeMethodNotFound},
		{call("unknown/method", ""), Stateless, 404, CodeMethodNotFound},
		{call("resources/subscribe", ""), Stateless, 404, CodeMethodNotFound},
		{call("tools/call", ""), Stateless, 200, CodeInvalidParams},
		{call("tools/call", `"name":"",`), Sessions, 200, CodeInvalidParams},
		{call("tools/call", `"name":1,`), Sessions, 200, CodeInvalidParams},
		{call("tools/call", `"name":"`+strings.Repeat("a", MaxName)+`",`), Sessions, 0, 0},
		{call("tools/call", `"name":"`+strings.Repeat("a", MaxName+1)+`",`), Sessions, 200, CodeInvalidParams},
		{call("resources/read", `"name":"a",`), Sessions, 200, CodeInvalidParams},
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/get"}`, Sessions, 200, CodeInvalidParams},
		{call("unknown/method", ""), Sessions, 200, CodeMethodNotFound},
		{call("server/discover", ""), Sessions, 200, CodeMethodNotFound},
		{call("subscriptions/listen", ""), Sessions, 200, CodeMethodNotFound},
		{call("tasks/get", ""), Sessions, 200, CodeMethodNotFound},
		{`{"jsonrpc":"2.0","method":"notifications/unknown"}`, Sessions, 400, CodeMethodNotFound},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, Sessions, 0, 0},
		{`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}`, Sessions, 400, CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, Sessions, 400, CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, Sessions, 0, 0},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, Stateless, 400, CodeInvalidRequest},
	} {
		m, err := Parse([]byte(test.body))
		if err != nil {
			t.Fatalf("%s: %v", test.body, err)
		}
		method, err := MethodOf(m, test.era)
		switch {
		case test.status == 0 && (err != nil || method.Name != m.Method):
			t.Errorf("%s: %v, %v", test.body, method, err)
		case test.status != 0 && (err == nil || err.HTTPStatus() != test.status || err.Code != test.code):
			t.Errorf("%s: %+v", test.body, err)
		}
	}
}

func TestOnlyAListenerIsOpen(t *testing.T) {
	for name, method := range methods {
		if method.Open != (name == "subscriptions/listen") {
			t.Errorf("%s: open %v", name, method.Open)
		}
	}
}

func TestRefusalsHaveTheCodesOfTheProtocol(t *testing.T) {
	for body, want := range map[string]string{
		`{`:  `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body is not a JSON object: unexpected end"}}`,
		`[]`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch is not accepted: send one message in a request"}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tasks/get"}`:                                                           `{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"method not found"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                                            `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the member \"name\" of params must be a string"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("a", MaxName+1) + `"}}`: `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the member \"name\" of params is too long"}}`,
		call("ping", ""): `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"the header Mcp-Protocol-Version must equal the version in params._meta"}}`,
	} {
		call, err := Read(http.Header{}, []byte(body))
		if err == nil {
			t.Errorf("%.80s is not refused", body)
		} else if got := string(call.Refuse(err)); got != want {
			t.Errorf("%.80s\ngot  %s\nwant %s", body, got, want)
		}
	}
}

func TestEraIsThatOfTheVersion(t *testing.T) {
	for version, want := range map[string]Era{
		"":           Sessions,
		"2025-03-26": Sessions,
		"2025-06-18": Sessions,
		"2025-11-25": Sessions,
		"2026-07-28": Stateless,
	} {
		h := http.Header{}
		if version != "" {
			h.Set("MCP-Protocol-Version", version)
		}
		if era, got, err := EraOf(h); err != nil || era != want || version != "" && got != version {
			t.Errorf("%q: %v, %q, %v", version, era, got, err)
		}
	}
	for _, values := range [][]string{{"2024-11-05"}, {"2026-07-29"}, {"v999.0.0"}, {"2026-07-28 "}, {""}} {
		_, _, err := EraOf(http.Header{HeaderVersion: values})
		if values[0] == "" {
			continue // no more than a missing header
		}
		if err == nil || err.Status != 400 || err.Code != CodeUnsupportedVersion {
			t.Errorf("%q: %+v", values, err)
		}
	}
	_, _, err := EraOf(http.Header{HeaderVersion: {"2025-11-25", "2026-07-28"}})
	if err == nil || err.Code != CodeHeaderMismatch {
		t.Errorf("two versions: %+v", err)
	}
}

func TestAnUnknownVersionIsAnsweredWithTheKnownOnes(t *testing.T) {
	_, _, err := EraOf(http.Header{HeaderVersion: {`v9"` + strings.Repeat("9", 100)}})
	got := string(AppendError(nil, []byte("3"), err))
	want := `{"jsonrpc":"2.0","id":3,"error":{"code":-32022,"message":"unsupported protocol version",` +
		`"data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"],"requested":"v9\"` +
		strings.Repeat("9", 61) + `"}}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A trace that is no text is none: servers may still read it.
func TestTheTraceOfARequest(t *testing.T) {
	for meta, want := range map[string]string{`{"traceparent":"00-a"}`: "00-a", `{"traceparent":7}`: "", `{}`: ""} {
		m, err := Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":` + meta + `}}`))
		if err != nil || m.Trace != want {
			t.Errorf("%s: %q, %v", meta, m.Trace, err)
		}
	}
}

package mcp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func answer(t *testing.T, text string) *Message {
	t.Helper()
	m, err := ParseAnswer([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

func TestListsShowOnlyAllowedTools(t *testing.T) {
	allows := func(tool string) bool { return strings.HasPrefix(tool, "read_") }
	for _, test := range []struct{ why, result, want string }{
		{"some", `{"tools":[{"name":"read_a","x":[1]}, {"name":"write"},{"name":"read_b"}],"nextCursor":"c"}`,
			`{"tools":[{"name":"read_a","x":[1]},{"name":"read_b"}],"nextCursor":"c"}`},
		{"none", `{"tools":[{"name":"write"}]}`, `{"tools":[]}`},
		{"an escaped name", `{"tools":[{"name":"\u0072ead_a"},{"name":"\u0077rite"}]}`, `{"tools":[{"name":"\u0072ead_a"}]}`},
		{"a second name", `{"tools":[{"name":"read_a","name":"write"},{"name":"read_a","Name":"write"}]}`, `{"tools":[]}`},
		{"no name", `{"tools":[{},1,null,{"name":null}]}`, `{"tools":[]}`},
		{"a second list", `{"tools":[{"name":"read_a"}],"tools":[{"name":"write"}]}`, `{"tools":[{"name":"read_a"}],"tools":[]}`},
		{"another case", `{"Tools":[{"name":"write"}]}`, `{"Tools":[]}`},
		{"an escaped key", `{"\u0074ools":[{"name":"write"}]}`, `{"\u0074ools":[]}`},
		{"hints", `{"tools":[],"ttlMs":3600000,"cacheScope":"public","resultType":"complete"}`,
			`{"tools":[],"ttlMs":0,"cacheScope":"private","resultType":"complete"}`},
		{"hints of other lists", `{"ttlMs":1,"prompts":[{"name":"write"}],"cacheScope":"public"}`,
			`{"ttlMs":0,"prompts":[{"name":"write"}],"cacheScope":"private"}`},
		{"content with such words", `{"content":[{"type":"text","tools":[{"name":"write"}]}]}`, ""},
		{"no list", `{"tools":{"listChanged":true}}`, ""},
	} {
		text := ` {"jsonrpc":"2.0", "id":1,"result":` + test.result + `}`
		want := ` {"jsonrpc":"2.0", "id":1,"result":` + test.want + `}`
		if test.want == "" {
			want = text
		}
		if got, err := answer(t, text).Filter(allows); err != nil || string(got) != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", test.why, err, got, want)
		}
	}
}

func TestTenThousandToolsPassAndNoMore(t *testing.T) {
	list := func(n int) *Message {
		var tools []string
		for i := range n {
			tools = append(tools, fmt.Sprintf(`{"name":"t%d"}`, i))
		}
		return answer(t, `{"jsonrpc":"2.0","id":1,"result":{"tools":[`+strings.Join(tools, ",")+`]}}`)
	}
	got, err := list(MaxTools).Filter(func(tool string) bool { return tool == "t9999" })
	if err != nil || string(got) != `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t9999"}]}}` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := list(MaxTools + 1).Filter(func(string) bool { return true }); !errors.Is(err, ErrTools) {
		t.Errorf("%v", err)
	}
}

func TestAnAnswerHasTheIDOfItsRequest(t *testing.T) {
	for _, test := range []struct {
		id, text string
		want     bool
	}{
		{`7`, `{"jsonrpc":"2.0","id":7,"result":{}}`, true},
		{`7`, `{"jsonrpc":"2.0","id":7.0,"result":{}}`, true},
		{`7`, `{"jsonrpc":"2.0","id":"7","result":{}}`, false},
		{`7`, `{"jsonrpc":"2.0","id":8,"result":{}}`, false},
		{`"a"`, `{"jsonrpc":"2.0","id":"\u0061","result":{}}`, true},
		{`"a"`, `{"jsonrpc":"2.0","id":"b","error":{}}`, false},
		{`7`, `{"jsonrpc":"2.0","error":{"code":-32700}}`, true},
		{`7`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`, true},
		{`7`, `{"jsonrpc":"2.0","id":null,"result":{}}`, false},
		{`7`, `{"jsonrpc":"2.0","id":7,"method":"roots/list"}`, false},
		{`7`, `{"jsonrpc":"2.0","method":"notifications/message"}`, false},
	} {
		if got := answer(t, test.text).Answers(&Message{ID: []byte(test.id)}); got != test.want {
			t.Errorf("%s answers %s: %v", test.text, test.id, got)
		}
	}
}

func TestErrorsAreRecognized(t *testing.T) {
	for text, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`:                           true,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`:                     true,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}}`:                    false,
		`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"isError":true}}}`:            false,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`:                                    false,
		`{"jsonrpc":"2.0","id":1,"result":null}`:                                              false,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"isError":true}}`:       false,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text"}],"isErro\u0072":true}}`: true,
	} {
		if got := answer(t, text).IsError(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestMessagesOfAServerHaveAKind(t *testing.T) {
	for text, want := range map[string]Kind{
		`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`:                         Request,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`:         Notification,
		`{"jsonrpc":"2.0","id":1,"result":{"method":"tools/call"}}`:              Response,
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"","data":{"id":1}}}`: Response,
	} {
		if got := answer(t, text).Kind; got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestWhatIsNoMessageOfAServer(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{}`, `null`, `{"id":1}`, `{"id":1,"method":1}`, `{"method":1}`, `{"id":1,"result":{},"error":{}}`,
		`{"method":"a","result":{}}`, `{"method":"a","error":{}}`, `{"id":1,"id":2,"result":{}}`, `{"id":1,"result":{},"result":{"tools":[]}}`,
		`{"id":1,"result":{},"Result":{}}`, `{"id":1,"\u0072esult":{}}`, `{"id":1,"result":{}} x`,
	} {
		if m, err := ParseAnswer([]byte(text)); !errors.Is(err, ErrNoMessage) {
			t.Errorf("%s: %+v, %v", text, m, err)
		}
	}
}

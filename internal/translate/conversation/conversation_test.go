package conversation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// read reads a chat request, and returns it in one line.
func read(t *testing.T, rules conversation.Rules, chat string) (string, error) {
	t.Helper()
	var b jsonscan.Body
	defer b.Release()
	if err := b.Parse([]byte(chat)); err != nil {
		t.Fatal(err)
	}
	request := conversation.OfChat(&b)
	c := request.Read(&rules)
	if err := request.Err(); err != nil {
		return "", err
	}
	var out []string
	if len(c.System) > 0 {
		out = append(out, "S:"+parts(c.System))
	}
	for _, turn := range c.Turns {
		out = append(out, [...]string{"S", "U", "A", "R"}[turn.Role]+":"+parts(turn.Parts))
	}
	for _, tool := range c.Tools {
		out = append(out, "tool:"+string(tool.Name))
	}
	if c.Choice.Mode != "" {
		out = append(out, "choice:"+c.Choice.Mode)
	}
	return strings.Join(out, " | "), nil
}

func parts(list []conversation.Part) string {
	var out []string
	for _, p := range list {
		switch p.Kind {
		case conversation.Call:
			out = append(out, fmt.Sprintf("call %s %s%s", p.Call.ID, p.Call.Name, p.Call.Input))
		case conversation.Result:
			out = append(out, fmt.Sprintf("result %s (%s)", p.Result.Call.ID, parts(p.Result.Parts)))
		case conversation.Text, conversation.Refusal:
			out = append(out, string(p.Text)+string(p.Cache))
		default:
			out = append(out, string(p.Media.URL))
		}
	}
	return strings.Join(out, ", ")
}

const (
	u     = `{"role":"user","content":"u"}`
	a     = `{"role":"assistant","content":"a"}`
	s     = `{"role":"system","content":"s"}`
	blank = `{"role":"user","content":" "}`
)

func call(ids ...string) string {
	var calls []string
	for _, id := range ids {
		calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"f","arguments":"{}"}}`, id))
	}
	return `{"role":"assistant","tool_calls":[` + strings.Join(calls, ",") + `]}`
}

func result(id string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"of %s"}`, id, id)
}

func TestRulesArrangeTurns(t *testing.T) {
	claude := conversation.Rules{Texts: conversation.NotAllBlank, System: conversation.InFront, Merge: conversation.WithResults, Inputs: true}
	gemini := conversation.Rules{Texts: conversation.NotEmpty, System: conversation.Leading, Merge: conversation.OneRole, Inputs: true}
	for _, c := range []struct {
		name, messages, want string
		rules                conversation.Rules
	}{
		{"as it was written", s + "," + u + "," + u + "," + a, `S:"s" | U:"u" | U:"u" | A:"a"`, conversation.Rules{}},
		{"one turn for neighbours of one role", u + "," + u + "," + a, `U:"u", "u" | A:"a"`, claude},
		{"the system in front", u + "," + s + "," + a, `S:"s" | U:"u" | A:"a"`, claude},
		{"the user says what the system says later", s + "," + u + "," + s, `S:"s" | U:"u", "s"`, gemini},
		{"only the system speaks", s, `U:"s"`, claude},
		{"a blank message is left out", u + "," + a + "," + blank + "," + a, `U:"u" | A:"a", "a"`, claude},
		{"white space is a text", u + "," + blank, `U:"u", " "`, gemini},
		{"results are the user's", u + "," + call("1", "2") + "," + result("1") + "," + result("2") + "," + u,
			`U:"u" | A:call "1" "f"{}, call "2" "f"{} | U:result "1" ("of 1"), result "2" ("of 2"), "u"`, claude},
		{"results are apart", u + "," + call("1", "2") + "," + result("1") + "," + result("2") + "," + u,
			`U:"u" | A:call "1" "f"{}, call "2" "f"{} | R:result "1" ("of 1"), result "2" ("of 2") | U:"u"`, gemini},
		{"a late result goes to its call", u + "," + call("1") + "," + u + "," + result("1"),
			`U:"u" | A:call "1" "f"{} | R:result "1" ("of 1") | U:"u"`, gemini},
		{"late results go to their calls", u + "," + call("1") + "," + u + "," + call("2") + "," + result("2") + "," + result("1"),
			`U:"u" | A:call "1" "f"{} | R:result "1" ("of 1") | U:"u" | A:call "2" "f"{} | R:result "2" ("of 2")`, gemini},
		{"results in the order of their calls", call("1", "2") + "," + result("2") + "," + result("1"),
			`A:call "1" "f"{}, call "2" "f"{} | R:result "1" ("of 1"), result "2" ("of 2")`, gemini},
		{"messages with calls that follow each other are one turn", call("1") + "," + call("2") + "," + result("1") + "," + result("2"),
			`A:call "1" "f"{}, call "2" "f"{} | R:result "1" ("of 1"), result "2" ("of 2")`, gemini},
		{"an id that comes again is of the last call", call("1") + "," + result("1") + "," + call("1") + "," + result("1"),
			`A:call "1" "f"{} | R:result "1" ("of 1") | A:call "1" "f"{} | R:result "1" ("of 1")`, gemini},
	} {
		got, err := read(t, c.rules, `{"messages":[`+c.messages+`]}`)
		if err != nil || got != c.want {
			t.Errorf("%s:\ngot  %s %v\nwant %s", c.name, got, err, c.want)
		}
	}
}

func TestRulesNameCallsAndTools(t *testing.T) {
	long := strings.Repeat("x", 65)
	rules := conversation.Rules{IDs: translate.Naming{Most: 64}, Names: translate.Naming{Most: 64}}
	got, err := read(t, rules, `{"messages":[`+call("", "a.b", "a.b")+`,`+result("")+`,`+result("a.b")+`],
		"tools":[{"type":"function","function":{"name":"`+long+`"}}]}`)
	const want = `A:call "_e3b0c442" "f", call "a_b_2e7336dc" "f", call "a_b_2_4f609c35" "f" | R:result "_e3b0c442" ("of ") | R:result "a_b_2e7336dc" ("of a.b")`
	if name := (translate.Naming{Most: 64}).Legal(long); err != nil || len(name) != 64 || !strings.HasSuffix(got, `tool:"`+name+`"`) {
		t.Errorf("%s %v", got, err)
	}
	if !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestToolsOfTheHistory(t *testing.T) {
	history := `{"messages":[` + u + `,` + call("1") + `,` + result("1") + `]`
	other := `,"tools":[{"type":"function","function":{"name":"g"}}]`
	for _, c := range []struct {
		rules conversation.History
		tools string
		want  string
	}{
		{conversation.NoHistory, "", ""},
		{conversation.HistoryAlone, "", `tool:"f"`},
		{conversation.HistoryAlone, `,"tools":[]`, `tool:"f"`},
		{conversation.HistoryAlone, other, `tool:"g"`},
		{conversation.HistoryAll, other, `tool:"g" | tool:"f"`},
	} {
		got, err := read(t, conversation.Rules{History: c.rules}, history+c.tools+`}`)
		_, tools, _ := strings.Cut(got, " | tool:")
		if err != nil || tools != strings.TrimPrefix(c.want, "tool:") {
			t.Errorf("%d %s: %s %v", c.rules, c.tools, got, err)
		}
	}
}

func TestWhatIsCachedBehindATextThatIsLeftOut(t *testing.T) {
	const messages = `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":" ","cache_control":{"type":"ephemeral"}}]}]}`
	got, err := read(t, conversation.Rules{Texts: conversation.NotBlank, Merge: conversation.OneRole, Cache: true}, messages)
	if err != nil || got != `U:"a"{"type":"ephemeral"}` {
		t.Error(got, err)
	}
}

func TestAnAnswerThatGoesOnDoesNotEndWithWhiteSpace(t *testing.T) {
	rules := conversation.Rules{Merge: conversation.WithResults, TrimEnd: true}
	for text, want := range map[string]string{`a \n`: `"a"`, `a b`: `"a b"`} {
		got, err := read(t, rules, `{"messages":[`+u+`,{"role":"assistant","content":"`+text+`"}]}`)
		if err != nil || got != `U:"u" | A:`+want {
			t.Error(got, err)
		}
	}
}

// Many calls of one id are read in time that grows with their number only.
func TestManyCallsOfOneIDAreAnsweredInTheirOrder(t *testing.T) {
	const n = 1000
	ids := make([]string, n)
	results := ""
	for i := range ids {
		ids[i] = "c"
		results += "," + result("c")
	}
	rules := conversation.Rules{IDs: translate.Naming{Most: 64}, History: conversation.HistoryAll}
	got, err := read(t, rules, `{"messages":[`+call(ids...)+results+`]}`)
	for _, want := range []string{`call "c" "f"`, `call "c_2" "f"`, `call "c_1000" "f" | R:result "c" (`, `R:result "c_2" (`, `R:result "c_1000" (`, `tool:"f"`} {
		if err != nil || strings.Count(got, want) != 1 {
			t.Errorf("%s: %d, %v", want, strings.Count(got, want), err)
		}
	}
}

func TestResultsOfCalls(t *testing.T) {
	one, both := conversation.ExactlyOne, call("1", "2")
	for messages, c := range map[string]struct {
		rule conversation.Answered
		want string // in the refusal, "" for none
	}{
		call("1") + "," + u:                {one, `the call "1" has no result`},
		call("1"):                          {one, `the call "1" has no result`},
		both + "," + result("1"):           {one, `the call "2" has no result`},
		both + "," + result("2") + "," + u: {conversation.AllOrNone, `the call "1" has no result`},
		both + "," + u:                     {conversation.AllOrNone, ""},
		call("1") + "," + call("2") + "," + result("2"):           {conversation.AllOrNone, `the call "1" has no result`},
		call("1") + "," + u + "," + call("2") + "," + result("2"): {conversation.AllOrNone, ""},
		call("1") + "," + result("1") + "," + result("1"):         {conversation.AllOrNone, `the call "1" has more than one result`},
		both + "," + result("2") + "," + result("1"):              {one, ""},
		both + "," + result("1") + "," + result("1") + "," + u:    {conversation.AnyNumber, ""},
	} {
		_, err := read(t, conversation.Rules{Results: c.rule}, `{"messages":[`+u+`,`+messages+`]}`)
		if e := (*apierror.Error)(nil); c.want == "" && err != nil || c.want != "" && (!errors.As(err, &e) || e.Param != "messages" || !strings.Contains(e.Message, c.want)) {
			t.Errorf("%s: %v, want %q", messages, err, c.want)
		}
	}
}

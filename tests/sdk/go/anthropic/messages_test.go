package anthropic_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func tools() []Tool {
	schema := func(property string) Schema {
		return Schema{Properties: map[string]any{property: map[string]any{"type": "string"}}, Required: []string{property}}
	}
	return []Tool{tool(schema("city"), "get_weather"), tool(schema("zone"), "get_time")}
}

func TestAMessageIsAnsweredUnderBothBases(t *testing.T) {
	for _, base := range []string{host(t), host(t) + "/api"} {
		c := client(t, withBase(base))
		m, err := c.Messages.New(ctx(t), ask(t, "echo", "hello from go"))
		if err != nil {
			t.Fatal(err)
		}
		if said(m) != echo("hello from go") || m.StopReason != "end_turn" || m.Model != name(t, "echo") ||
			m.Usage.InputTokens == 0 || m.Usage.OutputTokens != 5 {
			t.Errorf("%s", m.RawJSON())
		}
	}
}

func TestTheVersionReachesTheProviderOnlyNative(t *testing.T) {
	create(t, ask(t, "echo", "which version of go is this"))
	all := received(t, "which version of go is this")
	if got := all[len(all)-1]["Anthropic-Version"]; got != version {
		t.Errorf("version %q, want %q", got, version)
	}
}

// plain is what does not differ from call to call.
func plain(t *testing.T, m *Message) string {
	var blocks []string
	for _, b := range m.Content {
		blocks = append(blocks, b.Type, b.Text, b.Thinking, b.Name, string(b.Input))
	}
	out, err := json.Marshal([]any{m.Role, m.Model, m.StopReason, m.StopSequence, blocks, m.Usage.InputTokens, m.Usage.OutputTokens})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestTheAccumulatedMessageIsTheWholeOne(t *testing.T) {
	for _, model := range []string{"echo", "tools", "length", "reasoning"} {
		p := ask(t, model, "one two three")
		if model == "tools" {
			p.Tools = tools()
		}
		if got, want := plain(t, accumulate(t, p)), plain(t, create(t, p)); got != want {
			t.Errorf("%s: %s, want %s", model, got, want)
		}
	}
}

func TestTwoResultsAnswerTwoCalls(t *testing.T) {
	p := ask(t, "tools", "the weather, and the time?")
	p.Tools = tools()
	for _, first := range []*Message{create(t, p), accumulate(t, p)} {
		var calls []string
		var results []Block
		for _, b := range first.Content {
			calls = append(calls, b.Name+string(b.Input))
			results = append(results, result(b.ID, "result of "+b.Name, false))
		}
		if first.StopReason != "tool_use" {
			t.Errorf("stop reason %q", first.StopReason)
		}
		same(t, calls, []string{`get_weather{"city":"Oslo"}`, `get_time{"zone":"UTC"}`})
		then := p
		then.Messages = []MessageParam{p.Messages[0], first.ToParam(), user(results...)}
		if last := create(t, then); said(last) != echo("the weather, and the time?") || last.StopReason != "end_turn" {
			t.Errorf("%s", last.RawJSON())
		}
	}
}

func TestThinkingIsReplayedWithItsSignatureOnlyNative(t *testing.T) {
	p := ask(t, "tools", "hello")
	p.Tools, p.Thinking = tools(), thinking(2000)
	for _, first := range []*Message{create(t, p), accumulate(t, p)} {
		if len(first.Content) != 3 || first.Content[0].Thinking == "" || first.Content[0].Signature == "" {
			t.Fatalf("%s", first.RawJSON())
		}
		results := user(result(first.Content[1].ID, "rain", false), result(first.Content[2].ID, "noon", false))
		then := p
		then.Messages = []MessageParam{p.Messages[0], first.ToParam(), results}
		if last := create(t, then); last.StopReason != "end_turn" {
			t.Errorf("%s", last.RawJSON())
		}
		changed := assistant(thinks(first.Content[0].Signature, "changed"), first.Content[1].ToParam(), first.Content[2].ToParam())
		then.Messages = []MessageParam{p.Messages[0], changed, results}
		c := client(t)
		_, err := c.Messages.New(ctx(t), then)
		refused(t, err, 400, "invalid_request_error")
		if err == nil || !strings.Contains(err.Error(), "Invalid `signature`") {
			t.Errorf("%v", err)
		}
	}
}

func TestASystemTextAndAnImageAreTaken(t *testing.T) {
	p := ask(t, "echo", "")
	p.System = []System{{Text: "be brief"}}
	p.Messages = []MessageParam{user(text("look"), image("image/png", png))}
	if got := said(create(t, p)); got != echo("look") {
		t.Errorf("%q", got)
	}
}

func TestTokensAreCounted(t *testing.T) {
	c := client(t)
	p := ask(t, "echo", "one two three")
	counted, err := c.Messages.CountTokens(ctx(t), CountParams{Model: p.Model, Messages: p.Messages})
	if err != nil || counted.InputTokens < 3 {
		t.Errorf("%+v, %v", counted, err)
	}
}

func TestModelsComeInPages(t *testing.T) {
	c := client(t)
	list := c.Models.ListAutoPaging(ctx(t), ListParams{Limit: number(2)})
	var ids []string
	for list.Next() {
		if m := list.Current(); m.DisplayName == "" || slices.Contains(ids, m.ID) {
			t.Errorf("%s", m.RawJSON())
		}
		ids = append(ids, list.Current().ID)
	}
	if err := list.Err(); err != nil || len(ids) < 3 || !slices.Contains(ids, name(t, "echo")) {
		t.Errorf("%q, %v", ids, err)
	}
}

func TestEveryStatusOfTheProviderHasItsErrorOnlyDirect(t *testing.T) {
	c := client(t)
	for status, kind := range map[string]string{
		"400": "invalid_request_error", "401": "authentication_error", "403": "permission_error", "404": "not_found_error",
		"429": "rate_limit_error", "500": "api_error", "529": "overloaded_error",
	} {
		code := int(status[0]-'0')*100 + int(status[1]-'0')*10 + int(status[2]-'0')
		_, err := c.Messages.New(ctx(t), ask(t, "err-"+status, "hello"))
		refused(t, err, code, kind)
		stream := c.Messages.NewStreaming(ctx(t), ask(t, "err-"+status, "hello"))
		for stream.Next() {
			t.Errorf("an event of a refused stream: %s", stream.Current().RawJSON())
		}
		refused(t, stream.Err(), code, kind)
	}
}

func TestRefusalsHaveTheirError(t *testing.T) {
	try := func(model string, options ...Option) error {
		c := client(t, options...)
		p := ask(t, model, "hello")
		if strings.Contains(model, "/") {
			p.Model = model
		}
		_, err := c.Messages.New(ctx(t), p)
		return err
	}
	refused(t, try("unheard-of"), 404, "not_found_error")
	refused(t, try("too-long"), 400, "invalid_request_error")
	if direct(t) {
		return
	}
	refused(t, try("echo", withKey("wrong-key-of-nobody")), 401, "authentication_error")
	refused(t, try("echo", withKey(env(t, "GATEWAY_ACTIVITY_KEY"))), 403, "permission_error")
	refused(t, try(env(t, "GATEWAY_UNCALLABLE_MODEL")), 404, "not_found_error")
	refused(t, try("err-401"), 502, "api_error")
}

func TestTheClientTriesAgainAfter429(t *testing.T) {
	failures, model := 1, "first-1-after-0-err-429" // the gateway may take some of the attempts itself
	if direct(t) {
		failures, model = 2, "first-2-after-0-err-429"
	}
	res, err := http.Post(env(t, "FAKE_ORIGIN")+"/_control/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	c := newClient(withBase(host(t)), withKey(secret(t))) // with its own idea of retries
	m, err := c.Messages.New(ctx(t), ask(t, model, "once more"))
	if err != nil || said(m) != echo("once more") {
		t.Fatalf("%v, %v", m, err)
	}
	if n := len(received(t, "once more")); n != failures+1 {
		t.Errorf("%d requests", n)
	}
}

func TestAnOverloadedStreamIsAnError(t *testing.T) {
	c := client(t)
	stream := c.Messages.NewStreaming(ctx(t), ask(t, "overloaded", "hello"))
	for stream.Next() {
		if kind := stream.Current().Type; kind != "message_start" {
			t.Errorf("event %q", kind)
		}
	}
	if stream.Err() == nil {
		t.Error("no error")
	}
}

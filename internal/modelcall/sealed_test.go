package modelcall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// sealedCase is a conversation in an API, whose second request has the reasoning of its first answer.
type sealedCase struct {
	name     string
	op       *wire.Operation
	change   func(*provider.Config)
	answer   string // with SEAL for what only its target can read
	stream   string // the same as a stream
	request  string // the second, with SEAL
	stranger string // what a target is sent that did not write it
}

func anthropicOnly(c *provider.Config) { c.Dialect = provider.Anthropic }

var sealedCases = []sealedCase{{
	name: "Responses", op: wire.Responses,
	answer: `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"SEAL"}]}`,
	stream: `data: {"type":"response.output_item.added","item":{"type":"reasoning","id":"rs_1","encrypted_content":"begun"}}` + "\n\n" +
		`data: {"type":"response.output_item.done","item":{"type":"reasoning","id":"rs_1","encrypted_content":"SEAL"}}` + "\n\n" +
		`data: {"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[]}}` + "\n\n",
	request:  `{"model":"fast","store":false,"input":[{"role":"user","content":"hi"},{"type":"reasoning","summary":[],"encrypted_content":"SEAL"},{"role":"user","content":"more"}]}`,
	stranger: `"input":[{"role":"user","content":"hi"},{"role":"user","content":"more"}]`,
}, {
	name: "Messages", op: wire.Messages, change: anthropicOnly,
	answer: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm","signature":"SEAL"},{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
	stream: `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}` + "\n\n" +
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}` + "\n\n" +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}` + "\n\n" +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"SEAL"}}` + "\n\n" +
		`data: {"type":"content_block_stop","index":0}` + "\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}` + "\n\n" +
		`data: {"type":"message_stop"}` + "\n\n",
	request: `{"model":"fast","max_tokens":9,"messages":[{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"SEAL"},{"type":"text","text":"hi"}]},{"role":"user","content":"more"}]}`,
	stranger: `{"role":"assistant","content":[{"type":"text","text":"hi"}]}`,
}, {
	name: "Messages, encrypted", op: wire.Messages, change: anthropicOnly,
	answer: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"redacted_thinking","data":"SEAL"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
	stream: `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}` + "\n\n" +
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"SEAL"}}` + "\n\n" +
		`data: {"type":"content_block_stop","index":0}` + "\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}` + "\n\n" +
		`data: {"type":"message_stop"}` + "\n\n",
	request: `{"model":"fast","max_tokens":9,"messages":[{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":[{"type":"redacted_thinking","data":"SEAL"},{"type":"text","text":"hi"}]},{"role":"user","content":"more"}]}`,
	stranger: `{"role":"assistant","content":[{"type":"text","text":"hi"}]}`,
}}

func sealedWith(text, seal string) string { return strings.ReplaceAll(text, "SEAL", seal) }

func TestReasoningLeadsToTheTargetThatWroteIt(t *testing.T) {
	for _, c := range sealedCases {
		for _, endpoints := range []bool{false, true} {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, endpoints %v, stream %v", c.name, endpoints, stream), func(t *testing.T) {
					p := newPair(t, endpoints, c.change)
					p.stream = stream
					answer := c.answer
					if stream {
						answer = c.stream
					}
					first := `{"model":"fast","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
					if c.op == wire.Responses {
						first = `{"model":"fast","input":"hi"}`
					}
					p.answers["b"] = sealedWith(answer, `of\/b`)
					if accounts, _, refusal := p.ask(t, c.op, first); !strings.HasSuffix(accounts, "b") || refusal != nil {
						t.Fatal(accounts, refusal)
					}
					p.answers["a"] = sealedWith(answer, "of/a")
					for range 3 {
						accounts, _, refusal := p.ask(t, c.op, sealedWith(c.request, "of/b"))
						if accounts != "b" || refusal != nil || !strings.Contains(p.sent[0], `"of/b"`) {
							t.Errorf("asked %q: %q, %v", accounts, p.sent, refusal)
						}
					}
					delete(p.answers, "b")
					accounts, _, refusal := p.ask(t, c.op, sealedWith(c.request, "of/b"))
					if accounts != "b a" || refusal != nil || !strings.Contains(p.sent[1], c.stranger) {
						t.Errorf("b is down: asked %q: %q, %v", accounts, p.sent, refusal)
					}
					if _, _, refusal := p.ask(t, c.op, sealedWith(c.request, "elsewhere")); refusal != nil || strings.Contains(p.sent[0], "elsewhere") {
						t.Errorf("written elsewhere: %q, %v", p.sent, refusal)
					}
				})
			}
		}
	}
}

// Two providers of the Messages API under a chat and a Responses call: the caller has their thinking
// in the forms of these APIs.
func TestTranslatedThinkingLeadsToTheTargetThatWroteIt(t *testing.T) {
	answer := sealedWith(sealedCases[1].answer, "signed")
	for _, c := range []struct {
		op           *wire.Operation
		first, again string // again has what is in the answer between the marks
		from, to     string
	}{
		{wire.Responses, `{"model":"fast","input":"hi","include":["reasoning.encrypted_content"]}`,
			`{"model":"fast","input":[{"role":"user","content":"hi"},{"type":"reasoning","summary":[],"encrypted_content":"SEAL"},{"role":"assistant","content":"hi"},{"role":"user","content":"more"}]}`,
			`"encrypted_content":"`, `"`},
		{wire.Chat, `{"model":"fast","messages":[{"role":"user","content":"hi"}]}`,
			`{"model":"fast","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hi","reasoning_details":SEAL},{"role":"user","content":"more"}]}`,
			`"reasoning_details":`, `,"`},
	} {
		p := newPair(t, false, anthropicOnly)
		p.answers["b"] = answer
		_, text, refusal := p.ask(t, c.op, c.first)
		_, seal, _ := strings.Cut(text, c.from)
		if c.op == wire.Chat {
			seal = seal[:strings.Index(seal, "]")+1]
		} else {
			seal, _, _ = strings.Cut(seal, c.to)
		}
		if refusal != nil || seal == "" {
			t.Fatal(text, refusal)
		}
		p.answers["a"] = answer
		if accounts, _, refusal := p.ask(t, c.op, sealedWith(c.again, seal)); accounts != "b" || refusal != nil || !jsontest.Has(t, p.sent[0], `{"signature":"signed"}`) {
			t.Errorf("asked %q: %q, %v", accounts, p.sent, refusal)
		}
		delete(p.answers, "b")
		if accounts, _, refusal := p.ask(t, c.op, sealedWith(c.again, seal)); accounts != "b a" || refusal != nil || strings.Contains(p.sent[1], "signed") {
			t.Errorf("b is down: asked %q: %q, %v", accounts, p.sent, refusal)
		}
	}
}

// What cannot be left out keeps the call from targets that cannot read it.
func TestATargetIsSkippedThatCannotReadWhatIsNeeded(t *testing.T) {
	for _, c := range []struct {
		name, again string
		of          sealedCase
		needed      bool
	}{
		{"manual thinking before results of tools", `{"model":"fast","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"hi"},` +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"SEAL"},{"type":"tool_use","id":"t","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}]}`, sealedCases[1], true},
		{"adaptive thinking before results of tools", `{"model":"fast","max_tokens":9000,"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"hi"},` +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"SEAL"},{"type":"tool_use","id":"t","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}]}`, sealedCases[1], false},
		{"manual thinking of an earlier turn", `{"model":"fast","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"hi"},` +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"SEAL"},{"type":"text","text":"hi"}]},` +
			`{"role":"user","content":"more"}]}`, sealedCases[1], false},
		{"a compacted conversation", `{"model":"fast","input":[{"type":"compaction","encrypted_content":"SEAL"},{"role":"user","content":"more"}]}`, sealedCases[0], true},
	} {
		p := newPair(t, false, c.of.change)
		p.answers["b"] = sealedWith(c.of.answer, "of b")
		first := `{"model":"fast","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
		if c.of.op == wire.Responses {
			first = `{"model":"fast","input":"hi"}`
		}
		if _, _, refusal := p.ask(t, c.of.op, first); refusal != nil {
			t.Fatal(refusal)
		}
		p.answers["a"] = sealedWith(c.of.answer, "of a")
		delete(p.answers, "b")
		accounts, _, refusal := p.ask(t, c.of.op, sealedWith(c.again, "of b"))
		if asksA := strings.Contains(accounts, "a"); asksA == c.needed || (refusal == nil) == c.needed {
			t.Errorf("%s: asked %q, %v", c.name, accounts, refusal)
		}
		if accounts, _, refusal := p.ask(t, c.of.op, sealedWith(c.again, "elsewhere")); !strings.Contains(accounts, "a") || refusal != nil {
			t.Errorf("%s, written elsewhere: asked %q, %v", c.name, accounts, refusal)
		} else if sent := p.sent[len(p.sent)-1]; strings.Contains(sent, "elsewhere") != c.needed {
			t.Errorf("%s, written elsewhere: %s", c.name, sent)
		}
	}
}

// A caller switches from a model whose reasoning the gateway encoded to one that cannot read it.
func TestReasoningThatTheGatewayEncodedReachesNoProvider(t *testing.T) {
	encoded := string(translate.WrapReasoning([]byte(`{"type":"reasoning.text","text":"hm","signature":"s"}`)))
	var sent string
	r := newRig(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		sent = string(body)
		if err != nil {
			return nil, err
		}
		return answering(200, `{"id":"resp_1","status":"completed","output":[]}`)(r)
	}))
	body := `{"model":"acme/m","input":[{"type":"reasoning","summary":[],"encrypted_content":` + encoded + `},{"type":"reasoning","summary":[],"encrypted_content":"its own"}]}`
	q := r.request(t, httptest.NewRecorder(), post(strings.NewReader(body), int64(len(body))))
	defer q.Finish()
	if err := Serve(&r.Deps, q, wire.Responses, openaiAPI{}); err != nil || !jsontest.Has(t, sent, `{"input":[{"type":"reasoning","summary":[],"encrypted_content":"its own"}]}`) {
		t.Errorf("%v, sent %s", err, sent)
	}
}

// lostTable cannot be read.
type lostTable struct{}

func (lostTable) Put(r owners.Row) (owners.Row, error) { return r, nil }
func (lostTable) Follow(func(owners.Row))              {}
func (lostTable) Get(context.Context, string, []string) ([]owners.Row, error) {
	return nil, errors.New("the database is away")
}

func TestACallGoesOnWithoutReasoningWhoseTargetCannotBeLookedUp(t *testing.T) {
	c := sealedCases[0]
	p := newPair(t, false, c.change)
	core, lines := observer.New(zapcore.WarnLevel)
	p.Sampled = func() *zap.Logger { return zap.New(core) }
	p.answers["a"] = c.answer
	for want, of := range []*owners.Owners{p.Owners, owners.New(lostTable{}, time.Now)} {
		p.Owners = of
		if _, _, refusal := p.ask(t, c.op, c.request); refusal != nil || !strings.Contains(p.sent[0], c.stranger) || lines.Len() != want {
			t.Errorf("%v, sent %q, logged %v", refusal, p.sent, lines.All())
		}
	}
}

package modelcall

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// serveMessages makes a Messages call of this version of the API.
func (r *rig) serveMessages(t testing.TB, version, body string) (*httptest.ResponseRecorder, *apierror.Error) {
	t.Helper()
	w, req := httptest.NewRecorder(), post(strings.NewReader(body), int64(len(body)))
	req.Header.Set("Anthropic-Version", version)
	req.Header.Set("Anthropic-Beta", "some-beta")
	return w, r.serveTo(t, w, req, wire.Messages)
}

func messagesBody(members string) string {
	return `{"model":"acme/m",` + members + `"max_tokens":100,"messages":[{"role":"user","content":"hello"}]}`
}

func asResponses(c *provider.Config) { c.ResponsesOnly = true }

func TestMessagesAreAnsweredByProvidersOfOtherAPIs(t *testing.T) {
	for name, c := range map[string]struct {
		change       func(*provider.Config)
		answer, want string // of the provider, and what it is asked
	}{
		"chat":      {nil, chatAnswerBody, `{"model":"m","messages":[{"role":"user","content":"hello"}],"max_completion_tokens":100}`},
		"old chat":  {func(c *provider.Config) { c.MaxTokensField = "max_tokens" }, chatAnswerBody, `{"model":"m","messages":[{"role":"user","content":"hello"}],"max_tokens":100}`},
		"responses": {asResponses, responsesAnswerBody, `{"model":"m","input":[{"type":"message","role":"user","content":"hello"}],"max_output_tokens":100,"store":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			var sent string
			var header http.Header
			transport := roundTrip(func(r *http.Request) (*http.Response, error) {
				body, _ := io.ReadAll(r.Body)
				sent, header = string(body), r.Header
				return answering(200, c.answer)(r)
			})
			r := newRig(t, transport, func(r *rig) { r.models.provider = newProvider(t, transport, c.change) })
			w, refusal := r.serveMessages(t, "2023-06-01", messagesBody(""))
			const want = `{"id":"msg_1","type":"message","role":"assistant","model":"acme/m","content":[{"type":"text","text":"Hello."}],` +
				`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":4}}`
			if refusal != nil || w.Code != 200 || w.Body.String() != want {
				t.Errorf("%v: %d %s", refusal, w.Code, w.Body)
			}
			if sent != c.want {
				t.Errorf("sent %s", sent)
			}
			for name := range header {
				if strings.HasPrefix(name, "Anthropic") {
					t.Errorf("the provider gets the header %s", name)
				}
			}
			if row := r.rows(t)[0]; row.Status != 200 || row.PromptTokens != 3 || row.CompletionTokens != 4 || row.FinishReason != "stop" {
				t.Errorf("record %+v", row)
			}
		})
	}
}

func TestAMessageTranslatedTwiceNamesWhatTheSecondLeftOut(t *testing.T) {
	transport := answering(200, responsesAnswerBody)
	r := newRig(t, transport, func(r *rig) {
		r.models.provider = newProvider(t, transport, func(c *provider.Config) { c.ResponsesOnly, c.Dialect = true, provider.OpenRouter })
	})
	w, refusal := r.serveMessages(t, "2023-06-01", messagesBody(`"top_k":5,`))
	if named := w.Header().Get(leftOutHeader); refusal != nil || named != "top_k" {
		t.Errorf("%v, it names %q", refusal, named)
	}
}

func TestMessagesAreStreamedByProvidersOfOtherAPIs(t *testing.T) {
	responses := `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":1,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hel"}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"lo."}

event: response.completed
data: {"type":"response.completed","sequence_number":3,"response":` + responsesAnswerBody + `}

`
	for name, c := range map[string]struct {
		change func(*provider.Config)
		events string
	}{
		"chat": {nil, firstWord + lastWord + usageWord + doneWord}, "responses": {asResponses, responses},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, eventsOf(c.events), func(r *rig) { r.models.provider = newProvider(t, eventsOf(c.events), c.change) })
			w, refusal := r.serveMessages(t, "2026-10-21", messagesBody(`"stream":true,`))
			body := w.Body.String()
			var names []string
			for line := range strings.Lines(body) {
				if name, ok := strings.CutPrefix(line, "event: "); ok {
					names = append(names, strings.TrimSpace(name))
				}
			}
			const want = "message_start content_block_start content_block_delta content_block_delta content_block_stop message_delta message_stop"
			if refusal != nil || strings.Join(names, " ") != want {
				t.Errorf("%v: %s", refusal, body)
			}
			counts := jsontest.Values(t, body, "input_tokens")
			if first := fmt.Sprint(counts[0]); len(counts) < 2 || first == "0" || first == "3" || fmt.Sprint(counts[len(counts)-1]) != "3" {
				t.Errorf("no estimate of the input at the beginning, or no count at the end: %s", body)
			}
			if row := r.rows(t)[0]; row.Status != 200 || row.PromptTokens != 3 || row.CompletionTokens != 4 || row.FinishReason != "stop" {
				t.Errorf("record %+v", row)
			}
		})
	}
}

func TestWhatATranslatedMessageCannotHaveIsRefusedByName(t *testing.T) {
	for _, c := range []struct {
		change                  func(*provider.Config)
		version, members, param string
	}{
		{nil, "2023-06-01", `"top_k":5,`, "top_k"},
		{nil, "2026-10-21", `"temperature":1,`, "temperature"},
		{nil, "2027-01-01", ``, "anthropic-version"},
		{asResponses, "2023-06-01", `"top_k":5,`, "top_k"},
	} {
		p := &recording{}
		r := newRig(t, p, func(r *rig) { r.models.provider = newProvider(t, p, c.change) })
		_, refusal := r.serveMessages(t, c.version, messagesBody(c.members))
		wantRefusal(t, refusal, apierror.UnsupportedParameter, "")
		if refusal.Param != c.param || len(p.paths) > 0 {
			t.Errorf("%s: param %q, sent %v", c.members, refusal.Param, p.bodies)
		}
	}
}

// Models that do not reason refuse an effort, and Claude Code always names the default.
func TestWhatTheCatalogKnowsDecidesAboutTheEffort(t *testing.T) {
	stated := &catalog.Capabilities{Efforts: []string{"low", "xhigh"}, Prefill: true}
	for _, c := range []struct {
		model     catalog.Model
		low, high string // what is sent, "" for nothing
	}{
		{catalog.Model{}, "low", ""},
		{catalog.Model{SupportedParameters: []string{"tools"}}, "", ""},
		{catalog.Model{SupportedParameters: []string{"tools", "reasoning"}}, "low", "high"},
		{catalog.Model{Capabilities: stated}, "low", "low"},
	} {
		for asked, want := range map[string]string{"low": c.low, "high": c.high} {
			p := &recording{}
			r := newRig(t, p, func(r *rig) { r.models.model = c.model })
			_, _ = r.serveMessages(t, "2023-06-01", messagesBody(`"output_config":{"effort":"`+asked+`"},`))
			if sent := jsontest.String(t, p.bodies[0], "reasoning_effort"); sent != want {
				t.Errorf("%+v, %s: sent %s", c.model, asked, p.bodies[0])
			}
		}
	}
	for _, model := range []catalog.Model{{}, {Capabilities: stated}} {
		p := &recording{}
		r := newRig(t, p, func(r *rig) { r.models.model = model })
		_, refusal := r.serveMessages(t, "2023-06-01", strings.Replace(messagesBody(""), `"}]`, `"},{"role":"assistant","content":"a"}]`, 1))
		if sent := len(p.bodies) > 0; sent != (model.Capabilities != nil) {
			t.Errorf("an assistant message at the end: sent %v, %v", p.bodies, refusal)
		}
	}
}

// A silent provider is bridged by what the clients of this API see: comments before message_start,
// and ping events after it.
func TestAStreamOfMessagesIsKeptAliveByPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		r := newRig(t, eventStream(reader))
		go func() {
			time.Sleep(50 * time.Second) // the bubble's clock
			_, _ = io.WriteString(writer, firstWord)
			time.Sleep(40 * time.Second)
			_, _ = io.WriteString(writer, lastWord+doneWord)
			_ = writer.Close()
		}()
		w, refusal := r.serveMessages(t, "2023-06-01", messagesBody(`"stream":true,`))
		const ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n"
		before, after, _ := strings.Cut(w.Body.String(), `"Hel"`)
		if refusal != nil || !strings.Contains(before, ": keep-alive\n") || strings.Contains(before, "ping") ||
			strings.Count(after, ping) != 2 || strings.Contains(after, "keep-alive") {
			t.Errorf("%v: %s", refusal, w.Body)
		}
	})
}

package modelcall

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const say = `{"model":"acme/m","max_tokens":100,"messages":[{"role":"user","content":"hello"}]}`

const said = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn",` +
	`"usage":{"input_tokens":10,"cache_read_input_tokens":20,"output_tokens":5}}`

// claude makes the rig's provider one that has the Messages API. It keeps what it was sent.
type claude struct {
	answer       string
	status       int
	media        string
	path, sent   string
	header       http.Header
	calls        int
	nativeOpenAI bool // of dialect openai, with only chat
}

func (c *claude) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.path, c.sent, c.header = r.URL.RequestURI(), string(body), r.Header
	c.calls++
	if c.status == 0 {
		c.status = 200
	}
	resp, err := answering(c.status, c.answer)(r)
	resp.Header.Set("Content-Type", c.media)
	return resp, err
}

func (c *claude) rig(t testing.TB, change ...func(*rig)) *rig {
	t.Helper()
	r := newRig(t, c, change...)
	r.models.provider = newProvider(t, c, func(p *provider.Config) {
		if !c.nativeOpenAI {
			p.Dialect = provider.Anthropic
		}
	})
	return r
}

// ask opens a request as Anthropic's SDKs send it.
func (r *rig) ask(t testing.TB, body string, header ...string) (*request.Request, *httptest.ResponseRecorder) {
	t.Helper()
	req, w := post(strings.NewReader(body), int64(len(body))), httptest.NewRecorder()
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i < len(header); i += 2 {
		if req.Header.Del(header[i]); header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	return r.request(t, w, req), w
}

func TestTheVersionOfAMessagesCall(t *testing.T) {
	for _, c := range []struct {
		version string
		openai  bool
		code    apierror.Code
		text    string
	}{
		{"2023-06-01", false, "", ""},
		{"2026-10-21", false, "", ""},
		{"2031-01-01", false, "", ""}, // the provider knows what it means
		{"", false, apierror.MissingParameter, "anthropic-version: header is required"},
		{"", true, apierror.MissingParameter, "anthropic-version: header is required"},
		{"2031-01-01", true, apierror.UnsupportedParameter, `anthropic-version "2031-01-01" is not known here`},
	} {
		acme := &claude{answer: said, nativeOpenAI: c.openai}
		r := acme.rig(t)
		q, _ := r.ask(t, say, "Anthropic-Version", c.version)
		err := Serve(&r.Deps, q, wire.Messages, openaiAPI{})
		if c.code != "" {
			if wantRefusal(t, err, c.code, c.text); acme.calls != 0 || apierror.From(err).Param != "anthropic-version" {
				t.Errorf("%q: %d calls, %v", c.version, acme.calls, err)
			}
		} else if err != nil || acme.header.Get("Anthropic-Version") != c.version {
			t.Errorf("%q: %v, sent %v", c.version, err, acme.header)
		}
		q.Finish()
	}
}

func TestTheOutputOfAMessageIsCapped(t *testing.T) {
	capped := func(clamp bool) func(*rig) {
		return limited(&policy.KeyLimits{Caps: policy.Caps{Output: 50, Clamp: clamp}})
	}
	thinking := strings.Replace(say, `"messages"`, `"thinking":{"type":"enabled","budget_tokens":60},"messages"`, 1)
	for _, c := range []struct {
		name, body string
		change     func(*rig)
		sent       string
		param      string // of the refusal
	}{
		{"refused", say, capped(false), "", "max_tokens"},
		{"clamped", say, capped(true), `"max_tokens":50`, ""},
		{"thoughts that do not fit", thinking, capped(true), "", "thinking.budget_tokens"},
		{"nothing asked for", strings.Replace(say, "100", "0", 1), capped(true), `"max_tokens":0`, ""},
		{"nothing asked for, under a budget", strings.Replace(say, "100", "0", 1), limited(budget(t, "1usd/day")), `"max_tokens":0`, ""},
	} {
		acme := &claude{answer: said}
		r := acme.rig(t, c.change)
		q, _ := r.ask(t, c.body)
		err := Serve(&r.Deps, q, wire.Messages, openaiAPI{})
		if c.param != "" {
			if e := apierror.From(err); err == nil || e.Code != apierror.InvalidValue || e.Param != c.param {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if err != nil || !strings.Contains(acme.sent, c.sent) {
			t.Errorf("%s: %v, sent %s", c.name, err, acme.sent)
		}
		q.Finish()
	}
}

// The gateway asks the fallbacks itself, so they cost no more than their models do.
func TestAHardBudgetTakesFallbacks(t *testing.T) {
	acme := &claude{answer: said}
	r := acme.rig(t, limited(budget(t, "1usd/day")))
	q, w := r.ask(t, strings.Replace(say, `"messages"`, `"fallbacks":[{"model":"acme/m"}],"messages"`, 1))
	defer q.Finish()
	if err := Serve(&r.Deps, q, wire.Messages, openaiAPI{}); err != nil || w.Code != 200 || strings.Contains(acme.sent, "fallbacks") {
		t.Errorf("status %d, %v, sent %s", w.Code, err, acme.sent)
	}
}

func TestAMessageIsChargedByItsUsage(t *testing.T) {
	acme := &claude{answer: said}
	r := acme.rig(t, limited(budget(t, "1usd/day")))
	q, _ := r.ask(t, say)
	if err := Serve(&r.Deps, q, wire.Messages, openaiAPI{}); err != nil {
		t.Fatal(err)
	}
	q.Finish()
	if row := r.rows(t)[0]; row.PromptTokens != 30 || row.CachedTokens != 20 || row.CompletionTokens != 5 || r.balance(t).Spent != 35_000 {
		t.Errorf("%+v, %+v", row, r.balance(t))
	}
}

// The prompt is known from the first event, and what was cached of it: an answer that is cut does not
// make it dearer.
func TestACutMessageIsChargedByItsFirstUsage(t *testing.T) {
	acme := &claude{media: "text/event-stream", answer: `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}

`}
	r := acme.rig(t, limited(budget(t, "1usd/day")))
	q, w := r.ask(t, strings.Replace(say, "{", `{"stream":true,`, 1))
	if err := Serve(&r.Deps, q, wire.Messages, openaiAPI{}); err != nil {
		t.Fatal(err)
	}
	q.Finish()
	if text := w.Body.String(); !strings.Contains(text, "event: error\n") || !jsontest.Has(t, text, `{"request_id":"req_1"}`) || strings.Contains(text, "message_stop") {
		t.Error(text)
	}
	if row := r.rows(t)[0]; row.PromptTokens != 5 || row.CachedTokens != 2 || row.CompletionTokens != 1 || row.Code != "upstream_error" {
		t.Errorf("%+v", row)
	}
}

func TestAMessageMayNotUseTheProvidersAccount(t *testing.T) {
	with := func(fields string) string { return strings.Replace(say, "{", "{"+fields+",", 1) }
	for body, code := range map[string]apierror.Code{
		with(`"tools":[{"type":"web_search_20250305","name":"web_search"}]`):                                   apierror.InsufficientScope,
		with(`"mcp_servers":[{"type":"url","url":"https://x","name":"x"}]`):                                    apierror.InsufficientScope,
		with(`"container":"container_1"`):                                                                      apierror.InsufficientScope,
		strings.Replace(say, `"hello"`, `[{"type":"image","source":{"type":"file","file_id":"file_1"}}]`, 1):   apierror.InvalidValue,
		with(`"tools":[{"type":"bash_20250124","name":"bash"},{"name":"f","input_schema":{"type":"object"}}]`): "",
	} {
		acme := &claude{answer: said}
		r := acme.rig(t)
		q, _ := r.ask(t, body)
		if err := Serve(&r.Deps, q, wire.Messages, openaiAPI{}); code != "" {
			if wantRefusal(t, err, code, ""); acme.calls != 0 {
				t.Errorf("%s was sent", body)
			}
		} else if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		q.Finish()
	}
}

// The container of one tenant is no other tenant's.
func TestAContainerBelongsToItsTenant(t *testing.T) {
	acme := &claude{answer: strings.Replace(said, "{", `{"container":{"id":"container_1","expires_at":"x"},`, 1)}
	r := acme.rig(t)
	r.key.HostedTools = true
	again := strings.Replace(say, "{", `{"container":"container_1",`, 1)
	for _, c := range []struct{ tenant, body, code string }{
		{keys.DefaultTenant, say, ""}, {keys.DefaultTenant, again, ""}, {"other", again, string(apierror.InvalidValue)},
	} {
		r.key.Tenant = c.tenant
		q, _ := r.ask(t, c.body)
		err := Serve(&r.Deps, q, wire.Messages, openaiAPI{})
		if (err != nil) != (c.code != "") || err != nil && string(apierror.From(err).Code) != c.code {
			t.Errorf("%s: %v", c.tenant, err)
		}
		q.Finish()
	}
}

// Claude Code matches the words of Anthropic's refusals.
func TestTheProvidersWordsReachACallerOfMessages(t *testing.T) {
	for _, stream := range []bool{false, true} {
		acme := &claude{status: 400, media: "application/json", answer: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 5 > 4 ` + secret + `"}}`}
		body := say
		if stream {
			body = strings.Replace(say, "{", `{"stream":true,`, 1)
		}
		r := acme.rig(t)
		q, _ := r.ask(t, body)
		e := apierror.From(Serve(&r.Deps, q, wire.Messages, openaiAPI{}))
		if e.Code != apierror.ContextLengthExceeded || e.Own == nil || !strings.HasPrefix(e.Own.Message, "prompt is too long: 5 > 4 ") || strings.Contains(e.Own.Message, secret) {
			t.Errorf("%+v", e)
		}
		q.Finish()
	}
}

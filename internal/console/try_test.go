package console

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// tryForm is the form of the page, with a file unless it is nil.
func tryForm(t *testing.T, fields map[string]string, file []byte) (body io.Reader, contentType string) {
	t.Helper()
	var text bytes.Buffer
	form := multipart.NewWriter(&text)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if file != nil {
		part, err := form.CreateFormFile("file", "a.png")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write(file)
	}
	_ = form.Close()
	return &text, form.FormDataContentType()
}

const heard = `data: {"choices":[{"delta":{"content":"a <b>"}}]}

data: {"choices":[{"delta":{"content":" c"}}]}

data: {"choices":[],"usage":{"prompt_tokens":1200,"completion_tokens":3,"cost":0.0125}}

data: [DONE]

`

// tryAPI answers calls of models with these events, and keeps their bodies.
func tryAPI(events string) (*fakeAPI, *[]string) {
	a := newFakeAPI()
	a.key.Scopes |= keys.ChatWrite
	a.always("/api/v1/models", `{"data":[{"id":"acme/large"},{"id":"own/small"}]}`)
	a.always("/v1/models", `{"data":[{"id":"acme/large"}]}`)
	var bodies []string
	a.handlers = map[string]http.HandlerFunc{tryRoute: func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		w.Header().Set("X-Generation-Id", "gen-7")
		for event := range strings.SplitAfterSeq(events, "\n\n") {
			if event == "CUT" {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	}}
	return a, &bodies
}

// post sends the form; as the script of the page does if events is true.
func (a *fakeAPI) try(t *testing.T, events bool, fields map[string]string, file []byte) *httptest.ResponseRecorder {
	t.Helper()
	body, kind := tryForm(t, fields, file)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://gw.example.com/console/try", body)
	r.Header.Set("Content-Type", kind)
	if events {
		r.Header.Set("Accept", "text/event-stream")
	}
	return a.answer(t, r)
}

func TestAnAnswerIsShownAsItComes(t *testing.T) {
	a, bodies := tryAPI(heard)
	got := a.try(t, true, map[string]string{"model": "acme/large", "text": "Say <hi>", "system": "Be brief."}, nil).Body.String()
	_, got, _ = strings.Cut(got, "\n\n") // the code
	const want = "event: text\ndata: \"a \\u003cb\\u003e\"\n\nevent: text\ndata: \" c\"\n\n" +
		"event: end\ndata: {\"row\":\"/console/activity/gen-7\",\"tokens\":\"1,200 tokens in, 3 out\",\"cost\":\"$0.0125\",\"took\":\"0.0 ms\"}\n\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	const sent = `{"messages":[{"content":"Be brief.","role":"system"},{"content":"Say \u003chi\u003e","role":"user"}],"model":"acme/large","stream":true,"usage":{"include":true}}`
	if len(*bodies) != 1 || (*bodies)[0] != sent {
		t.Errorf("sent %q", *bodies)
	}
}

func TestAnAnswerThatFailsOrBreaksOffSaysSo(t *testing.T) {
	for name, test := range map[string]struct{ events, want string }{
		"an error within the answer": {`data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n" + `data: {"choices":[],"error":{"message":"provider gone"}}` + "\n\n", "event: failed\ndata: \"provider gone\"\n\n"},
		"a cut":                      {`data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\nCUT", "event: failed\ndata: \"the answer broke off\"\n\n"},
	} {
		a, _ := tryAPI(test.events)
		got := a.try(t, true, map[string]string{"model": "m", "text": "x"}, nil).Body.String()
		if !strings.HasSuffix(got, test.want) || !strings.Contains(got, "event: text\ndata: \"a\"") {
			t.Errorf("%s: %q", name, got)
		}
	}
	a, _ := tryAPI("")
	a.handlers[tryRoute] = func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusPaymentRequired)
		_, _ = io.WriteString(w, `{"error":{"code":402,"message":"the budget is used up","metadata":{"error_type":"payment_required"}}}`)
	}
	for _, events := range []bool{true, false} {
		if got := a.try(t, events, map[string]string{"model": "m", "text": "x"}, nil).Body.String(); !strings.Contains(got, "the budget is used up") {
			t.Errorf("%q", got)
		}
	}
	for _, fields := range []map[string]string{{"model": "m"}, {"text": "x"}} {
		if got := a.try(t, true, fields, nil).Body.String(); got != "event: failed\ndata: \"choose a model, and write something\"\n\n" {
			t.Errorf("%v: %q", fields, got)
		}
	}
	if got := a.try(t, true, map[string]string{"model": "m", "text": "x"}, make([]byte, maxTry)).Body.String(); !strings.Contains(got, "with the file") {
		t.Errorf("%q", got)
	}
}

const oneTool = `[{"type": "function", "function": {"name": "now", "strict": true}}]`

func TestOptionsOfAQuestionAreSent(t *testing.T) {
	a, bodies := tryAPI(heard)
	_ = a.try(t, true, map[string]string{"model": "m", "text": "x", "temperature": " 0.2 ", "max_tokens": "50", "tools": oneTool}, nil)
	const want = `{"max_tokens":50,"messages":[{"content":"x","role":"user"}],"model":"m","stream":true,"temperature":0.2,` +
		`"tools":[{"type":"function","function":{"name":"now","strict":true}}],"usage":{"include":true}}`
	if len(*bodies) != 1 || (*bodies)[0] != want {
		t.Errorf("sent %q, want %q", *bodies, want)
	}
	for field, values := range map[string][]string{
		"temperature": {"hot", "NaN", "0x1p-2"}, "max_tokens": {"0", "-1", "few", "1.5"}, "tools": {"{}", "[", "now"},
		"earlier": {"[", `[{"role":"system","content":"x"}]`, "[" + strings.Repeat(`{"role":"user"},`, maxTurns) + `{"role":"user"}]`},
	} {
		for _, value := range values {
			got := a.try(t, true, map[string]string{"model": "m", "text": "x", field: value}, nil).Body.String()
			if !strings.HasPrefix(got, "event: failed\n") {
				t.Errorf("%s %.40q: %q", field, value, got)
			}
		}
	}
	if len(*bodies) != 1 {
		t.Errorf("what is refused was sent: %q", (*bodies)[1:])
	}
}

func TestAQuestionGoesOnFromAnAnswer(t *testing.T) {
	a, bodies := tryAPI(heard)
	page := a.try(t, false, map[string]string{"model": "m", "text": "first"}, nil).Body.String()
	const earlier = `[{"role":"user","content":"first"},{"role":"assistant","content":"a <b> c"}]`
	contains(t, page, `name="earlier" value="`+html.EscapeString(earlier)+`"`, `<label data-go-on>`)
	fields := map[string]string{"model": "m", "text": "second", "earlier": earlier}
	_ = a.try(t, false, fields, nil)
	fields["go_on"] = "on"
	page = a.try(t, false, fields, nil).Body.String()
	contains(t, page, "You, before</h2><pre class=\"said\">first</pre>", "The model, before</h2>", `{&#34;role&#34;:&#34;user&#34;,&#34;content&#34;:&#34;second&#34;}`)
	const alone, both = `"messages":[{"content":"second","role":"user"}]`,
		`"messages":[{"content":"first","role":"user"},{"content":"a \u003cb\u003e c","role":"assistant"},{"content":"second","role":"user"}]`
	if !strings.Contains((*bodies)[1], alone) || !strings.Contains((*bodies)[2], both) {
		t.Errorf("sent %q", *bodies)
	}
}

func TestACallOfAToolIsShown(t *testing.T) {
	a, _ := tryAPI(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"now","arguments":""}}]}}]}` + "\n\n" +
		`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"zone\":"}}]}}]}` + "\n\n" +
		`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"UTC\"}"}}]}}]}` + "\n\ndata: [DONE]\n\n")
	page := a.try(t, false, map[string]string{"model": "m", "text": "x", "tools": oneTool}, nil).Body.String()
	contains(t, page, "Calls the tool now {&#34;zone&#34;:&#34;UTC&#34;}</pre>")
}

func TestTheFirstHealthyModelIsChosen(t *testing.T) {
	a, _ := tryAPI(heard)
	a.always("/v1/models", `{"data":[{"id":"acme/embed"},{"id":"acme/large"},{"id":"acme/small"}]}`)
	a.key.Scopes |= keys.ProvidersRead
	for states, want := range map[string]string{
		`{"model":"acme/large","state":"cooling"}`:                                                         "acme/small",
		`{"model":"acme/large","state":"cooling"},{"model":"acme/large","endpoint":"b","state":"healthy"}`: "acme/large",
		`{"model":"acme/large","state":"cooling"},{"model":"acme/small","state":"failing"}`:                "acme/large",
	} {
		a.always("/v1/providers", `{"data":[{"id":"acme","targets":[`+states+`]}]}`)
		contains(t, a.visit(t, "/console/try").Body.String(), `<input name="model" value="`+want+`"`)
	}
}

func TestTwoModelsAreComparedWithoutAScriptToo(t *testing.T) {
	a, bodies := tryAPI(heard)
	png := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 8)...)
	page := a.try(t, false, map[string]string{"model": "acme/large", "second": "own/small", "text": "x"}, png).Body.String()
	contains(t, page, "<h2>acme/large</h2>", "<h2>own/small</h2>", "a &lt;b&gt; c</pre>", `1,200 tokens in, 3 out, $0.0125: <a href="/console/activity/gen-7">the call</a>`)
	if len(*bodies) != 2 || !strings.HasPrefix(jsontest.String(t, (*bodies)[1], "url"), "data:image/png;base64,iVBORw0KGgo") || !jsontest.Has(t, (*bodies)[1], `{"model":"own/small"}`) {
		t.Errorf("sent %q", *bodies)
	}
	_ = a.try(t, false, map[string]string{"model": "m", "text": "x"}, []byte("%PDF-1.7"))
	if !jsontest.Has(t, (*bodies)[2], `{"file":{"file_data":"data:application/pdf;base64,JVBERi0xLjc=","filename":"a.png"}}`) {
		t.Errorf("sent %q", (*bodies)[2])
	}
}

func TestTheSameRequestIsShownForEachAPI(t *testing.T) {
	q := question{Models: []string{"acme/large"}, Text: "it's \"x\"\n", System: "s", Temperature: "0.2", MostTokens: "50", Tools: oneTool, GoOn: true}
	if err := q.check(`[{"role":"user","content":"before"}]`); err != nil {
		t.Fatal(err)
	}
	list := snippets("https://gw.example.com", &q)
	if len(list) != 9 {
		t.Fatalf("%d", len(list))
	}
	for i, want := range map[int]string{
		0: `"tools": [{"type":"function","function":{"name":"now","strict":true}}]`, 3: `"max_output_tokens": 50, "tools": [{"description":"","name":"now","parameters":{"type":"object","properties":{}},"type":"function"}]`,
		6: `"tools": [{"description":"","input_schema":{"type":"object","properties":{}},"name":"now"}]`, 1: `tools=json.loads("[{\"type\":\"function\"`, 8: `temperature: 0.2, max_tokens: 50, system: "s"`,
	} {
		if !strings.Contains(list[i].Text, want) {
			t.Errorf("%s: no %s in %s", list[i].Name, want, list[i].Text)
		}
	}
	for _, s := range list {
		if !strings.Contains(s.Text, "before") || !strings.Contains(s.Text, "0.2") {
			t.Errorf("%s lacks what was before, or the temperature: %s", s.Name, s.Text)
		}
	}
	for _, s := range list {
		if strings.HasPrefix(s.Name, "curl") {
			_, body, _ := strings.Cut(s.Text, "-d ")
			if body = strings.ReplaceAll(strings.Trim(body, "'"), `'\''`, "'"); !json.Valid([]byte(body)) || !strings.Contains(body, `it's`) {
				t.Errorf("%s: %s", s.Name, s.Text)
			}
		}
		if !strings.Contains(s.Text, `acme/large`) || !strings.Contains(s.Text, "https://gw.example.com") || !strings.Contains(s.Text, "GATEWAY_API_KEY") {
			t.Errorf("%s: %s", s.Name, s.Text)
		}
	}
	a, _ := tryAPI(heard)
	contains(t, a.visit(t, "/console/try?model=own/small").Body.String(), `<input name="model" value="own/small"`, `<option value="acme/large">`, `id="code-8"`, "data-try")
	a.key.Scopes = keys.ModelsRead
	if w := a.visit(t, "/console/try"); w.Code != 403 {
		t.Errorf("without chat:write: %d", w.Code)
	}
}

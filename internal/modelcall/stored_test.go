package modelcall

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// ofResponse serves a request about the response resp_up, which the tenant has at acme.
func ofResponse(t *testing.T, op *wire.Operation, transport http.RoundTripper) (*rig, *httptest.ResponseRecorder, *apierror.Error) {
	t.Helper()
	r := newRig(t, transport)
	r.Providers = []*provider.Provider{r.models.provider}
	if err := r.Owners.Record("response", "acme", "resp_up", "default"); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	q := r.request(t, w, httptest.NewRequest(http.MethodGet, "/v1/responses/resp_up", nil))
	defer q.Finish()
	if err := ServeStored(&r.Deps, q, op, openaiAPI{}, wire.Path{Response: "resp_up"}, ""); err != nil {
		q.Outcome.Fail(apierror.From(err))
		return r, w, apierror.From(err)
	}
	return r, w, nil
}

func TestWhatAProviderSaysOfAStoredResponse(t *testing.T) {
	const gone = `{"error":{"message":"Response with id 'resp_up' not found.","type":"invalid_request_error"}}`
	list := `{"object":"list","data":[{"id":"msg_9","type":"message"}],"has_more":false}`
	for _, c := range []struct {
		op     *wire.Operation
		status int
		body   string
		code   apierror.Code
		says   string
	}{
		{wire.ReadResponse, 200, responsesAnswerBody, "", `"model":"acme/m"`},
		{wire.ReadResponse, 200, strings.Replace(responsesAnswerBody, `"completed"`, `"failed"`, 1), "", `"failed"`},
		{wire.InputItems, 200, list, "", list},
		{wire.DeleteResponse, 200, `{"id":"resp_up","deleted":true}`, "", `"deleted":true`},
		{wire.ReadResponse, 404, gone, apierror.NotFound, `no response with id "resp_up" was found`},
		{wire.DeleteResponse, 404, gone, apierror.NotFound, `no response with id "resp_up" was found`},
		{wire.ReadResponse, 404, "", apierror.ModelNotCallable, `"acme" does not have POST /v1/chat/completions`}, // the route of the rig
		{wire.ReadResponse, 404, "<html>", apierror.ModelNotCallable, "does not have"},
		{wire.CancelResponse, 405, `{"detail":"Method Not Allowed"}`, apierror.ModelNotCallable, "does not have"},
		{wire.CancelResponse, 400, `{"error":{"message":"only in the background"}}`, apierror.UpstreamRejected, "only in the background"},
		{wire.ReadResponse, 500, "", apierror.UpstreamError, "failed"},
		{wire.ReadResponse, 200, `<html>`, apierror.UpstreamError, "not JSON"},
		{wire.InputItems, 200, `{"object":"list"}`, apierror.UpstreamError, "no list"},
		{wire.ReadResponse, 200, `{"id":"resp_up"}`, apierror.UpstreamError, "no response"},
	} {
		r, w, refusal := ofResponse(t, c.op, answering(c.status, c.body))
		row := r.rows(t)[0]
		if c.code != "" {
			wantRefusal(t, refusal, c.code, c.says)
		} else if refusal != nil || !strings.Contains(w.Body.String(), c.says) || row.Code != "" || row.Status != 200 {
			t.Errorf("%s %d: %v, %s, row %+v", c.op.Name, c.status, refusal, w.Body, row)
		}
		if row.CostNano != 0 || row.PromptTokens != 0 || row.UpstreamModel != "" || row.Provider != "acme" {
			t.Errorf("%s %d: row %+v", c.op.Name, c.status, row)
		}
		_, kept, err := r.Owners.Owner(t.Context(), "response", "acme", "resp_up")
		if deleted := c.op.Deletes && c.status == 200; kept == deleted || err != nil {
			t.Errorf("%s %d: owned afterwards: %v, %v", c.op.Name, c.status, kept, err)
		}
	}
}

func TestNoProviderIsAskedIfTheOwnerCannotBeLookedUp(t *testing.T) {
	r := newRig(t, answering(200, responsesAnswerBody))
	r.Providers = []*provider.Provider{r.models.provider}
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	q := r.request(t, httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	defer q.Finish()
	err := ServeStored(&r.Deps, q, wire.ReadResponse, openaiAPI{}, wire.Path{Response: "resp_up"}, "")
	wantRefusal(t, err, apierror.LedgerUnavailable, "looked up")
	if q.Outcome.Record.Attempts != 0 {
		t.Error("the provider was asked")
	}
}

// No model is called, so the trace has no span of a call. What guardrails do is shown all the same.
func TestTheTraceOfAStoredResponse(t *testing.T) {
	traces := newTraces()
	answer := answering(200, strings.Replace(responsesAnswerBody, "Hello.", "mellon", 1))
	r := newRig(t, answer, func(r *rig) {
		r.Guardrails.All = []guardrail.Guardrail{words(t, judge.Deny, guardrail.Output)}
	})
	r.Providers = []*provider.Provider{newProvider(t, answer, func(c *provider.Config) { c.TraceContext = true })}
	if err := r.Owners.Record("response", "acme", "resp_up", "default"); err != nil {
		t.Fatal(err)
	}
	req, end := traces.request(httptest.NewRequest(http.MethodGet, "/v1/responses/resp_up", nil))
	q := r.request(t, httptest.NewRecorder(), req)
	err := ServeStored(&r.Deps, q, wire.ReadResponse, openaiAPI{}, wire.Path{Response: "resp_up"}, "")
	wantRefusal(t, err, apierror.GuardrailBlocked, "words")
	q.Outcome.Fail(apierror.From(err))
	q.Finish()
	end()
	if tree := traces.tree(); !strings.HasPrefix(tree, "SERVER server") || strings.Count(tree, "\n") != 1 || !strings.Contains(tree, "event=gatehouse.guardrail") {
		t.Errorf("%s", tree)
	}
}

package gateway_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// A body that something was taken out of is a second one beside the first.
func TestARedactedBodyCountsAsMemory(t *testing.T) {
	words, err := guardrail.Compile(guardrail.Spec{Name: "words", On: guardrail.Input, Rules: []guardrail.Rule{{Action: guardrail.Redact, Detector: guardrail.Words, Words: []string{"mellon"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		limit int64
		code  apierror.Code
	}{
		"room for two": {64 << 20, ""},
		"room for one": {1600 << 10, apierror.GatewayBusy},
	} {
		r := newRig(t, gateway.Config{BodyMemory: c.limit, Guards: gateway.Guards{All: []*guardrail.Guardrail{words}}}).start(t, t.Context())
		body := `{"messages":[{"role":"user","content":"mellon ` + strings.Repeat("x", 600<<10) + `"}]}`
		call := r.begin(t)
		read, err := call.ReadBody(httptest.NewRecorder(), post(strings.NewReader(body), int64(len(body))))
		if err != nil {
			t.Fatal(err)
		}
		if err := call.Admit(t.Context(), provider.Chat, "acme/m"); err != nil {
			t.Fatal(err)
		}
		before := r.state.Memory.Used()
		redacted, err := call.AdmitText(t.Context(), read)
		if c.code != "" {
			wantFault(t, err, c.code, "")
		} else if taken := r.state.Memory.Used() - before; err != nil || taken < int64(len(redacted)) {
			t.Errorf("%s: a body of %d bytes took %d, %v", name, len(redacted), taken, err)
		}
		call.Finish()
		if used := r.state.Memory.Used(); used != 0 {
			t.Errorf("%s: %d bytes were not given back", name, used)
		}
	}
}

// What a moderator is not asked about is too large, whatever becomes of texts
// when the moderator fails; and it is the caller's mistake.
func TestATextTooLongForAWebhookIsTooLarge(t *testing.T) {
	hook, err := guardrail.Compile(guardrail.Spec{Name: "hook", On: guardrail.Input, Webhook: &guardrail.Webhook{
		URL: "https://moderator.example/", FailOpen: true, Transport: answering(200, `{"action":"allow"}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, gateway.Config{Guards: gateway.Guards{All: []*guardrail.Guardrail{hook}}}).start(t, t.Context())
	call := r.begin(t)
	defer call.Finish()
	if err := call.Admit(t.Context(), provider.Chat, "acme/m"); err != nil {
		t.Fatal(err)
	}
	body := `{"messages":[` + strings.Repeat(`"x",`, guardrail.MaxHookTexts) + `"x"]}`
	_, err = call.AdmitText(t.Context(), []byte(body))
	wantFault(t, err, apierror.RequestTooLarge, "10000 texts")
}

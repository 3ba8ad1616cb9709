package modelcall

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

const (
	compactBody   = `{"model":"acme/m","input":[{"role":"user","content":"hello"}],"instructions":"keep names"}`
	triggerBody   = `{"model":"acme/m","input":[{"role":"user","content":"hello"},{"type":"compaction_trigger"}]}`
	compactAnswer = `{"id":"resp_c","object":"response.compaction","created_at":1,"output":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]},` +
		`{"id":"cmp_1","type":"compaction","encrypted_content":"SEAL"}],"usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}}`
)

// A compaction that is cut off is of no use, so all that the model can write is reserved: 30,000 tokens
// here, of 1,000 nano-USD.
func TestACompactionReservesTheLargestOutput(t *testing.T) {
	known := func(r *rig) { r.models.model.MaxOutput = 30_000 }
	for _, c := range []struct {
		name, body string
		op         *wire.Operation
		change     func(*rig)
		limit      string // of the output, that the provider gets
		refused    string
	}{
		{"compact", compactBody, wire.Compact, known, "", ""},
		{"compact, output unknown", compactBody, wire.Compact, func(*rig) {}, "", `"compaction"`},
		{"a trigger", triggerBody, wire.Responses, known, `"max_output_tokens":30000`, ""},
		{"a trigger, output unknown", triggerBody, wire.Responses, func(*rig) {}, "", `"compaction"`},
		{"a trigger, output unknown, permitted", triggerBody, wire.Responses, func(r *rig) { r.Limits.Keys["dev"].Unpriced = true }, "", ""},
	} {
		sent := ""
		r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				t.Error(err)
			}
			sent = string(body)
			return answering(200, compactAnswer)(req)
		}), limited(budget(t, "1usd/day")), c.change)
		w, refusal := r.serve(t, c.op, c.body)
		if c.refused != "" {
			wantRefusal(t, refusal, apierror.CannotBePriced, c.refused)
			continue
		}
		if refusal != nil || !jsontest.Has(t, w.Body.String(), `{"encrypted_content":"SEAL"}`) {
			t.Errorf("%s: %v, %s", c.name, refusal, w.Body)
		}
		if says := strings.Contains(sent, "max_output_tokens"); says != (c.limit != "") || !strings.Contains(sent, c.limit) {
			t.Errorf("%s: sent %s", c.name, sent)
		}
		if row := r.rows(t)[0]; row.CostNano != 7_000 || row.Model != "acme/m" {
			t.Errorf("%s: row %+v", c.name, row)
		}
	}
	for body, op := range map[string]*wire.Operation{compactBody: wire.Compact, triggerBody: wire.Responses} {
		r := newRig(t, answering(200, compactAnswer), limited(budget(t, "0.02usd/day")), known)
		_, refusal := r.serve(t, op, body)
		wantRefusal(t, refusal, apierror.BudgetExceeded, "")
	}
}

func TestACompactionOwnsWhatItIsMadeOf(t *testing.T) {
	r := newRig(t, answering(200, compactAnswer))
	if _, refusal := r.serve(t, wire.Compact, compactBody); refusal != nil {
		t.Fatal(refusal)
	}
	for id, kind := range map[string]string{"resp_c": "response", "cmp_1": "item"} {
		if owner, known, err := r.Owners.Owner(t.Context(), kind, "acme", id); owner != "default" || !known || err != nil {
			t.Errorf("%s: owner %q, %v, %v", id, owner, known, err)
		}
	}
}

// A compaction, and some servers' answers, repeat items of the input. Their ids are the caller's: who gives
// an item the id of a file does not own that file.
func TestAnIDThatAProviderRepeatsIsNotOwned(t *testing.T) {
	const (
		items = `{"type":"function_call","id":"file-outside","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call","id":"resp_outside","call_id":"d","name":"f","arguments":"{}"},` +
			`{"type":"message","id":"msg_outside","role":"user","content":"hi"}`
		input   = `{"type":"function_call","id":"file-outside","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call","ID":"resp_\u006futside","call_id":"d","name":"f","arguments":"{}"},{"type":"message","id":"msg_outside","role":"user","content":"hi"}`
		answer  = `{"id":"resp_c","object":"response","created_at":1,"status":"completed","model":"m","output":[` + items + `,{"id":"file-made","type":"message","role":"assistant","content":[]},{"id":"msg_made","type":"message","role":"assistant","content":[]}],"usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}}`
		request = `{"model":"acme/m","input":[` + input + `]`
	)
	events := `data: {"type":"response.created","response":{"id":"resp_c","status":"in_progress","output":[]}}` + "\n\n"
	for item := range strings.SplitSeq(items+`,{"type":"message","id":"msg_made","role":"assistant","content":[]},{"type":"message","id":"file-made","role":"assistant","content":[]}`, `,{"type"`) {
		events += `data: {"type":"response.output_item.added","item":{"type"` + strings.TrimPrefix(item, `{"type"`) + "}\n\n"
	}
	events += `data: {"type":"response.completed","response":` + answer + "}\n\n"
	for name, c := range map[string]struct {
		op      *wire.Operation
		body    string
		answers roundTrip
	}{
		"compact": {wire.Compact, request + `}`, answering(200, answer)},
		"whole":   {wire.Responses, request + `}`, answering(200, answer)},
		"stream":  {wire.Responses, request + `,"stream":true}`, eventsOf(events)},
	} {
		r := newRig(t, c.answers)
		if _, refusal := r.serve(t, c.op, c.body); refusal != nil {
			t.Fatal(name, refusal)
		}
		for _, kind := range []openai.Kind{openai.KindResponse, openai.KindItem, openai.KindFile} {
			found, err := r.Owners.Find(t.Context(), string(kind), "acme", []string{"file-outside", "resp_outside", "msg_outside", "file-made", "msg_made", "resp_c"})
			want := map[openai.Kind]string{openai.KindResponse: "map[resp_c:default]", openai.KindItem: "map[msg_made:default]", openai.KindFile: "map[]"}[kind]
			if err != nil || fmt.Sprint(found) != want {
				t.Errorf("%s, %s: %v, %v; want %s", name, kind, found, err, want)
			}
		}
	}
}

// No field limits a compaction, so a cap that is smaller than what the model can write cannot be kept.
func TestACapOfTheOutputHoldsForCompactions(t *testing.T) {
	for most, refused := range map[int64]bool{100: true, 30_000: false, 40_000: false} {
		r := newRig(t, answering(200, compactAnswer), limited(&policy.KeyLimits{Caps: policy.Caps{Output: most}}), func(r *rig) { r.models.model.MaxOutput = 30_000 })
		_, refusal := r.serve(t, wire.Compact, compactBody)
		if refused {
			wantRefusal(t, refusal, apierror.InvalidValue, "compaction")
		} else if refusal != nil {
			t.Errorf("%d: %v", most, refusal)
		}
	}
}

func TestACompactionThatIsNoneIsRefused(t *testing.T) {
	for body, want := range map[string]struct {
		code  apierror.Code
		param string
	}{
		`{"model":"acme/m"}`:                                      {apierror.MissingParameter, "input"},
		`{"input":"x"}`:                                           {apierror.MissingParameter, "model"},
		`{"model":"acme/m","input":5}`:                            {apierror.InvalidValue, "input"},
		`{"model":"acme/m","input":"x","stream":true}`:            {apierror.UnsupportedParameter, "stream"},
		`{"model":"acme/m","input":"x","max_output_tokens":5}`:    {apierror.UnsupportedParameter, "max_output_tokens"},
		`{"model":"acme/m","previous_response_id":"resp_nobody"}`: {apierror.PreviousNotFound, "previous_response_id"},
	} {
		r := newRig(t, answering(200, compactAnswer))
		_, refusal := r.serve(t, wire.Compact, body)
		wantRefusal(t, refusal, want.code, "")
		if refusal.Param != want.param {
			t.Errorf("%s: param %q", body, refusal.Param)
		}
	}
}

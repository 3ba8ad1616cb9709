package modelcall

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// pairsFile is for tests/sdk/python/pairs_suite.py, which judges the same by the types of vendors.
var pairsFile = flag.String("pairs", "", "write what all pairs send into this file, a line each")

func errorf(format string, values ...any) error { return fmt.Errorf(format, values...) }

// pairCase is the smallest conversation that needs a rule.
type pairCase struct {
	name      string
	dialogue  dialogue
	all       string // further members of the request
	chat      string // likewise, of a chat completion
	responses string
	messages  string
	header    string // Anthropic-Beta
	callers   string // only these; "" for all
	targets   string // likewise; "" for all but "reasoning"
	native    bool   // the caller's own API at the target, too
	refused   string // the gateway refuses it, and names this
	refusable bool   // the caller's own API or the target has no such thing: a clear refusal will do
	thinks    bool   // the model thinks before it answers
	option    string // a field that the target gets, or that is named as left out
}

func (c *pairCase) concerns(from *caller, to *vendor) bool {
	return (c.callers == "" || slices.Contains(strings.Fields(c.callers), from.name)) &&
		(c.targets == "" && to.name != "reasoning" || slices.Contains(strings.Fields(c.targets), to.name)) &&
		(c.native || to.native != from.name)
}

// pairRun is one case for one pair.
type pairRun struct {
	t     *testing.T
	c     *pairCase
	from  *caller
	to    *pairTarget
	known bool          // it is one of knownFaults
	types bool          // it is one of knownToTypes
	out   *json.Encoder // nil for none
}

// pairTarget is a vendor with a gateway in front.
type pairTarget struct {
	*vendor
	rig    *rig
	behind *modelBehind
	way    *transport
}

func newPairTarget(t *testing.T, v *vendor) *pairTarget {
	behind := new(modelBehind)
	way := &transport{face: v.face(behind)}
	return &pairTarget{v, newRig(t, way, func(r *rig) {
		r.models.provider = newProvider(t, way, func(c *provider.Config) {
			c.Endpoints, c.Dialect = provider.One(v.url, "key"), v.dialect
			c.Translate, c.ResponsesOnly = v.translate, v.translate == nil && v.dialect == provider.OpenAI
		})
	}), behind, way}
}

// TestEveryPairSendsWhatItsTargetTakes asks each target by each API for what a rule of the target is
// about. What is sent must be taken, have each text of the conversation, and be answered with the names
// of the caller's tools.
func TestEveryPairSendsWhatItsTargetTakes(t *testing.T) {
	var out *json.Encoder
	if *pairsFile != "" {
		file, err := os.Create(*pairsFile)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		out = json.NewEncoder(file)
	}
	concerned := map[*knownFault]bool{}
	for i := range vendors {
		to := newPairTarget(t, &vendors[i])
		for k := range pairCases {
			for n := range callers {
				run := &pairRun{c: &pairCases[k], from: &callers[n], to: to, out: out}
				if !run.c.concerns(run.from, to.vendor) {
					continue
				}
				run.known = concern(concerned, knownFaults, run)
				run.types = concern(concerned, knownToTypes, run)
				t.Run(run.c.name+": "+run.from.name+">"+to.name, run.test)
			}
		}
	}
	for _, faults := range [][]knownFault{knownFaults, knownToTypes} {
		for i := range faults {
			if f := &faults[i]; !concerned[f] {
				t.Errorf("%q at %s: there is no such pair", f.name, f.targets)
			}
		}
	}
}

// concern reports whether one of the faults is that of a run, and notes which.
func concern(concerned map[*knownFault]bool, faults []knownFault, r *pairRun) (any bool) {
	for i := range faults {
		if f := &faults[i]; f.concerns(r.c, r.from, r.to.vendor) {
			concerned[f], any = true, true
		}
	}
	return any
}

func (r *pairRun) test(t *testing.T) {
	r.t = t
	switch err := r.all(); {
	case err != nil && r.known:
		t.Logf("known: %v", err)
	case err != nil:
		t.Error(err)
	case r.known:
		t.Error("it is mended: remove it from the known faults")
	}
}

// all runs the case whole and streamed, and in between with what the model called, and a result.
func (r *pairRun) all() error {
	body := r.from.say(&r.c.dialogue)
	body["model"] = "acme/" + r.to.model
	members := strings.Trim(r.c.all+","+r.from.members(r.c), ",")
	answer, err := r.once(encode(body, members), false)
	if err != nil {
		return errorf("whole: %w", err)
	}
	if r.wants() != "" && answer != nil && !r.c.refusable {
		next := r.from.next(decodeObject(encode(body, members)), decodeObject(answer))
		if _, err := r.once(encode(next, ""), false); err != nil {
			return errorf("the turn after: %w", err)
		}
		if thought := r.to.thought; r.c.thinks && thought != "" && !slices.Contains(r.sentTexts(), thought) {
			return errorf("the turn after: the thought %q is lost: %s", thought, r.to.way.body)
		}
	}
	body["stream"] = true
	if _, err := r.once(encode(body, members), true); err != nil {
		return errorf("streamed: %w", err)
	}
	return nil
}

// once sends a request, and returns the answer; nil: the gateway refused it, as it must or may.
func (r *pairRun) once(body []byte, stream bool) (answer []byte, err error) {
	*r.to.behind, r.to.way.body, r.to.way.refused = modelBehind{says: r.wants() == "", thinks: r.c.thinks}, nil, ""
	w, refusal := r.serve(body)
	sent := r.to.way.body
	refused := refusal != nil && refusal.HTTPStatus() == 400 && sent == nil
	switch {
	case r.c.refused != "" && (!refused || !strings.Contains(refusal.Error(), r.c.refused)):
		return nil, errorf("not refused for %q but %v; sent %s", r.c.refused, refusal, sent)
	case r.c.refused != "" || refused && r.c.refusable:
		return nil, nil
	case sent == nil:
		return nil, errorf("refused: %w", refusal)
	}
	if r.out != nil {
		err = r.out.Encode(object{
			"case": r.c.name, "caller": r.from.name, "target": r.to.name, "stream": stream,
			"sent": json.RawMessage(sent), "answer": w.Body.String(), "known": r.known, "types": r.types,
		})
		if err != nil {
			return nil, err
		}
	}
	if err = r.taken(refusal); err == nil {
		err = r.kept(w.Header())
	}
	if err != nil {
		return nil, errorf("%w\nsent %s", err, sent)
	}
	return w.Body.Bytes(), r.answered(w.Body.Bytes(), stream)
}

// taken checks that the target took what was sent.
func (r *pairRun) taken(refusal *apierror.Error) error {
	err := r.to.judge(r.to.way.sent, r.to.way.body)
	switch {
	case err != nil:
		return err
	case r.to.behind.refusal != nil:
		return r.to.behind.refusal
	case r.to.way.refused != "":
		return errorf("the fake refused: %s", r.to.way.refused)
	case refusal != nil:
		return errorf("the answer failed: %w", refusal)
	}
	return nil
}

func (r *pairRun) serve(body []byte) (*httptest.ResponseRecorder, *apierror.Error) {
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, r.from.path, bytes.NewReader(body))
	if r.from.name == "messages" {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	if r.c.header != "" {
		req.Header.Set("Anthropic-Beta", r.c.header)
	}
	return w, r.to.rig.serveTo(r.t, w, req, r.from.op)
}

// kept checks that nothing of the request was lost in silence.
func (r *pairRun) kept(answer http.Header) error {
	texts := r.sentTexts()
	for _, text := range r.c.dialogue.texts() {
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, text) }) {
			return errorf("the text %q is lost", text)
		}
	}
	left := answer.Get(leftOutHeader)
	plain := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	// Converse has a schema as a text.
	if o := r.c.option; o != "" && !strings.Contains(left, o) && !slices.ContainsFunc(texts, func(k string) bool { return plain(k) == plain(o) || strings.Contains(k, `"`+o+`"`) }) {
		return errorf("the field %q is neither sent nor named as left out (%q)", o, left)
	}
	return nil
}

// sentTexts returns all texts of what was sent, and the names of members.
func (r *pairRun) sentTexts() (texts []string) {
	var sent any
	if err := json.Unmarshal(r.to.way.body, &sent); err != nil {
		r.t.Fatal(err)
	}
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case object:
			for key, inner := range v {
				texts = append(texts, key)
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case string:
			texts = append(texts, v)
		}
	}
	walk(sent)
	return texts
}

// answered checks that the model's call has the name that the caller gave its tool.
func (r *pairRun) answered(answer []byte, stream bool) error {
	var called []string
	events := []string{"data: " + string(answer)}
	if stream {
		events = strings.Split(string(answer), "\n")
	}
	for _, line := range events {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var event object
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return errorf("%q: %w", data, err)
		}
		called = append(called, r.from.calls(event)...)
	}
	if got, want := strings.Join(called, " "), r.wants(); got != want {
		return errorf("the answer calls %q, want %q: %s", got, want, answer)
	}
	return nil
}

// wants is the tool that the answer must call, "" for none.
func (r *pairRun) wants() string {
	if len(r.c.dialogue.tools) == 0 || r.c.dialogue.choice == "none" {
		return ""
	}
	return r.c.dialogue.tools[0].name
}

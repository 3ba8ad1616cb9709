package chatongemini_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
)

// said is an event with a text, which may end its request.
func said(text, end, usage string) string {
	return `data: {"candidates":[{"content":{"parts":[{"text":"` + text + `"}],"role":"model"}` + end + `}],"usageMetadata":` + usage + "}\n\n"
}

const (
	goesOn = `,"finishReason":"CONTINUATION","continuationToken":"tok"`
	stops  = `,"finishReason":"STOP"`
	first  = `{"contents":[],"generationConfig":{"maxOutputTokens":100000}}`
	second = `{"contents":[],"generationConfig":{"maxOutputTokens":100000},"continuationToken":"tok"}`

	usedFirst  = `{"promptTokenCount":10,"candidatesTokenCount":65000,"thoughtsTokenCount":536,"totalTokenCount":65546,"cachedContentTokenCount":1}`
	usedSecond = `{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15,"cachedContentTokenCount":9}`
)

// hop is the body of a further request.
type hop struct {
	io.Reader
	closed *int
}

func (h hop) Close() error {
	*h.closed++
	return nil
}

// hops answers further requests, and notes them.
type hops struct {
	answers []string
	bodies  []string
	closed  int
}

func (h *hops) again(body []byte) (io.ReadCloser, error) {
	h.bodies = append(h.bodies, string(body))
	if len(h.answers) == 0 {
		return nil, apierror.New(apierror.UpstreamRateLimited, "no more")
	}
	answer := h.answers[0]
	if len(h.answers) > 1 {
		h.answers = h.answers[1:]
	}
	return hop{strings.NewReader(answer), &h.closed}, nil
}

// both returns the whole answer and the streamed one, and what was sent to the provider for each.
func both(t *testing.T, asked chatongemini.Asked, wire string, answers ...string) (whole, streamed *translatetest.Chat, sent [2]*hops) {
	t.Helper()
	sent = [2]*hops{{answers: answers}, {answers: answers}}
	out, err := asked.Original().Whole(strings.NewReader(wire), translatetest.NewCall(), sent[0].again)
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := streamAgain(asked.Original(), wire, withUsage(), sent[1].again)
	if err != nil {
		t.Fatal(err)
	}
	if streamed, err = translatetest.CheckChunks(chunks); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(out), chunks} {
		if len(jsontest.Values(t, text, "prompt_tokens")) == 0 {
			t.Errorf("no usage in %s", text)
		}
	}
	return translatetest.ReadCompletion(t, out), streamed, sent
}

func TestAnAnswerThatGoesOnIsOneAnswer(t *testing.T) {
	wire, rest := said("one ", goesOn, usedFirst), said("two", stops, usedSecond)
	whole, streamed, sent := both(t, chatongemini.Asked{Body: []byte(first)}, wire, rest)
	for i, chat := range []*translatetest.Chat{whole, streamed} {
		if chat.Content != "one two" || chat.Finish != "stop" || !slices.Equal(sent[i].bodies, []string{second}) || sent[i].closed != 1 {
			t.Errorf("%+v, sent %q, closed %d", chat, sent[i].bodies, sent[i].closed)
		}
	}
	h := &hops{answers: []string{rest}}
	s, err := streamAgain(chatongemini.Asked{Body: []byte(first)}.Original(), wire, withUsage(), h.again)
	want := `"usage":{"prompt_tokens":20,"completion_tokens":65541,"total_tokens":65561,"prompt_tokens_details":{"cached_tokens":10},"completion_tokens_details":{"reasoning_tokens":536}}`
	if err != nil || !strings.Contains(s, want) {
		t.Errorf("%v: the usage is not the sum in %s", err, s)
	}
}

// Without a limit of the caller's no further request is sent.
func TestAnAnswerThatMayNotGoOnIsCutOff(t *testing.T) {
	whole, streamed, sent := both(t, chatongemini.Asked{}, said("one", goesOn, usedFirst), "")
	for i, chat := range []*translatetest.Chat{whole, streamed} {
		if chat.Content != "one" || chat.Finish != "length" || sent[i].bodies != nil {
			t.Errorf("%+v, sent %q", chat, sent[i].bodies)
		}
	}
}

// A limit that the caller set ends the answer, though the provider could go on.
func TestTheLimitOfTheCallerEndsTheAnswer(t *testing.T) {
	wire := said("one", `,"finishReason":"MAX_TOKENS","continuationToken":"tok"`, usedFirst)
	whole, _, sent := both(t, chatongemini.Asked{Body: []byte(first)}, wire, "")
	if whole.Finish != "length" || sent[0].bodies != nil {
		t.Errorf("%+v, sent %q", whole, sent[0].bodies)
	}
}

func TestRequestsThatBringNothingEndTheAnswer(t *testing.T) {
	nothing := `data: {"candidates":[{"finishReason":"CONTINUATION","continuationToken":"tok"}],"usageMetadata":` + usedSecond + "}\n\n"
	long := strings.Replace(first, "100000", "1000000", 1)
	whole, streamed, sent := both(t, chatongemini.Asked{Body: []byte(long)}, said("one", goesOn, usedFirst), nothing)
	for i, chat := range []*translatetest.Chat{whole, streamed} {
		if chat.Content != "one" || chat.Finish != "length" || len(sent[i].bodies) != 3 || sent[i].closed != 3 {
			t.Errorf("%+v, %d requests, %d closed", chat, len(sent[i].bodies), sent[i].closed)
		}
	}
}

// Each request is billed for the prompt, so their number is bounded by the limit.
func TestAnAnswerDoesNotGoOnForEver(t *testing.T) {
	for limit, requests := range map[string]int{"65537": 3, "100000": 3, "200000": 5, "100000000": 64} {
		body := strings.Replace(first, "100000", limit, 1)
		whole, _, sent := both(t, chatongemini.Asked{Body: []byte(body)}, said("a", goesOn, usedFirst), said("a", goesOn, usedSecond))
		if whole.Content != strings.Repeat("a", requests) || whole.Finish != "length" || len(sent[0].bodies) != requests-1 {
			t.Errorf("limit %s: %d bytes, %s, %d further requests", limit, len(whole.Content), whole.Finish, len(sent[0].bodies))
		}
	}
}

// A further request that fails ends the answer with that failure; what was used before it is known.
func TestAFailureOfAFurtherRequestEndsTheAnswer(t *testing.T) {
	wire := said("one", goesOn, usedFirst)
	original := chatongemini.Asked{Body: []byte(first)}.Original()
	for name, h := range map[string]*hops{"refused": {}, "cut": {answers: []string{said("two", "", usedSecond)}}} {
		_, err := original.Whole(strings.NewReader(wire), translatetest.NewCall(), h.again)
		if e := translatetest.MustFail(t, err); e.Code != map[string]apierror.Code{"refused": apierror.UpstreamRateLimited, "cut": apierror.UpstreamError}[name] {
			t.Errorf("%s: %v", name, e)
		}
		out, err := io.ReadAll(original.Stream(strings.NewReader(wire), translatetest.NewCall(), h.again))
		if refused := name == "refused"; refused != (err != nil) || strings.Contains(string(out), "[DONE]") || !jsontest.Has(t, out, `{"choices":[]}`) || !strings.HasPrefix(fmt.Sprint(jsontest.Values(t, out, "prompt_tokens")...), map[bool]string{true: "10", false: "20"}[refused]) {
			t.Errorf("%s: %v, %s", name, err, out)
		}
		var e *apierror.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

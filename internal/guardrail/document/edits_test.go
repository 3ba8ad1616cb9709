package document_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

func TestEditsReplaceValues(t *testing.T) {
	body := []byte(`{"a":"x","b":[1,"y"],"logprobs":{"c":"z"},"d":{"logprobs":["z"]}}`)
	at := func(value string) document.Span {
		i := bytes.Index(body, []byte(value))
		return document.Span{Start: i, End: i + len(value)}
	}
	var e document.Edits
	for range 2 { // it is used again
		e.Reset(body, false)
		if got := e.Apply(); got != nil {
			t.Errorf("without edits: %s", got)
		}
		e.PutEdits(at(`"x"`), "x", []detect.Edit{{From: 0, To: 1, Mark: "z"}})
		e.PutValue(at(`[1,"y"]`), []byte(`{"new":1}`))
		e.PutEdits(at(`"y"`), "y", nil) // in what was replaced
		e.EmptyLogprobs(at(`{"c":"z"}`))
		e.EmptyLogprobs(at(`["z"]`))
		if got, want := string(e.Apply()), `{"a":"z","b":{"new":1},"logprobs":null,"d":{"logprobs":[]}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		e.Release()
	}
}

// Edits of a text, such as those of a webhook, count its bytes as they are read: of a string decoded,
// of another value as written.
func TestEditsOfATextKeepItsKind(t *testing.T) {
	for _, test := range []struct {
		value, text, cut, want string
	}{
		{`"a \"b\" c\n"`, "a \"b\" c\n", `"b"`, `"a [x] c\n"`},
		{`{"a": "b c", "n": 12}`, "", "c", `{"a": "b [x]", "n": 12}`},
		{`{"a": "b c", "n": 12}`, "", `c", "n": 1`, `{"a": "b [x]", "": null}`},
		{`{"a": "b c", "n": 12}`, "", "12", `{"a": "b c", "n": "[x]"}`},
		{`{"a": "b\u00e9c"}`, "", `00e`, `{"a": "b[x]c"}`},
		{`{"a": "b\u00e9c"}`, "", `b\u00`, `{"a": "[x]c"}`},
		{`{"a": "é\n東京"}`, "", `東`, `{"a": "é\n[x]京"}`},
		{`{"a": true}`, "", `{"a"`, `{"[x]": true}`},
		{`12`, "", "12", `"[x]"`},
	} {
		body := []byte(`{"x":` + test.value + `}`)
		text := cmp.Or(test.text, test.value)
		from := strings.Index(text, test.cut)
		var e document.Edits
		e.Reset(body, true)
		e.PutEdits(document.Span{Start: len(`{"x":`), End: len(body) - 1}, text, []detect.Edit{{From: from, To: from + len(test.cut), Mark: "[x]"}})
		if got, want := string(e.Apply()), `{"x":`+test.want+`}`; got != want {
			t.Errorf("%s without %s: got %s, want %s", test.value, test.cut, got, want)
		}
	}
	// Edits that meet in one escape leave one mark.
	var e document.Edits
	e.Reset([]byte(`{"x":["\u00e9"]}`), true)
	e.PutEdits(document.Span{Start: 5, End: 15}, `["\u00e9"]`, []detect.Edit{{From: 3, To: 5, Mark: "[x]"}, {From: 5, To: 7, Mark: "[y]"}})
	if got, want := string(e.Apply()), `{"x":["[x]"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnnotationsOfChangedTextsAreEmptied(t *testing.T) {
	const list = `[{"title":"%s","start_index":1}]`
	plain, changed, redacted := fmt.Sprintf(list, "x"), fmt.Sprintf(list, "a@b.de"), fmt.Sprintf(list, "[REDACTED:email]")
	for _, test := range []struct{ body, want string }{
		{`{"text":"a@b.de","annotations":` + plain + `}`, `{"text":"[REDACTED:email]","annotations":[]}`},
		{`{"annotations":` + plain + `,"text":"a@b.de"}`, `{"annotations":[],"text":"[REDACTED:email]"}`},
		{`{"annotations":` + changed + `,"text":"a@b.de"}`, `{"annotations":[],"text":"[REDACTED:email]"}`},
		{`{"text":"a@b.de","annotations":` + changed + `}`, `{"text":"[REDACTED:email]","annotations":[]}`},
		{`{"text":"x","annotations":` + changed + `}`, `{"text":"x","annotations":` + redacted + `}`},
		{`{"a":"a@b.de","b":{"text":"x","annotations":` + plain + `},"c":"a@b.de"}`, `{"a":"[REDACTED:email]","b":{"text":"x","annotations":` + plain + `},"c":"[REDACTED:email]"}`},
		{`{"annotations":[],"text":{"b":["a@b.de"]}}`, `{"annotations":[],"text":{"b":["[REDACTED:email]"]}}`},
		{`{"annotations":{"a":"x"},"text":"a@b.de"}`, `{"annotations":{"a":"x"},"text":"[REDACTED:email]"}`},
		{`{"text":"a@b.de","b":{"annotations":` + plain + `}}`, `{"text":"[REDACTED:email]","b":{"annotations":` + plain + `}}`},
		{`{"b":[{"text":"a@b.de","annotations":` + plain + `},{"text":"x","annotations":` + plain + `}]}`, `{"b":[{"text":"[REDACTED:email]","annotations":[]},{"text":"x","annotations":` + plain + `}]}`},
	} {
		if got, err := judge(t, house, test.body, true); err != nil || got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s, %v", test.body, got, test.want, err)
		}
	}
	body := `{"text":"a@b.de","annotations":` + plain + `}`
	if got, err := judge(t, house, body, false); err != nil || got != strings.Replace(body, "a@b.de", "[REDACTED:email]", 1) {
		t.Errorf("of a request: %s, %v", got, err)
	}
	var e document.Edits // what is no text moves nothing
	e.Reset([]byte(body), true)
	e.PutValue(document.Span{Start: 8, End: 16}, []byte(`"y"`))
	if got, want := string(e.Apply()), `{"text":"y","annotations":`+plain+`}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTokenProbabilitiesAreEmptiedOnce(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":[{"logprobs":{"content":[{"token":"a"},{"token":"b"}]},"text":"x"}],"b":{"logprobs":["c","d"]}}`: `{"a":[{"logprobs":null,"text":"x"}],"b":{"logprobs":[]}}`,
		`{"logprobs":[],"a":{"logprobs":null}}`:      "",
		`{"logprobs":{"a":1},"b":["c"]}`:             "",
		`{"logprobs":"a","b":["c"]}`:                 "",
		`{"logprobs":{"logprobs":["c"],"d":"e"}}`:    `{"logprobs":null}`,
		`{"a":["b"],"logprob":["logprobs"],"c":1}`:   "",
		`{"logprobs":["a"],"b":{"logprobs":["c"]}}`:  `{"logprobs":[],"b":{"logprobs":[]}}`,
		`{"logprobs":null,"a":{"logprobs" : ["c"]}}`: `{"logprobs":null,"a":{"logprobs" : []}}`,
		`{"a":"logprobs","b":{"logprobs":["c"]}}`:    `{"a":"logprobs","b":{"logprobs":[]}}`,
		`{"a":"\"logprobs\":null","logprobs":["c"]}`: `{"a":"\"logprobs\":null","logprobs":[]}`,
	} {
		got := document.WithoutLogprobs([]byte(body))
		if want == "" {
			want = body
		}
		if string(got) != want {
			t.Errorf("%s became %s, want %s", body, got, want)
		}
	}
}

// An answer whose probabilities are null is not walked.
func FuzzWithoutLogprobsIsTheWalk(f *testing.F) {
	for _, body := range []string{
		`{"logprobs":null,"a":[{"logprobs" :\n{"b":"c"}}]}`, `{"a":"logprobs","logprobs" : null}`, `{"logprobs":nullify}`,
		`{"logprobs":{"a":null},"logprobs":null}`, `{"a":"\"logprobs\":null"}`, `{"logprobs":"null"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := jsonscan.Lenient(body, nil); err != nil {
			t.Skip()
		}
		var edits document.Edits
		edits.Reset(body, false)
		w := document.Walker{Data: body, Answer: true, Visit: func(document.Span) {}, Logprobs: edits.EmptyLogprobs}
		w.Walk()
		want := edits.Apply()
		if want == nil {
			want = body
		}
		if got := document.WithoutLogprobs(body); string(got) != string(want) {
			t.Errorf("%s became %s, want %s", body, got, want)
		}
	})
}

// Clients join the parts of one message of an answer.
func TestPartsOfAMessageAreOneText(t *testing.T) {
	for body, denied := range map[string]bool{
		`{"output":[{"content":[{"text":"red "},{"text":"mercury"}]}]}`:                          true,
		`{"output":[{"content":[{"refusal":"red "},{"refusal":"mercury"}]}]}`:                    true,
		`{"output":[{"content":[{"text":"red "},{"type":"x","refusal":"or"},{"text":"x"}]}]}`:    false,
		`{"output":[{"content":[{"text":"red "},{"refusal":"mercury"}]}]}`:                       false,
		`{"output":[{"content":[{"text":"red "}]},{"content":[{"text":"mercury"}]}]}`:            false,
		`{"output":[{"summary":[{"text":"red "},{"text":"mercury"}]}]}`:                          false,
		`{"output":[{"content":[{"title":"red "},{"title":"mercury"}]}]}`:                        false,
		`{"output":[{"content":[{"text":"red "},{"text":" "},{"text":""},{"text":"mercury"}]}]}`: true,
		`{"output":{"content":{"text":"red "}},"x":{"content":{"text":"mercury"}}}`:              false,
	} {
		if _, err := judge(t, house, body, true); (err == detect.ErrDenied) != denied || err != nil && !denied {
			t.Errorf("%s: %v, denied is %t", body, err, denied)
		}
		if _, err := judge(t, house, body, false); err != nil {
			t.Errorf("in a request %s: %v", body, err)
		}
	}
}

// The edited values may be 4 MiB longer than twice the body.
func TestTheGrowthOfABodyIsBounded(t *testing.T) {
	long := []detect.Rule{{Detector: must(detect.Words([]string{"a"})), Mark: strings.Repeat("m", 1<<20)}}
	for _, c := range []struct {
		size, values int // MiB
		refused      bool
	}{{0, 3, false}, {0, 5, true}, {2, 7, false}, {2, 9, true}} {
		body := `{"input":[` + strings.Repeat(`"a",`, c.values) + `1],"x":"` + strings.Repeat("x", c.size<<20) + `"}`
		var limit *guardrail.LimitError
		got, err := judge(t, long, body, false)
		if errors.As(err, &limit) != c.refused || !c.refused && len(got) < (c.size+c.values)<<20 {
			t.Errorf("%d MiB in %d: %d bytes, %v", c.values, c.size, len(got), err)
		}
		if c.refused && limit.Error() != "the body has more matches than a guardrail reads" {
			t.Error(limit)
		}
	}
}

func TestATextContinuesTheOneThatItsContextNames(t *testing.T) {
	for before, denied := range map[string]bool{"": false, "red ": true, "blue ": false} {
		var r document.Reader
		r.Reset(detect.NewMatcher(house, 0), []byte(`"mercury"`), true)
		if err := r.Text(document.Span{End: 9}, document.Context{Before: before}); (err == detect.ErrDenied) != denied {
			t.Errorf("after %q: %v", before, err)
		}
	}
}

func TestAWalkNamesEachValueOfTokenProbabilitiesOnce(t *testing.T) {
	body := []byte(`{"logprobs":{"a":["x","y"],"b":"z"},"c":[{"logprobs":["x","y"]}],"d":"e"}`)
	var named, read []string
	w := document.Walker{Data: body, Answer: true}
	w.Visit = func(at document.Span) { read = append(read, string(body[at.Start:at.End])) }
	w.Logprobs = func(at document.Span) { named = append(named, string(body[at.Start:at.End])) }
	if w.Walk(); strings.Join(named, " ") != `{"a":["x","y"],"b":"z"} ["x","y"]` || strings.Join(read, " ") != `"e"` {
		t.Errorf("named %q, read %q", named, read)
	}
}

func TestTheCallerMayDisconnect(t *testing.T) {
	gone := make(chan struct{})
	close(gone)
	var r document.Reader
	body := []byte(`{"input":["a",{"arguments":["red mercury"]}]}`)
	r.Reset(detect.NewMatcher(house, 0), body, false)
	ctx := doneContext{t.Context(), gone}
	if err := r.Read(ctx); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}

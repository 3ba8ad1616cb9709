package embeddingsongemini_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embeddingsongemini"
)

// A golden file has what the caller sent (request.json) to which model (model.txt, optional) and
// what the provider answered (answer.json, optional); and what comes of it: google.json and
// list.json.
func TestGolden(t *testing.T) {
	for _, g := range translatetest.Goldens(t) {
		g.Run(t, checkGolden)
	}
}

func checkGolden(t *testing.T, g *translatetest.Golden) {
	body, original, err := request(g.File("request.json"), g.File("model.txt"))
	if err != nil {
		t.Fatal(err)
	}
	g.Want("google.json", translatetest.Indent(t, body))
	answer := g.File("answer.json")
	if answer == "" {
		return
	}
	list, err := original.Whole(strings.NewReader(answer), translatetest.NewCall(), nil)
	if err != nil {
		g.Want("list.json", "error: "+err.Error()+"\n")
		return
	}
	g.Want("list.json", translatetest.Indent(t, list))
	if out, sum, err := openai.Embeddings.Result(nil, list, translatetest.NewCall()); err != nil || !bytes.Equal(out, list) || !sum.HasUsage {
		t.Errorf("the rest of the call reads it as %s, %+v, %v", out, sum, err)
	}
}

const usualModel = "gemini-embedding-2"

// request translates a request for a model, "" for the usual one. The word vertex may follow.
func request(body, model string) ([]byte, *embeddingsongemini.Original, error) {
	var b jsonscan.Body
	if err := b.Parse([]byte(body)); err != nil {
		return nil, nil, apierror.New(apierror.InvalidJSON, "%v", err)
	}
	if _, err := params.ParseEmbeddings(&b); err != nil {
		return nil, nil, err
	}
	name, vertex := strings.CutSuffix(strings.TrimSpace(model), " vertex")
	out, original, err := embeddingsongemini.Request(&b, cmp.Or(name, usualModel), vertex)
	clear(b.Data()) // as when its buffer is used again
	return out, original, err
}

func TestWhatGoogleCannotEmbedIsRefusedByName(t *testing.T) {
	for members, want := range map[string]struct{ param, says string }{
		`"input":[1,2]`:                                     {"input[0]", "check_embedding_ctx_length=False"},
		`"input":[[1,2]]`:                                   {"input[0]", "check_embedding_ctx_length=False"},
		`"input":[{"content":[]}]`:                          {"input[0]", "a text"},
		`"input":["a",""]`:                                  {"input[1]", "not empty"},
		`"input":""`:                                        {"input", "not empty"},
		`"input":[]`:                                        {"input", "at least one"},
		`"input":"a","dimensions":0`:                        {"dimensions", "positive"},
		`"input":"a","dimensions":"8"`:                      {"dimensions", "positive"},
		`"input":"a","encoding_format":"int8"`:              {"encoding_format", "int8"},
		`"input":"a","input_type":"poem"`:                   {"input_type", "poem"},
		`"input":"a","truncate":"END"`:                      {"truncate", "not supported"},
		`"input":[` + strings.Repeat(`"a",`, 2048) + `"a"]`: {"input", "at most 2048"},
	} {
		_, _, err := request(`{"model":"m",`+members+`}`, "")
		if e := apierror.From(err); err == nil || e.HTTPStatus() != 400 || e.Param != want.param || !strings.Contains(e.Message, want.says) {
			t.Errorf("%.60s: %v", members, err)
		}
	}
}

// provider answers each request with a vector a text, which has the text's number, and counts one
// token for each.
type provider struct {
	t     *testing.T
	sizes []int // texts in each request
	fails int   // the request that fails; 0: none
	next  int
	open  int // answers that were not closed
}

var errRefused = errors.New("refused")

func (p *provider) answer(body []byte) (io.ReadCloser, error) {
	var r struct{ Requests, Instances []json.RawMessage }
	if err := json.Unmarshal(body, &r); err != nil {
		p.t.Fatal(err)
	}
	count := len(r.Requests) + len(r.Instances)
	if p.sizes = append(p.sizes, count); len(p.sizes) == p.fails {
		return nil, errRefused
	}
	var values []string
	for range count {
		values = append(values, fmt.Sprintf(`{"values":[%d],"embeddings":{"values":[%d]}}`, p.next, p.next))
		p.next++
	}
	p.open++
	list := "embeddings"
	if r.Instances != nil {
		list = "predictions"
	}
	text := fmt.Sprintf(`{%q:[%s],"usageMetadata":{"promptTokenCount":%d}}`, list, strings.Join(values, ","), count)
	return &answerBody{strings.NewReader(text), p}, nil
}

type answerBody struct {
	io.Reader
	p *provider
}

func (b *answerBody) Close() error { b.p.open--; return nil }

func (p *provider) list(input, model string) ([]byte, error) {
	body, original, err := request(`{"model":"fake/echo","input":`+input+`}`, model)
	if err != nil {
		p.t.Fatal(err)
	}
	first, err := p.answer(body)
	if err != nil {
		p.t.Fatal(err)
	}
	defer first.Close()
	return original.Whole(first, translatetest.NewCall(), p.answer)
}

func texts(count, size int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("x", size)+`",`, count), ",") + "]"
}

func TestManyTextsAreSentInSeveralRequests(t *testing.T) {
	for name, c := range map[string]struct {
		input, model, sizes string
		count               int
	}{
		"batch":           {texts(201, 1), "gemini-embedding-2", "[100 100 1]", 201},
		"one batch":       {texts(100, 1), "gemini-embedding-2", "[100]", 100},
		"predict":         {texts(251, 1), "text-embedding-005 vertex", "[250 1]", 251},
		"long texts":      {texts(3, 19_000), "text-embedding-005 vertex", "[2 1]", 3},
		"very long texts": {texts(2, 50_000), "text-embedding-005 vertex", "[1 1]", 2},
	} {
		p := &provider{t: t}
		list, err := p.list(c.input, c.model)
		if err != nil || fmt.Sprint(p.sizes) != c.sizes || p.open != 0 {
			t.Errorf("%s: requests of %v, %d left open, %v", name, p.sizes, p.open, err)
			continue
		}
		var got struct {
			Data []struct {
				Index     int
				Embedding []int
			}
			Usage map[string]int
		}
		if err := json.Unmarshal(list, &got); err != nil || len(got.Data) != c.count || got.Usage["prompt_tokens"] != c.count {
			t.Errorf("%s: %d vectors, usage %v, %v", name, len(got.Data), got.Usage, err)
		}
		for i, d := range got.Data {
			if d.Index != i || d.Embedding[0] != i {
				t.Fatalf("%s: vector %d is that of text %d", name, d.Index, d.Embedding[0])
			}
		}
	}
}

func TestAFurtherRequestThatIsRefusedFailsTheCall(t *testing.T) {
	p := &provider{t: t, fails: 2}
	list, err := p.list(texts(201, 1), "gemini-embedding-2")
	if !errors.Is(err, errRefused) || p.open != 0 {
		t.Errorf("%s, %v, %d left open", list, err, p.open)
	}
	if _, sum, err := openai.Embeddings.Result(nil, list, translatetest.NewCall()); err == nil || sum.Usage.Prompt != 100 {
		t.Errorf("%+v, %v: the first request was served, and is paid for", sum.Usage, err)
	}
}

func TestAnAnswerWithoutEndIsNotRead(t *testing.T) {
	_, original, _ := request(`{"model":"m","input":"a"}`, "")
	if _, err := original.Whole(endless{}, translatetest.NewCall(), nil); err == nil || !strings.Contains(err.Error(), "too much") {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// What is accepted becomes valid JSON with each text once, in order.
func FuzzRequest(f *testing.F) {
	for i, body := range translatetest.Seeds(f, "request.json") {
		f.Add(body, []string{"gemini-embedding-001", "text-embedding-005 vertex", "gemini-x vertex"}[i%3])
	}
	f.Add(`{"model":"m","input":["a",1]}`, `x"`)
	f.Fuzz(func(t *testing.T, body, model string) {
		out, original, err := request(body, model)
		if err != nil {
			if e := apierror.From(err); e.HTTPStatus() != 400 {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(out) || original == nil {
			t.Fatalf("%s became %s", body, out)
		}
	})
}

// An answer is a list with a vector for each text, or an error.
func FuzzAnswer(f *testing.F) {
	for _, answer := range translatetest.Seeds(f, "answer.json") {
		f.Add(answer, true)
	}
	f.Fuzz(func(t *testing.T, answer string, coded bool) {
		format := map[bool]string{true: "base64", false: "float"}[coded]
		_, original, err := request(`{"model":"m","input":["a","b"],"encoding_format":"`+format+`"}`, "")
		if err != nil {
			t.Fatal(err)
		}
		list, err := original.Whole(strings.NewReader(answer), translatetest.NewCall(), func([]byte) (io.ReadCloser, error) { panic("again") })
		if err != nil {
			return
		}
		var got struct{ Data []struct{ Embedding any } }
		if err := json.Unmarshal(list, &got); err != nil || len(got.Data) != 2 {
			t.Fatalf("%s, %v", list, err)
		}
	})
}

var _ translate.Again = (&provider{}).answer

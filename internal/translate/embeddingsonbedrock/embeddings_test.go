package embeddingsonbedrock_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embeddingsonbedrock"
)

const titan = "amazon.titan-embed-text-v2:0"

// request translates a request for a model.
func request(body, model string) ([]byte, *embeddingsonbedrock.Original, error) {
	var b jsonscan.Body
	if err := b.Parse([]byte(body)); err != nil {
		return nil, nil, apierror.New(apierror.InvalidJSON, "%v", err)
	}
	if _, err := params.ParseEmbeddings(&b); err != nil {
		return nil, nil, err
	}
	out, original, err := embeddingsonbedrock.Request(&b, strings.TrimSpace(model))
	clear(b.Data()) // as when its buffer is used again
	return out, original, err
}

// A golden file has what the caller sent (request.json) to which model (model.txt), what the
// provider answered (answer.json, and the count of its header in tokens.txt), and what comes of it:
// bedrock.json and list.json.
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
	g.Want("bedrock.json", translatetest.Indent(t, body))
	if left := original.LeftOut(); left != nil {
		g.Want("left-out.txt", strings.Join(left, "\n")+"\n")
	}
	original.Received(http.Header{"X-Amzn-Bedrock-Input-Token-Count": {strings.TrimSpace(g.File("tokens.txt"))}})
	list, err := original.Whole(strings.NewReader(g.File("answer.json")), translatetest.NewCall(), nil)
	if err != nil {
		g.Want("list.json", "error: "+err.Error()+"\n")
		return
	}
	g.Want("list.json", translatetest.Indent(t, list))
	if out, sum, err := openai.Embeddings.Result(nil, list, translatetest.NewCall()); err != nil || !bytes.Equal(out, list) || !sum.HasUsage {
		t.Errorf("the rest of the call reads it as %s, %+v, %v", out, sum, err)
	}
}

func TestWhatBedrockCannotEmbedIsRefusedByName(t *testing.T) {
	for _, c := range []struct{ model, members, param, says string }{
		{titan, `"input":[1,2]`, "input[0]", "check_embedding_ctx_length=False"},
		{titan, `"input":["a",""]`, "input[1]", "not empty"},
		{titan, `"input":"a","dimensions":0`, "dimensions", "positive"},
		{"amazon.titan-embed-text-v1", `"input":"a","dimensions":8`, "dimensions", "not supported"},
		{"cohere.embed-english-v3", `"input":"a","dimensions":8`, "dimensions", "not supported"},
		{titan, `"input":"a","encoding_format":"int8"`, "encoding_format", "int8"},
		{titan, `"input":"a","input_type":"poem"`, "input_type", "poem"},
		{titan, `"input":"a","truncate":"END"`, "truncate", "not supported"},
		{"amazon.nova-lite-v1:0", `"input":"a"`, "model", "does not know"},
	} {
		_, _, err := request(`{"model":"m",`+c.members+`}`, c.model)
		if e := apierror.From(err); err == nil || e.HTTPStatus() != 400 || e.Param != c.param || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s %s: %v", c.model, c.members, err)
		}
	}
}

// answerBody counts the answers that are not closed.
type answerBody struct {
	io.Reader
	open *int
}

func (b answerBody) Close() error { *b.open--; return nil }

var errRefused = errors.New("refused")

func TestManyTextsAreSentInSeveralRequests(t *testing.T) {
	for _, c := range []struct {
		model        string
		count, fails int // the request that is refused; 0: none
		sizes        string
		tokens       int
	}{
		{titan, 3, 0, "[1 1 1]", 6},
		{titan, 3, 2, "[1 1]", 0},
		{"cohere.embed-v4:0", 193, 0, "[96 96 1]", 15},
		{"cohere.embed-v4:0", 96, 0, "[96]", 5},
	} {
		var sizes []int
		open, next := 0, 0
		var original *embeddingsonbedrock.Original
		answer := func(body []byte) (io.ReadCloser, error) {
			var r struct {
				Texts     []string
				InputText string
			}
			if err := json.Unmarshal(body, &r); err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, max(len(r.Texts), 1))
			if len(sizes) == c.fails {
				return nil, errRefused
			}
			text := fmt.Sprintf(`{"embedding":[%d],"inputTextTokenCount":2}`, next)
			if r.Texts != nil {
				var vectors []string
				for i := range r.Texts {
					vectors = append(vectors, fmt.Sprintf("[%d]", next+i))
				}
				text = `{"embeddings":[` + strings.Join(vectors, ",") + `]}`
				original.Received(http.Header{"X-Amzn-Bedrock-Input-Token-Count": {"5"}})
			}
			next += sizes[len(sizes)-1]
			open++
			return answerBody{strings.NewReader(text), &open}, nil
		}
		body, o, err := request(`{"model":"m","input":["x"`+strings.Repeat(`,"x"`, c.count-1)+`]}`, c.model)
		if err != nil {
			t.Fatal(err)
		}
		original = o
		first, err := answer(body)
		if err != nil {
			t.Fatal(err)
		}
		list, err := original.Whole(first, translatetest.NewCall(), answer)
		_ = first.Close()
		if fmt.Sprint(sizes) != c.sizes || open != 0 || (err != nil) != (c.fails > 0) {
			t.Fatalf("%+v: requests of %v, %d left open, %v", c, sizes, open, err)
		}
		if err != nil {
			continue
		}
		var got struct {
			Data []struct {
				Index     int
				Embedding []int
			}
			Usage map[string]int
		}
		if err := json.Unmarshal(list, &got); err != nil || len(got.Data) != c.count || got.Usage["prompt_tokens"] != c.tokens {
			t.Errorf("%+v: %d vectors, usage %v, %v", c, len(got.Data), got.Usage, err)
		}
		for i, d := range got.Data {
			if d.Index != i || d.Embedding[0] != i {
				t.Fatalf("%+v: vector %d is that of text %d", c, d.Index, d.Embedding[0])
			}
		}
	}
}

// What is accepted becomes valid JSON, and what is answered a list with a vector for each text, or
// an error.
func FuzzRequestAndAnswer(f *testing.F) {
	for i, body := range translatetest.Seeds(f, "request.json") {
		f.Add(body, translatetest.Seeds(f, "answer.json")[i], i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, body, answer string, cohere bool) {
		model := map[bool]string{true: "cohere.embed-v4:0", false: titan}[cohere]
		out, _, err := request(body, model)
		if err != nil {
			if e := apierror.From(err); e.HTTPStatus() != 400 {
				t.Fatal(err)
			}
		} else if !json.Valid(out) {
			t.Fatalf("%s became %s", body, out)
		}
		_, original, err := request(`{"model":"m","input":["a"],"encoding_format":"base64"}`, model)
		if err != nil {
			t.Fatal(err)
		}
		list, err := original.Whole(strings.NewReader(answer), translatetest.NewCall(), nil)
		if err != nil {
			return
		}
		var got struct{ Data []struct{ Embedding string } }
		if err := json.Unmarshal(list, &got); err != nil || len(got.Data) != 1 {
			t.Fatalf("%s, %v", list, err)
		}
	})
}
